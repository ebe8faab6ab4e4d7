"""Groups of columns: what options show, where they stand, what goes with the question.

Each group is a tell of its own: the learner with all other groups left out. The blind learner sees
all of them. Some columns are a rule too ("the longest"), and answer without learning.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler, normalize

from cuescope_blind.questions import Codes, PerOption, Questions
from cuescope_sdk.statistics import Groups

Tokens = Iterable[list[str]]

# a word of one question says nothing of another
LEAST_QUESTIONS = 2
# words of a question that its options share by grammar alone
LEAST_LETTERS = 3
# 1:30, $1,200, 2.5 or 2,5; nobody writes 0,125 for 125
_NUMBER = re.compile(
    r"[$€£¥]?\s?(-?\d+(?::\d+)+|-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:[.,]\d+)?)"
)
_THOUSANDS = re.compile(r",(?=\d{3})")
# of a key; nobody numbers more questions
_LAST_NUMBER = re.compile(r"\d{1,9}(?=\D*$)")
SPELLED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {word: float(n) for n, word in enumerate(SPELLED.split())}
BLOCK = 20  # rows
# questions in which an option's text is offered: with fewer it is an answer, and no class
RECURRING = 20
VOWELS = tuple("aeiou")
# the commonest words of all questions
WORDS = 300
# a long question, and yes: its length is in one of so many parts, each of as many questions
PARTS = 5


@dataclass(frozen=True)
class Tell:
    """A way to answer without looking.

    `name` completes "Taking ... is right in 31% of the questions". A rule has `strength`: the
    strongest option is its answer, and may be right more or less often than chance. A group has
    `tokens` of each option, and is learned. `of_places` says that these are the places in an order,
    as many as there are options; else they are words, and options are brought to one length.
    `scale` is how much its columns weigh beside those of others. `in_learner` is False where the
    learner does not see it. A tell of another package has neither, and says whether it `is_rule`.
    """

    key: str
    name: str
    strength: Callable[[Questions], PerOption] | None = None
    tokens: Callable[[Questions], Tokens] | None = None
    of_places: bool = False
    scale: float = 1.0
    in_learner: bool = True
    is_rule: bool = False

    @property
    def two_sided(self) -> bool:
        """True if being right too seldom is a finding too."""
        return self.is_rule or self.strength is not None

    def columns(self, questions: Questions) -> sparse.csr_array:
        """A row for each option; those of rules and places once more for each kind of question."""
        if self.strength is not None:
            values = self.strength(questions)
            means = questions.sum_within(values) / questions.counts
            column = (values - means[questions.owner])[:, None]
            return _within_kinds(questions, sparse.csr_array(column))
        if self.tokens is None:
            raise ValueError(f"tell '{self.key}' has no columns")
        columns = token_columns(questions, self.tokens(questions))
        if not columns.shape[1]:
            return columns
        if self.of_places:
            return _within_kinds(questions, columns)
        return sparse.csr_array(self.scale * normalize(columns))


def token_columns(questions: Questions, tokens: Tokens) -> sparse.csr_array:
    """A row for each option, a column for each token that several questions have."""
    matrix = sparse.csr_array(
        MultiLabelBinarizer(sparse_output=True).fit_transform(tokens), dtype=float
    )
    # of whole questions: a word of all options of one question is still a word of one
    order = np.arange(len(questions.owner))
    entries = (np.ones(len(order)), (questions.owner, order))
    of_question = sparse.csr_array(entries, shape=(len(questions), len(order))) @ matrix
    counts = np.bincount(of_question.indices, minlength=matrix.shape[1])
    return sparse.csr_array(matrix[:, np.flatnonzero(counts >= LEAST_QUESTIONS)])


def _within_kinds(questions: Questions, columns: sparse.csr_array) -> sparse.csr_array:
    """The columns with a spread of 1, and once more for each kind of question, by half."""
    # one penalty for all columns asks for one scale
    scaled = StandardScaler(with_mean=False).fit_transform(columns).tocoo()
    kinds = questions.kind_codes[questions.owner]
    crossed = kinds[scaled.row] * columns.shape[1] + scaled.col
    shape = (len(kinds), (int(kinds.max()) + 1) * columns.shape[1])
    of_kind = sparse.csr_array((scaled.data / 2, (scaled.row, crossed)), shape=shape)
    return sparse.csr_array(sparse.hstack([scaled, of_kind], format="csr"))


# -------------------------------------------------------------------------------------- rules


def length(questions: Questions) -> PerOption:
    """Characters of each option, as a logarithm."""
    return np.log1p([float(len(text)) for text in questions.flat_options])


def consensus(questions: Questions) -> PerOption:
    """How much of its words an option shares with the others of its question, on average.

    The share of two options' words that both have (Jaccard, 1901). A right answer often stands in
    the middle of its own distractors: they were made by changing it.
    """
    strengths = np.zeros(len(questions.owner))
    sets = [frozenset(words) for words in questions.words]
    for start, count in _slices(questions):
        for first, second in itertools.combinations(range(start, start + count), 2):
            # two options without a word share nothing
            union = len(sets[first] | sets[second])
            if union:
                shared = len(sets[first] & sets[second]) / union / (count - 1)
                strengths[[first, second]] += shared
    return strengths


def overlap(questions: Questions) -> PerOption:
    """The share of an option's words that stand in the question too."""
    asked = [frozenset(_content(text)) for text in questions.asked_words]
    strengths = np.zeros(len(questions.owner))
    for place, (owner, words) in enumerate(
        zip(questions.owner.tolist(), questions.words, strict=True)
    ):
        content = _content(words)
        if content:
            shared = sum(word in asked[owner] for word in content)
            strengths[place] = shared / len(content)
    return strengths


