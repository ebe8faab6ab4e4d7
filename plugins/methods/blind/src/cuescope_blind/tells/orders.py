"""Orders in which options stand: by size, by the alphabet, by the rows of the file."""

import re

import numpy as np

from cuescope_blind.questions import Codes, PerOption, Questions

# 1:30, $1,200, 2.5 or 2,5; nobody writes 0,125 for 125
_NUMBER = re.compile(
    r"[$€£¥]?\s?(-?\d+(?::\d+)+|-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:[.,]\d+)?)"
)
_THOUSANDS = re.compile(r",(?=\d{3})")
# of a key; nobody numbers more questions
_LAST_NUMBER = re.compile(r"\d{1,9}(?=\D*$)")
BLOCK = 20  # rows
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
    """The number that an option begins with, in figures or as a word; None where it has none.

    >>> number_of("$1,200"), number_of("1:30"), number_of("four cups"), number_of("a 3")
    (1200.0, 90.0, 4.0, None)
    """
    match = _NUMBER.match(text)
    if match is None:
        head = text.partition(" ")[0]
        return float(NUMBER_WORDS.index(head)) if head in NUMBER_WORDS else None
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


def number_ranks(questions: Questions) -> Codes:
    """How many numbers of its question are smaller; 0 throughout where an option has none."""
    # None becomes NaN
    values = np.array(list(map(number_of, questions.flat_options)), dtype=float)
    lacking = questions.most_within(np.isnan(values).astype(float)) > 0
    return ranks_within(questions, np.where(lacking[questions.owner], 0.0, values))


def alphabet_ranks(questions: Questions) -> Codes:
    """How many options of its question come earlier in the alphabet."""
    return ranks_within(questions, questions.text_numbers.astype(float))


def out_of_order(questions: Questions) -> PerOption:
    """1 for an option without which the others stand in order, of numbers or of the alphabet.

    0 for others, and 1 throughout where all of them stand in order, or three are too few.
    """
    ranks = number_ranks(questions)
    numbered = questions.most_within(ranks.astype(float)) > 0
    by_letter = alphabet_ranks(questions)
    ranks = np.where(numbered[questions.owner], ranks, by_letter)
    strengths = []
    for start, count in zip(
        questions.starts.tolist(),
        questions.counts.tolist(),
        strict=True,
    ):
        own = ranks[start : start + count].tolist()
        for option in range(count):
            others = own[:option] + own[option + 1 :]
            # of two, half are in order by chance
            strengths.append(float(count < 4 or others == sorted(others)))
    return np.array(strengths)


# ---------------------------------------------------------------------------- rows of the file


def row_codes(questions: Questions) -> Codes:
    """A place and a turn: the last number of the key, by as many options.

    Where a key has no number, all options are alike.
    """
    rows = np.array([_row_of(key) for key in questions.keys])
    turn = np.where(rows >= 0, rows % questions.counts, 0)[questions.owner]
    place = np.where(rows[questions.owner] >= 0, questions.position, 0)
    most = int(questions.counts.max())
    return np.asarray((questions.counts[questions.owner] * most + turn) * most + place)


def block_codes(questions: Questions) -> Codes:
    """A place among the options, and the part of twenty rows in which its key stands."""
    named = []
    for number, key in enumerate(questions.keys):
        # "q9" stands before "q10"
        named.append((_LAST_NUMBER.sub("", key), _row_of(key), number))
    order = [number for _, _, number in sorted(named)]
    block = np.empty(len(order), dtype=np.int64)
    block[order] = np.arange(len(order)) // BLOCK
    most = int(questions.counts.max())
    parts = block[questions.owner] * (most + 1) + questions.counts[questions.owner]
    return np.asarray(parts * most + questions.position)


def _row_of(key: str) -> int:
    number = _LAST_NUMBER.search(key)
    return int(number[0]) if number else -1
