"""What gives answers away without looking: a strength for every option.

The strongest option is the tell's answer. Some tells are a rule ("the longest"). Others learn which
option is oftenest right, always from other videos than those that they answer about.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy import sparse

from cuescope_blind.questions import OneAQuestion, PerOption, Questions, words_of
from cuescope_blind.tells.crossed import question_codes, recurrence
from cuescope_blind.tells.signs import sign_codes

Codes = Int[np.ndarray, " option"]
# as if each had been seen so often with as many right answers as guessing gives
PRIOR_WEIGHT = 3.0
# a comma is read as a decimal point, also in "1,000"
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
# of a key; nobody numbers more questions
_LAST_NUMBER = re.compile(r"\d{1,9}(?=\D*$)")
NUMBER_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
# words of a question that its options share by grammar alone
LEAST_LETTERS = 3


def length(questions: Questions) -> PerOption:
    """Characters of each option."""
    return np.array([float(len(text)) for text in questions.flat_options])


def brevity(questions: Questions) -> PerOption:
    """Fewer characters, more strength."""
    return -length(questions)


def consensus(questions: Questions) -> PerOption:
    """How much of its words an option shares with the others of its question, on average.

    The share of two options' words that both have (Jaccard, 1901). A right answer often stands in
    the middle of its own distractors: they were made by changing it.
    """
    strengths = np.zeros(len(questions.owner))
    for start, count in zip(
        questions.starts.tolist(),
        questions.counts.tolist(),
        strict=True,
    ):
        sets = [frozenset(words) for words in questions.words[start : start + count]]
        for first in range(count):
            for second in range(first + 1, count):
                # two options without a word share nothing
                union = len(sets[first] | sets[second])
                if union:
                    shared = len(sets[first] & sets[second]) / union / (count - 1)
                    strengths[start + first] += shared
                    strengths[start + second] += shared
    return strengths


def oddity(questions: Questions) -> PerOption:
    """Less shared with the others, more strength: the odd one out."""
    return -consensus(questions)


def overlap(questions: Questions) -> PerOption:
    """The share of an option's words that stand in the question too."""
    asked = [frozenset(_content(text)) for text in _question_words(questions)]
    strengths = np.zeros(len(questions.owner))
    for place, (owner, words) in enumerate(
        zip(questions.owner.tolist(), questions.words, strict=True)
    ):
        content = _content(words)
        if content:
            shared = sum(word in asked[owner] for word in content)
            strengths[place] = shared / len(content)
    return strengths


def _question_words(questions: Questions) -> list[list[str]]:
    return [words_of(text) for text in questions.texts]


def _content(words: list[str]) -> list[str]:
    # a letter of a script without spaces stands for a word, and stays
    return [word for word in words if len(word) >= LEAST_LETTERS or not word.isascii()]


def numeric_middle(questions: Questions) -> PerOption:
    """1 for numbers that are neither the smallest nor the largest of three options or more.

    0 throughout where an option has no number.
    """
    strengths = np.zeros(len(questions.owner))
    numbers = [number_of(text) for text in questions.flat_options]
    for start, count in zip(
        questions.starts.tolist(),
        questions.counts.tolist(),
        strict=True,
    ):
        # a question with a word among its numbers has no middle
        own = [
            number for number in numbers[start : start + count] if number is not None
        ]
        if len(own) < count or count < 3:
            continue
        values = np.array(own)
        inner = (values > values.min()) & (values < values.max())
        strengths[start : start + count] = inner
    return strengths


def number_of(text: str) -> float | None:
    """The number that an option begins with, in figures or as a word; None where it has none."""
    # of "2:1", a score of Video-MME, the first number counts
    match = _NUMBER.match(text)
    if match:
        return float(match[0].replace(",", "."))
    head = text.partition(" ")[0]
    return float(NUMBER_WORDS.index(head)) if head in NUMBER_WORDS else None


# ----------------------------------------------------------------------------- codes of options


def ranks_within(questions: Questions, values: PerOption) -> Codes:
    """How many options of its question have less than each option."""
    order = np.lexsort((values, questions.owner))
    rank = np.empty(len(order), dtype=np.int64)
    # `lexsort` keeps each question's options together, so their places are the ranks
    rank[order] = questions.position
    # of equals all have the rank of the first
    same = np.zeros(len(order), dtype=bool)
    same[1:] = (np.diff(values[order]) == 0) & (np.diff(questions.owner[order]) == 0)
    first = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    rank[order] = rank[order[first]]
    return rank