def recurrence(questions: Questions) -> PerOption:
    """How many options of the data have the text of each option, as a logarithm."""
    return np.asarray(np.log(_offered(questions)))


def _offered(questions: Questions) -> Codes:
    texts = questions.text_numbers
    return np.asarray(np.bincount(texts)[texts])


def _content(words: list[str]) -> list[str]:
    # a letter of a script without spaces stands for a word, and stays
    return [word for word in words if len(word) >= LEAST_LETTERS or not word.isascii()]


def _slices(questions: Questions) -> Iterator[tuple[int, int]]:
    """The first option of each question, and how many it has."""
    return zip(questions.starts.tolist(), questions.counts.tolist(), strict=True)


# ------------------------------------------------------------------------------------- places


def position_tokens(questions: Questions) -> Tokens:
    """The place of each option among those of its question."""
    return _ranked(questions, questions.position)


def length_tokens(questions: Questions) -> Tokens:
    """The rank of each option by length."""
    return _ranked(questions, ranks_within(questions, length(questions)))


def number_tokens(questions: Questions) -> Tokens:
    """The rank among numbers, and whether it is an inner one; nothing where an option has none."""
    ranks = number_ranks(questions)
    for start, count in _slices(questions):
        own = ranks[start : start + count]
        for rank in own.tolist():
            tokens = [f"{rank} of {count}"] if own.any() else []
            if count > 2 and 0 < rank < own.max():
                tokens.append("inner")
            yield tokens


def order_tokens(questions: Questions) -> Tokens:
    """The rank in the alphabet, and whether the others are in order without the option."""
    numbers = number_ranks(questions)
    letters = ranks_within(questions, questions.text_numbers.astype(float))
    for start, count in _slices(questions):
        own = letters[start : start + count].tolist()
        numbered = numbers[start : start + count].tolist()
        ranks = numbered if any(numbered) else own
        for option in range(count):
            others = ranks[:option] + ranks[option + 1 :]
            tokens = [f"{own[option]} of {count}"]
            # of two, half are in order by chance
            if count > 3 and others == sorted(others):
                tokens.append("put in last")
            yield tokens


