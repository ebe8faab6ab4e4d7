"""How often an answer without looking is right, against chance."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from cuescope_blind.questions import OneAQuestion, PerOption, PerQuestion, Questions
from cuescope_sdk.report import signed
from cuescope_sdk.statistics import Groups, MeanAboveZero, change_interval

# strengths are sums and means: closer than this is a tie
TIE = 1e-9


@dataclass(frozen=True)
class Gain:
    """Accuracy of answering without looking, what guessing gives, and the gain with its interval.

    `n` questions are those on which it prefers an option.
    """

    n: int
    accuracy: float
    chance: float
    gain: float
    low: float | None
    high: float | None
    p_value: float | None

    @property
    def points(self) -> str:
        """The gain in words, with its interval."""
        return in_points(self.gain, self.low, self.high)


def in_points(value: float, low: float | None, high: float | None) -> str:
    """A difference with its interval: "+14.0 points; +11.3 to +16.9"."""
    points = f"{signed(100 * value)} points"
    if low is None or high is None:
        return points
    return f"{points}; {signed(100 * low)} to {signed(100 * high)}"


def expected_correct(
    questions: Questions,
    strength: PerOption,
    right: OneAQuestion | None = None,
) -> PerQuestion:
    """The share of right answers of taking the strongest option; of equals any is taken.

    An option that shares the first place with two others and is right counts a third.
    """
    most = questions.most_within(strength)
    is_most = (strength >= most[questions.owner] - TIE).astype(float)
    # three options that are equally strong would be three hits, or none, by their order alone
    hits = questions.sum_within(is_most * questions.is_right(right))
    return np.asarray(hits / questions.sum_within(is_most))


def prefers(questions: Questions, strength: PerOption) -> Bool[np.ndarray, " question"]:
    """Whether an option of each question is stronger than another."""
    return np.asarray(
        # both ends by one function: the weakest is the strongest of the negated
        questions.most_within(strength) > -questions.most_within(-strength) + TIE
    )


def measure_gain(
    questions: Questions,
    correct: PerQuestion,
    part: Bool[np.ndarray, " question"],
    *,
    tries: int = 1,
) -> Gain | None:
    """The gain on a part of the questions; None where the part is empty.

    A question counts its correctness minus 1 / options, so that those of two options and of five
    have one mean. Interval and p-value are over videos. The p-value of a tell that chose among so
    many `tries` is multiplied by them (Bonferroni).
    """
    n = int(part.sum())
    if n == 0:
        return None
    # options differ in number, and so does what guessing is worth
    chance = questions.chance[part]
    gain = correct[part] - chance
    groups = questions.groups.take(part)
    low, high = gain_interval(gain, chance, groups)
    p_value = MeanAboveZero(gain, groups).p_value()
    if p_value is not None:
        # folds mostly agree on what is oftenest right, and it is the largest of so many by luck too
        p_value = min(1.0, tries * p_value)
    accuracy = float(correct[part].mean())
    return Gain(
        n,
        accuracy,
        float(chance.mean()),
        float(gain.mean()),
        low,
        high,
        p_value,
    )


def gain_interval(
    gain: PerQuestion,
    chance: PerQuestion,
    groups: Groups,
) -> tuple[float | None, float | None]:
    """The interval of a mean gain, within what none and all right answers would give."""
    low, high = change_interval(gain, groups)
    if low is None or high is None:
        return None, None
    # no interval may promise more than all right, or less than none right
    least = -float(chance.mean())
    return max(low, least), min(high, 1 + least)


def redraw_answers(questions: Questions, rng: np.random.Generator) -> OneAQuestion:
    """A right answer for each question, drawn among its options: there is nothing to be known."""
    # counts differ from question to question: one draw of a share for each
    drawn = rng.random(len(questions)) * questions.counts
    return np.asarray(drawn.astype(np.int64))


def blind_scores(questions: Questions, probability: PerOption) -> PerQuestion:
    """s(x): the learner's probability of the right answer, less that of guessing."""
    return np.asarray(
        probability[questions.starts + questions.right] - questions.chance
    )


def hardest(
    questions: Questions,
    scores: PerQuestion,
    count: int,
) -> Int[np.ndarray, " hard"]:
    """The questions that are least answered without looking, `count` of them, hardest first.

    Scores are compared among questions with as many options only: each number of options gives as
    large a share of its questions.
    """
    share = np.empty(len(scores))
    for options in np.unique(questions.counts).tolist():
        # stable, so that equal scores keep the order of the data
        own = np.flatnonzero(questions.counts == options)
        order = own[np.argsort(scores[own], kind="stable")]
        # shares of the own set: a probability among five options is lower than among two
        share[order] = (np.arange(len(own)) + 0.5) / len(own)
    return np.argsort(share, kind="stable")[:count]