def length_ranks(questions: Questions) -> Codes:
    """How many options of its question are shorter than each option."""
    return ranks_within(questions, length(questions))


def number_ranks(questions: Questions) -> Codes:
    """How many numbers of its question are smaller; 0 throughout where an option has none."""
    # None becomes NaN
    values = np.array(list(map(number_of, questions.flat_options)), dtype=float)
    lacking = questions.most_within(np.isnan(values).astype(float)) > 0
    return ranks_within(questions, np.where(lacking[questions.owner], 0.0, values))


def alphabet_ranks(questions: Questions) -> Codes:
    """How many options of its question come earlier in the alphabet."""
    _, order = np.unique(questions.flat_options, return_inverse=True)
    return ranks_within(questions, order.astype(float))


def rank_codes(questions: Questions, ranks: Codes) -> sparse.csr_array:
    """A row an option, a column a rank among so many."""
    most = int(questions.counts.max())
    return one_code(np.asarray(questions.counts[questions.owner] * most + ranks))


def row_codes(questions: Questions) -> sparse.csr_array:
    """A row an option, a column a place and a turn: the key's last number by as many options.

    Where a key has no number, all options are alike.
    """
    rows = np.array(list(map(_row_of, questions.keys)))
    turn = np.where(rows >= 0, rows % questions.counts, 0)[questions.owner]
    place = np.where(rows[questions.owner] >= 0, questions.position, 0)
    most = int(questions.counts.max())
    codes = (questions.counts[questions.owner] * most + turn) * most + place
    return one_code(np.asarray(codes))


def _row_of(key: str) -> int:
    number = _LAST_NUMBER.search(key)
    return int(number[0]) if number else -1


def text_codes(questions: Questions) -> Codes:
    """The text of each option, within its kind of question."""
    kinds = questions.kind_codes[questions.owner].tolist()
    names = [
        f"{kind}\t{text}"
        for kind, text in zip(kinds, questions.flat_options, strict=True)
    ]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def yes_no_codes(questions: Questions) -> Codes:
    """1 for yes and 2 for no, where these are the options; 0 for all others."""
    is_yes_no = np.array([_is_yes_no(options) for options in questions.options])
    codes = [1 if text == "yes" else 2 for text in questions.flat_options]
    # one code for all else makes options equal, and the tell is silent
    return np.where(is_yes_no[questions.owner], codes, 0)


def _is_yes_no(options: tuple[str, ...]) -> bool:
    return {option.casefold().strip(" .") for option in options} == {"yes", "no"}


def one_code(codes: Codes) -> sparse.csr_array:
    """A row an option, a column a code."""
    places = np.arange(len(codes))
    return sparse.csr_array((np.ones(len(codes)), (places, codes)))


def word_codes(questions: Questions) -> sparse.csr_array:
    """A row an option, a column a word."""
    numbers: dict[str, int] = {}
    rows = []
    columns = []
    for place, words in enumerate(questions.words):
        # sorted: Python gives a set of texts another order in each process
        for word in sorted(set(words)):
            rows.append(place)
            columns.append(numbers.setdefault(word, len(numbers)))
    shape = (len(questions.owner), max(len(numbers), 1))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def learned_strength(
    questions: Questions,
    codes: sparse.csr_array,
    right: OneAQuestion,
    counted: np.ndarray,
    prior_weight: float = PRIOR_WEIGHT,
) -> PerOption:
    """How much oftener options with these codes are right than by guessing, as a sum of log ratios.

    Of the `counted` questions alone; what they lack has 0.
    """
    weight = counted[questions.owner].astype(float)
    columns = codes.T
    was_right = columns @ (weight * questions.is_right(right))
    by_chance = columns @ (weight * questions.chance[questions.owner])
    ratio = (was_right + prior_weight) / (by_chance + prior_weight)
    return np.asarray(codes @ np.log(ratio))


def held_out_strength(
    questions: Questions,
    codes: sparse.csr_array,
    right: OneAQuestion,
    fold: OneAQuestion,
    prior_weight: float = PRIOR_WEIGHT,
) -> PerOption:
    """`learned_strength` of each question, from the questions of all other folds."""
    strengths = np.zeros(len(questions.owner))
    for number in np.unique(fold).tolist():
        own = (fold == number)[questions.owner]
        others = fold != number
        learned = learned_strength(questions, codes, right, others, prior_weight)
        strengths[own] = learned[own]
    return strengths


