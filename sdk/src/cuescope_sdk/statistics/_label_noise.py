"""Samples whose label looks wrong (Northcutt et al., 2021), and whether a loss may rest on them.

A mislabelled sample shows the cues of its true class and is answered with it: its label loses
accuracy wherever those cues are on screen, and no cue made the model err.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._intervals import mean_interval
from cuescope_sdk.statistics._shapes import BoolPerSample, PerSample
from cuescope_sdk.statistics._unseen import (
    DRAWS,
    lower_mean_p_value,
    most_by_chance,
    most_predicted,
    most_unseen,
)

UPPER = 0.95  # so sure that no more samples are mislabelled than are set aside
LEAST_OWN = 10  # samples of a class that show the feature, to be compared with
# log-odds of a probability that rounded to 0 would be infinite
SMALLEST = 1e-12  # probability

# values of each sample, higher where it looks like the first part than like the second; NaN where
# nothing is seen of it
Looks = Callable[[BoolPerSample, BoolPerSample], PerSample]


@dataclass(frozen=True, eq=False)
class Answered:
    """What a model answered: `label`, `prediction` and `correct` of each sample, and its groups.

    `probability` (sample, class) is None where the model gives none. `UNLIKE` is the p-value over
    all losses, from which on answers are unlike those to label errors; at `LEAST_UNLIKE`, that of
    two tests, no draw comes as far.
    """

    UNLIKE: ClassVar[float] = 0.02
    LEAST_UNLIKE: ClassVar[float] = 2 / (DRAWS + 1)

    label: np.ndarray
    prediction: np.ndarray
    correct: np.ndarray
    groups: Groups
    probability: np.ndarray | None = None

    def take(self, chosen: BoolPerSample) -> "Answered":
        """Some of the samples."""
        return Answered(
            label=self.label[chosen],
            prediction=self.prediction[chosen],
            correct=self.correct[chosen],
            groups=self.groups.take(chosen),
            probability=None if self.probability is None else self.probability[chosen],
        )

    def is_unlike_label_errors(
        self,
        label: int,
        shows: BoolPerSample,
        rng: Generator,
        *,
        losses: int = 1,
        looks: Looks | None = None,
    ) -> bool:
        """Whether mislabelled samples would not have a label's wrong answers where a feature shows.

        It is asked of so many `losses`, which pay for each other (Bonferroni).
        """
        return self.unlike_p_value(label, shows, rng, looks) <= self.UNLIKE / losses

    def unlike_p_value(
        self,
        label: int,
        shows: BoolPerSample,
        rng: Generator,
        looks: Looks | None = None,
    ) -> float:
        """Are a label's wrong answers where a feature shows unlike those to mislabelled samples?

        Mislabelled samples of a class are answered as its own samples are, and look like them. A
        cue that pulls at right labels leaves something of them: the log-odds of the wrong class
        against the label are lower, or what is shown beside the cue looks like the label (`looks`).
        Either counts, and both together pay for two tests. One-sided, Monte Carlo: drawn are as
        many own samples of that class with its answer, and in their midst as many of the label's
        ordinary errors as there may be. Means of groups.
        """
        # 1: without probabilities nothing can show that it is no label noise
        if self.probability is None:
            return 1.0
        mine = self.label == label
        wrong = mine & ~self.correct
        answers = self.prediction[wrong & shows]
        if not len(answers):
            return 1.0
        other = int(np.bincount(answers).argmax())
        answered = self.prediction == other
        proper = answered & (self.label == other)
        if other == label or not proper.any():
            return 1.0

        def compare(
            values: PerSample, taken: BoolPerSample, proper: BoolPerSample
        ) -> float:
            return _less_like_p_value(
                self.groups, values, mine, taken, proper, shows, rng
            )

        taken = wrong & answered
        by_answer = compare(_log_odds(self.probability, other, label), taken, proper)
        if looks is None:
            return by_answer
        # the looks of the class are learned from half of its samples, and held against the others
        learned = proper & self.groups.split(rng)
        values = looks(learned, mine & self.correct)
        is_seen = np.isfinite(values)
        taken &= is_seen
        rest = proper & ~learned & is_seen
        # too few to compare looks with: one test, and no second to pay for
        if not (taken & shows).any() or (rest & shows).sum() < LEAST_OWN:
            return by_answer
        by_looks = compare(values, taken, rest)
        # twice the better of two tests (Bonferroni)
        return min(1.0, 2 * min(by_answer, by_looks))


@dataclass(frozen=True, eq=False)
class LabelNoise:
    """Which samples look mislabelled: the off-diagonal cells of the confident joint.

    `looks_like` is the other class that a sample is confidently taken for, -1 for none. `rate` is
    the share of each class's own samples that pass the same threshold.
    """

    answered: Answered
    looks_like: np.ndarray
    rate: np.ndarray

    @classmethod
    def of(cls, answered: Answered) -> "LabelNoise":
        """A class's threshold is the mean probability that its own samples give it.

        A sample counts for the most probable class whose threshold it reaches (Northcutt et al.,
        2021). No probabilities: no suspects.
        """
        label = answered.label
        probability = answered.probability
        if probability is None:
            classes = int(label.max(initial=0)) + 1
            return cls(answered, np.full(len(label), -1), np.ones(classes))
        classes = probability.shape[1]
        counts = np.bincount(label, minlength=classes)
        of_label = probability[np.arange(len(label)), label]
        sums = np.bincount(label, weights=of_label, minlength=classes)
        # the mean of no samples, 0, would be a threshold that all reach
        threshold = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
        # -1 is below any probability: a class under its threshold is never the best
        confident = np.where(probability >= threshold, probability, -1.0)
        best = confident.argmax(axis=1)
        counted = np.where(confident.max(axis=1) >= 0, best, -1)
        agrees = np.bincount(label[counted == label], minlength=classes)
        looks_like = np.where(counted == label, -1, counted)
        # a rate near 0 would let any number of wrong labels hide beside one suspect
        rate = np.clip(agrees / np.maximum(counts, 1), 0.05, 1.0)
        return cls(answered, looks_like, rate)

    def take(self, chosen: BoolPerSample) -> "LabelNoise":
        """Of some of the samples."""
        answered = self.answered.take(chosen)
        return replace(self, answered=answered, looks_like=self.looks_like[chosen])

    def suspects(self, label: int, shows: BoolPerSample, most: float) -> BoolPerSample:
        """The samples of a label with a feature that may be mislabelled, and as many as hide there.

        Of a class's own samples only a share is confident, and so it is for those of it that have
        another label. The samples that give their label least are set aside as well: as many as
        there may be (Clopper and Pearson, 1934, at `UPPER`). They need not be taken for the same
        class, as a model errs on mislabelled samples too. They are no more than a share of `most`
        of the label may come to.
        """
        answered = self.answered
        mine = answered.label == label
        wrong = mine & shows & ~answered.correct
        is_suspect = wrong & (self.looks_like >= 0)
        # without a suspect nothing says which other class is meant, so all speak
        rate = np.delete(self.rate, label)
        if is_suspect.any():
            rate = self.rate[self.looks_like[is_suspect]]
        removed: BoolPerSample = np.zeros(len(wrong), dtype=bool)
        if answered.probability is None:
            return removed
        count = int(is_suspect.sum())
        count += most_unseen(count, float(rate.mean()), confidence=UPPER)
        # a share of 10% may come to 14%: what is larger than that is not their work
        largest = most_by_chance(int(mine.sum()), most, confidence=UPPER)
        # suspects first, the least probable labels before others
        order = np.lexsort((answered.probability[:, label], ~is_suspect, ~wrong))
        removed[order[: min(count, largest, int(wrong.sum()))]] = True
        return removed

    def _share_shown(self, label: int, shows: BoolPerSample) -> float:
        """How many of the samples with a wrong `label` show a feature, at most: a share.

        The upper limit (`UPPER`) for the own samples of the classes that suspects look like, of
        which the largest counts; of all other classes where nothing is suspected.
        """
        answered = self.answered
        suspected = (answered.label == label) & shows & (self.looks_like >= 0)
        classes = np.unique(self.looks_like[suspected])
        if not len(classes):
            classes = np.setdiff1d(answered.label, [label])
        limits = []
        for other in classes:
            own = answered.label == other
            # the upper end of a two-sided interval, with what is left out on its side alone
            _, high = mean_interval(
                shows[own].astype(float),
                answered.groups.take(own),
                confidence=2 * UPPER - 1,
            )
            # a class without samples here says nothing: all of it may show the feature
            limits.append(1.0 if high is None else high)
        return max(limits, default=1.0)

    def retest(
        self,
        label: int,
        shows: BoolPerSample,
        *,
        most: float,
        is_unlike: Callable[[], bool],
        p_value: Callable[[BoolPerSample], float],
    ) -> tuple[int, float]:
        """How many samples of a loss may be mislabelled, and its p-value without them.

        0 where it is no label noise: none looks mislabelled, or `is_unlike` label errors
        (`Answered.is_unlike_label_errors`). `p_value` is asked for the samples that are kept, and
        `most` is the share of a label that may be wrong. Mislabelled samples show the feature as
        often as their true class does, so where that class hardly shows it, few of them do.
        """
        shown = self._share_shown(label, shows)
        removed = self.suspects(label, shows, most * shown)
        count = int(removed.sum())
        if not count or is_unlike():
            return count, 0.0
        return count, p_value(~removed)


def _less_like_p_value(
    groups: Groups,
    values: PerSample,
    mine: BoolPerSample,
    taken: BoolPerSample,
    proper: BoolPerSample,
    shows: BoolPerSample,
    rng: Generator,
) -> float:
    """Are `values` of the mistaken samples with the feature lower than label errors have them?

    `mine` are samples of the label, of which some are `taken` for a class; `proper` are those of
    that class, rightly answered. `shows` marks samples with the feature.
    """
    # what is on screen also makes its own answers more or less sure
    if (proper & shows).sum() >= LEAST_OWN:
        proper = proper & shows
    here, ordinary, of_class = (
        groups.take(part).means(values[part])
        for part in (taken & shows, taken & ~shows, proper)
    )
    errors = 0
    if len(ordinary):
        # ordinary errors happen with the feature on screen too, as often as without it
        most = most_predicted(
            int((mine & shows).sum()),
            int((taken & ~shows).sum()),
            int((mine & ~shows).sum()),
            confidence=UPPER,
        )
        errors = min(most, len(here))
    return lower_mean_p_value(here, of_class, rng, others=ordinary, mixed=errors)


def _log_odds(probability: np.ndarray, other: int, label: int) -> PerSample:
    """Log-odds of the other class against the label."""
    probability = np.maximum(probability, SMALLEST)
    return np.asarray(np.log(probability[:, other] / probability[:, label]))
