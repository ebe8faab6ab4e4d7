"""What the question says, crossed with its options: "snowboard" and yes, "an" and a vowel."""

import numpy as np
from scipy import sparse

from cuescope_blind.questions import Codes, Questions, number_texts
from cuescope_sdk.statistics import Groups

# the commonest words of all questions
WORDS = 300
# questions in which an option's text is offered: with fewer it is an answer, and no class
RECURRING = 20
# a long question, and yes: its length is in one of so many parts, each of as many questions
PARTS = 5
VOWELS = frozenset("aeiou")


def question_codes(questions: Questions) -> sparse.csr_array:
    """A row an option: each common word of its question, and how long that is, with what it is."""
    table = sparse.hstack([_word_matrix(questions), _length_matrix(questions)])
    return cross_with_options(questions, table)


def grammar_codes(questions: Questions) -> sparse.csr_array:
    """A row an option: each common word of its question with how it begins and how it ends."""
    table = _word_matrix(questions)
    begins = [_beginning(text) for text in questions.flat_options]
    ends = [text[-1:] if text[-1:].isalpha() else "" for text in questions.flat_options]
    crossed = [
        _cross(questions, table, number_texts(begins)),
        _cross(questions, table, number_texts(ends)),
    ]
    return sparse.csr_array(sparse.hstack(crossed, format="csr"))


def _beginning(text: str) -> str:
    if not text[:1].isalpha():
        return ""
    return "vowel" if text[0] in VOWELS else "consonant"


def cross_with_options(
    questions: Questions,
    table: sparse.sparray,
) -> sparse.csr_array:
    """A row an option: each column that its question has, with its text, or its place.

    The text counts where it recurs.
    """
    recurring = recurrence(questions) >= RECURRING
    texts = questions.text_numbers
    # texts behind all places, so that a code is either
    most = int(questions.counts.max())
    what = np.where(recurring, most + texts, questions.position)
    return _cross(questions, table, what)


def _cross(
    questions: Questions,
    table: sparse.sparray,
    what: Codes,
) -> sparse.csr_array:
    """A row an option: each column that its question has with what the option is."""
    cells = table.tocsr()[questions.owner].tocoo()
    pairs = cells.col.astype(np.int64) * (int(what.max()) + 1) + what[cells.row]
    _, columns = np.unique(pairs, return_inverse=True)
    shape = (len(questions.owner), int(columns.max(initial=0)) + 1)
    return sparse.csr_array((np.ones(len(columns)), (cells.row, columns)), shape=shape)


def recurrence(questions: Questions) -> np.ndarray:
    """How many options of the data have the text of each option."""
    texts = questions.text_numbers
    return np.asarray(np.bincount(texts)[texts], dtype=float)


def _word_matrix(questions: Questions) -> sparse.csr_array:
    """A row a question, a column a common word."""
    rows = []
    words = []
    for number, asked in enumerate(questions.asked_words):
        own = sorted(set(asked))
        rows += [number] * len(own)
        words += own
    codes = number_texts(words)
    counts = np.bincount(codes)
    # what stands in most questions tells them not apart, and would be counted once a word
    useful = np.where(2 * counts <= len(questions), counts, 0)
    common = np.zeros(len(counts), dtype=bool)
    common[np.argsort(-useful, kind="stable")[:WORDS]] = True
    common &= useful > 0
    kept = common[codes]
    columns = (np.cumsum(common) - 1)[codes[kept]]
    shape = (len(questions), int(common.sum()))
    entries = (np.ones(len(columns)), (np.array(rows, dtype=np.int64)[kept], columns))
    return sparse.csr_array(entries, shape=shape)


def _length_matrix(questions: Questions) -> sparse.csr_array:
    """A row a question, a column a part of the lengths, in words."""
    sizes = np.array([len(words) for words in questions.asked_words], dtype=float)
    part = Groups.equal_parts(sizes, PARTS)
    entries = (np.ones(len(part)), (np.arange(len(part)), part))
    return sparse.csr_array(entries, shape=(len(part), PARTS))
