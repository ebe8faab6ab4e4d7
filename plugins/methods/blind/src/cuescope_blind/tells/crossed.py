"""Words of the question, crossed with what its options are: "snowboard" and yes."""

import numpy as np
from scipy import sparse

from cuescope_blind.questions import Questions, words_of

# the commonest words of all questions
WORDS = 300
# questions in which an option's text is offered: with fewer it is an answer, and no class
RECURRING = 20


def question_codes(questions: Questions) -> sparse.csr_array:
    """A row an option: each word of its question with its text, where that recurs, or its place."""
    recurring = recurrence(questions) >= RECURRING
    _, texts = np.unique(questions.flat_options, return_inverse=True)
    # texts behind all places, so that a code is either
    most = int(questions.counts.max())
    what = np.where(recurring, most + texts, questions.position)
    words = _word_matrix(questions)[questions.owner].tocoo()
    pairs = words.col.astype(np.int64) * (most + len(texts)) + what[words.row]
    _, columns = np.unique(pairs, return_inverse=True)
    shape = (len(questions.owner), int(columns.max(initial=0)) + 1)
    return sparse.csr_array((np.ones(len(columns)), (words.row, columns)), shape=shape)


def recurrence(questions: Questions) -> np.ndarray:
    """How many options of the data have the text of each option."""
    _, texts, counts = np.unique(
        questions.flat_options, return_inverse=True, return_counts=True
    )
    return np.asarray(counts[texts], dtype=float)


def _word_matrix(questions: Questions) -> sparse.csr_array:
    """A row a question, a column a common word."""
    rows = []
    words = []
    for number, text in enumerate(questions.texts):
        own = sorted(set(words_of(text)))
        rows += [number] * len(own)
        words += own
    names, codes, counts = np.unique(words, return_inverse=True, return_counts=True)
    # what stands in most questions tells them not apart, and would be counted once a word
    useful = np.where(2 * counts <= len(questions), counts, 0)
    common = np.zeros(len(names), dtype=bool)
    common[np.argsort(-useful, kind="stable")[:WORDS]] = True
    common &= useful > 0
    kept = common[codes]
    columns = (np.cumsum(common) - 1)[codes[kept]]
    shape = (len(questions), int(common.sum()))
    entries = (np.ones(len(columns)), (np.array(rows, dtype=np.int64)[kept], columns))
    return sparse.csr_array(entries, shape=shape)
