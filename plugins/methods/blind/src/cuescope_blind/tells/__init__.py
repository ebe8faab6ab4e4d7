"""What gives answers away without looking: a strength for every option.

The strongest option is the tell's answer. Some tells are a rule ("the longest"). Others learn which
option is oftenest right, always from other videos than those that they answer about.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cuescope_blind.questions import Codes, OneAQuestion, PerOption, Questions
from cuescope_blind.tells.crossed import grammar_codes, question_codes, recurrence
from cuescope_blind.tells.orders import (
    alphabet_ranks,
    block_codes,
    number_ranks,
    numeric_middle,
    out_of_order,
    ranks_within,
    row_codes,
)
from cuescope_blind.tells.signs import sign_codes

# as if each had been seen so often with as many right answers as guessing gives
PRIOR_WEIGHT = 3.0
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


def _content(words: list[str]) -> list[str]:
    # a letter of a script without spaces stands for a word, and stays
    return [word for word in words if len(word) >= LEAST_LETTERS or not word.isascii()]


# ----------------------------------------------------------------------------- codes of options


def length_ranks(questions: Questions) -> Codes:
    """How many options of its question are shorter than each option."""
    return ranks_within(questions, length(questions))


def rank_codes(questions: Questions, ranks: Codes) -> sparse.csr_array:
    """A row an option, a column a rank among so many."""
    most = int(questions.counts.max())
    return one_code(np.asarray(questions.counts[questions.owner] * most + ranks))


def text_codes(questions: Questions) -> Codes:
    """The text of each option, within its kind of question."""
    kinds = questions.kind_codes[questions.owner]
    texts = questions.text_numbers
    _, codes = np.unique(kinds * (texts.max() + 1) + texts, return_inverse=True)
    return codes.astype(np.int64)


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
        codes=lambda q: one_code(row_codes(q)),
        of_places=True,
    ),
    Tell(
        "block",
        "the option at the place that is oftenest right in rows nearby",
        codes=lambda q: one_code(block_codes(q)),
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
    Tell(
        "out-of-order",
        "the option without which the others are in order",
        out_of_order,
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
    Tell(
        "grammar",
        "the option whose first and last letters go with the words of the question",
        codes=grammar_codes,
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