def row_tokens(questions: Questions) -> Tokens:
    """The place of each option in its twenty rows, and by whose turn it is.

    No model sees the row, but an answer sheet that is sorted, or in turns, is no test.
    """
    rows = [_row_of(key) for key in questions.keys]
    # "q9" stands before "q10"
    named = [_LAST_NUMBER.sub("", key) for key in questions.keys]
    order = sorted(range(len(rows)), key=lambda number: (named[number], rows[number]))
    block = {number: place // BLOCK for place, number in enumerate(order)}
    for owner, place in zip(
        questions.owner.tolist(), questions.position.tolist(), strict=True
    ):
        count = len(questions.options[owner])
        tokens = [f"block {block[owner]}: {place} of {count}"]
        if rows[owner] >= 0:
            tokens.append(f"turn {rows[owner] % count}: {place} of {count}")
        yield tokens


def ranks_within(questions: Questions, values: PerOption) -> Codes:
    """How many options of its question have less than each option."""
    less = [
        np.searchsorted(
            np.sort(values[start : start + count]), values[start : start + count]
        )
        for start, count in _slices(questions)
    ]
    return np.concatenate(less)


def number_ranks(questions: Questions) -> Codes:
    """How many numbers of its question are smaller; 0 throughout where an option has none."""
    # None becomes NaN
    values = np.array(list(map(number_of, questions.flat_options)), dtype=float)
    lacking = questions.most_within(np.isnan(values).astype(float)) > 0
    return ranks_within(questions, np.where(lacking[questions.owner], 0.0, values))


def number_of(text: str) -> float | None:
    """The number that an option begins with, in figures or as a word; None where it has none.

    >>> number_of("$1,200"), number_of("1:30"), number_of("four cups"), number_of("a 3")
    (1200.0, 90.0, 4.0, None)
    """
    match = _NUMBER.match(text)
    if match is None:
        head = text.partition(" ")[0]
        return NUMBER_WORDS.get(head)
    figures = match[1]
    if ":" in figures:
        # a time; "2:1", a score of Video-MME, keeps its order so
        seconds = 0.0
        for part in figures.split(":"):
            seconds = 60 * seconds + float(part)
        return seconds
    if not figures.lstrip("-").startswith("0"):
        figures = _THOUSANDS.sub("", figures)
    return float(figures.replace(",", "."))


def _ranked(questions: Questions, ranks: Codes) -> Tokens:
    counts = questions.counts[questions.owner]
    for rank, count in zip(ranks.tolist(), counts.tolist(), strict=True):
        yield [f"{rank} of {count}"]


def _row_of(key: str) -> int:
    number = _LAST_NUMBER.search(key)
    return int(number[0]) if number else -1


# -------------------------------------------------------------------------------------- words


def word_tokens(questions: Questions) -> Tokens:
    """Words of each option and pairs of them, also by kind of question."""
    for kind, words in zip(_kinds(questions), questions.words, strict=True):
        pairs = [f"{first} {second}" for first, second in itertools.pairwise(words)]
        yield [*words, *pairs, *(f"{kind}\t{term}" for term in (*words, *pairs))]


def prior_tokens(questions: Questions) -> Tokens:
    """The whole text of each option, also by kind of question."""
    for kind, text in zip(_kinds(questions), questions.flat_options, strict=True):
        yield [text, f"{kind}\t{text}"]


def sign_tokens(questions: Questions) -> Tokens:
    """Runs of one, two and three characters of the shape of each option."""
    for text in questions.raw_options:
        shape = shape_of(text)
        yield [
            shape[start : start + size]
            for size in (1, 2, 3)
            for start in range(len(shape) - size + 1)
        ]


def shape_of(text: str) -> str:
    """A text with `A` and `a` for runs of letters, and `9` for digits but the last of a number.

    >>> shape_of("Mr. Lee, USA 1984")
    '^Aa. Aa, AA 9994$'
    """
    text = re.sub(r"[A-Z]{2,}", "\0", text)
    text = re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]", "A", text)).replace("\0", "AA")
    # numbers that end in 0 are round, others even or odd
    figures = re.sub(r"\d(?=\d)", "9", text)
    return f"^{figures}$"