# --------------------------------------------------------------------------------------- the tells


@dataclass(frozen=True)
class Tell:
    """A way to answer without looking.

    `name` completes "Taking ... is right in 31% of the questions". A rule has `strength`, and may
    be right more or less often than chance; what is learned has `codes`. `of_places` says that the
    codes are the places in an order, as many as there are options. `prior_weight` is larger where
    many codes of little weight are summed. A tell of another package has
    neither, and says whether it `is_rule`.
    """

    key: str
    name: str
    strength: Callable[[Questions], PerOption] | None = None
    codes: Callable[[Questions], sparse.csr_array] | None = None
    of_places: bool = False
    is_rule: bool = False
    prior_weight: float = PRIOR_WEIGHT

    @property
    def two_sided(self) -> bool:
        """Whether being right too seldom is a finding too."""
        return self.is_rule or self.strength is not None


TELLS = (
    Tell(
        "position",
        "the option at the place that is oftenest right",
        codes=lambda q: rank_codes(q, q.position),
        of_places=True,
    ),
    # LongVideoBench: right in 34.7% of 1,271, guessing 21.4%
    Tell(
        # no model sees it, but a file that deals answers in turn is soon learned by heart
        "row",
        "the option at the place whose turn it is by the number of the row",
        codes=row_codes,
        of_places=True,
    ),
    Tell("longest", "the longest option", length),
    Tell("shortest", "the shortest option", brevity),
    Tell(
        # EgoSchema: of five options the second shortest is right in 238 of 500 questions
        "length-rank",
        "the option of the length rank that is oftenest right",
        codes=lambda q: rank_codes(q, length_ranks(q)),
        of_places=True,
    ),
    Tell("consensus", "the option that shares most words with the others", consensus),
    Tell("odd-one-out", "the option that shares fewest words with the others", oddity),
    # LongVideoBench: right in 27.7% of 1,003, guessing 21.3%
    Tell("overlap", "the option that shares most words with the question", overlap),
    Tell(
        # Video-MME: right in 34.3% of 331, guessing 25.0%
        "numeric-middle",
        "a number that is neither the smallest nor the largest",
        numeric_middle,
    ),
    Tell(
        "number-rank",
        "the number of the rank that is oftenest right",
        codes=lambda q: rank_codes(q, number_ranks(q)),
        of_places=True,
    ),
    Tell(
        "alphabet-rank",
        "the option at the place in the alphabet that is oftenest right",
        codes=lambda q: rank_codes(q, alphabet_ranks(q)),
        of_places=True,
    ),
    Tell("recurrence", "the option that most other questions offer too", recurrence),
    Tell(
        # MVBench: "Not sure" is an option of 200 questions, and never right
        "answer-prior",
        "the option that is oftenest right in this kind of question",
        codes=lambda q: one_code(text_codes(q)),
    ),
    Tell(
        "yes-no",
        "whichever of yes and no is oftener right",
        codes=lambda q: one_code(yes_no_codes(q)),
        of_places=True,
    ),
    Tell(
        # EgoSchema: "carefully" stands in 220 of 2,000 wrong options, and in 2 of 500 right ones
        "words",
        "the option whose single words are oftenest in right options",
        codes=word_codes,
    ),
    Tell(
        "signs",
        "the option whose capitals, digits and signs are oftenest in right options",
        codes=sign_codes,
    ),
    Tell(
        "question-words",
        "the option that is oftenest right with the words of the question",
        codes=question_codes,
        # less finds rare words of real questions, more finds one word among many of no weight
        prior_weight=10.0,
    ),
)


def strengths_of(
    questions: Questions,
    right: OneAQuestion,
    fold: OneAQuestion,
) -> Iterator[tuple[Tell, PerOption]]:
    """Each tell, with the strength that it gives every option."""
    for tell in TELLS:
        if tell.strength is not None:
            yield tell, tell.strength(questions)
        elif tell.codes is not None:
            codes = tell.codes(questions)
            yield (
                tell,
                held_out_strength(questions, codes, right, fold, tell.prior_weight),
            )