def question_tokens(questions: Questions) -> Tokens:
    """Words of the question and its length, each with what the option is, begins and ends with."""
    asked = Counter(word for words in questions.asked_words for word in set(words))
    # what stands in most questions tells them not apart
    useful = [word for word, times in asked.items() if 2 * times <= len(questions)]
    # by name too: Python gives a set of texts another order in each process
    common = set(sorted(useful, key=lambda word: (-asked[word], word))[:WORDS])
    sizes = np.array([len(words) for words in questions.asked_words], dtype=float)
    parts = Groups.equal_parts(sizes, PARTS).tolist()
    whats = what_options_are(questions)
    for owner, what, text in zip(
        questions.owner.tolist(), whats, questions.flat_options, strict=True
    ):
        words = sorted(common.intersection(questions.asked_words[owner]))
        begins = "vowel" if text[:1] in VOWELS else "consonant"
        ends = (what, f"^{begins}", f"{text[-1:]}$")
        yield [
            f"{word} {end}"
            for word in (*words, f"length {parts[owner]}")
            for end in ends
        ]


def what_options_are(questions: Questions) -> list[str]:
    """The text of each option where it recurs, else its place."""
    recurs = (_offered(questions) >= RECURRING).tolist()
    places = questions.position.tolist()
    return [
        f"= {text}" if recurs[number] else f"place {places[number]}"
        for number, text in enumerate(questions.flat_options)
    ]


def _kinds(questions: Questions) -> Iterator[str]:
    return (questions.kind[owner] for owner in questions.owner.tolist())


TELLS = (
    Tell("longest", "the longest option", length),
    Tell("consensus", "the option that shares most words with the others", consensus),
    # LongVideoBench: right in 27.7% of 1,003, guessing 21.3%
    Tell("overlap", "the option that shares most words with the question", overlap),
    Tell("recurrence", "the option that most other questions offer too", recurrence),
    Tell(
        "position",
        "the option at the place that is oftenest right",
        tokens=position_tokens,
        of_places=True,
    ),
    Tell(
        # EgoSchema: of five options the second shortest is right in 238 of 500 questions
        "length",
        "the option of the length that is oftenest right",
        tokens=length_tokens,
        of_places=True,
    ),
    Tell(
        # Video-MME: the middle is right in 34.3% of 331, guessing 25.0%
        "numbers",
        "the number of the rank that is oftenest right",
        tokens=number_tokens,
        of_places=True,
    ),
    Tell(
        "order",
        "the option at the place in the alphabet that is oftenest right",
        tokens=order_tokens,
        of_places=True,
    ),
    Tell(
        # MVBench: "Not sure" is an option of 200 questions, and never right
        "answer-prior",
        "the option that is oftenest right in this kind of question",
        tokens=prior_tokens,
    ),
    Tell(
        # EgoSchema: "carefully" stands in 220 of 2,000 wrong options, and in 2 of 500 right ones
        "words",
        "the option whose words are oftenest in right options",
        tokens=word_tokens,
        # 1.5 to 2.5 moves MVBench and NExT-QA val by at most 0.5 points
        scale=2.0,
    ),
    Tell(
        "signs",
        "the option whose capitals, digits and signs are oftenest in right options",
        tokens=sign_tokens,
    ),
    Tell(
        "question-words",
        "the option that is oftenest right with the words of the question",
        tokens=question_tokens,
    ),
    Tell(
        "rows",
        "the option at the place that is oftenest right in rows nearby, or in its turn",
        tokens=row_tokens,
        in_learner=False,
    ),
)
