"""Recogniser of a cue: which samples show what wrong answers have in common, beyond their label.

An embedding is a label's mean, the cue's shift where it is shown, the same for all labels, and
noise (a mixture of two normal distributions of one covariance). The answer makes the groups
findable: samples with the cue get it more often. The score of a sample comes from a recogniser
that has seen neither the sample nor its group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._shapes import BoolPerSample, IntPerSample, PerSample
from cuescope_sdk.statistics._two_groups import TwoGroups

Points = Float[np.ndarray, "sample dim"]
PerLabel = Float[np.ndarray, " label"]
Direction = Float[np.ndarray, " dim"]

FOLDS = 5  # scikit-learn's default
# samples for each dimension that is kept: ten a parameter is a common least (Peduzzi and others,
# 1996); which of these serves best is seen in held-out samples
SAMPLES_A_DIMENSION = (40, 20, 10)
FEWEST_DIMENSIONS = 2
FIRST = 0.15  # of all samples are the first members; 0.05 to 0.3 end in the same groups
# shares of a label with the cue, from which its own fit starts
STARTS = (0.1, 0.5, 0.9)
ROUNDS = 30
INNER = 4
RESTART = 4  # rounds from one time that labels start anew to the next
TOLERANCE = 1e-4  # of the log-likelihood a sample
FLAT = 1e-6  # of the largest variance: what varies less is rounding
WITHIN = 0.02  # of the variance along the direction at least is within the groups
LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class Recogniser:
    """A direction of an embedding, beside each label's mean, and the two groups along it.

    `means` has one row a label. Embeddings are those that the recogniser learned from, unit
    vectors or not.
    """

    means: Float[np.ndarray, "label dim"]
    direction: Direction
    groups: TwoGroups

    @classmethod
    def learn(
        cls,
        points: Points,
        label: IntPerSample,
        given: BoolPerSample,
        labels: int,
        dimensions: int,
    ) -> "Recogniser":
        """Learn from all samples; `given` says which get the answer that the cue draws."""
        space = _Residuals.of(points, label, labels)
        direction = space.direction(points, label, given, dimensions)
        score = (points - space.means[label]) @ direction
        return cls(space.means, direction, TwoGroups.fit(score, label, given, labels))

    def score(self, points: Points, label: IntPerSample) -> PerSample:
        """How far each point lies in the cue's direction from the mean of its label."""
        return np.asarray((points - self.means[label]) @ self.direction)

    def probability(self, points: Points, label: IntPerSample) -> PerSample:
        """Probability that each point shows the cue, 0 to 1."""
        return self.groups.probability(self.score(points, label), label)


@dataclass(frozen=True, eq=False)
class Recognised:
    """Held-out scores of all samples and the probability of each to show the cue.

    `strength` is the association of score and answer in standard errors, `fold` the fold of each
    sample, and `directions` what recognises those of each fold, from `means`.
    """

    score: PerSample
    probability: PerSample
    strength: float
    fold: Int[np.ndarray, " sample"]
    means: Float[np.ndarray, "fold label dim"]
    directions: Float[np.ndarray, "fold dim"]

    def scores_of(
        self,
        points: Float[np.ndarray, "frame dim"],
        label: Int[np.ndarray, " frame"],
        fold: Int[np.ndarray, " frame"],
    ) -> Float[np.ndarray, " frame"]:
        """Held-out scores of parts of samples, as their frames, by the fold of their sample."""
        beside = points - self.means[fold, label]
        return np.asarray(np.einsum("fd,fd->f", beside, self.directions[fold]))


@on_one_thread
def recognise(
    points: Points,
    label: IntPerSample,
    given: BoolPerSample,
    labels: int,
    groups: Groups,
    rng: Generator,
) -> Recognised | None:
    """Recognise what samples share that get an answer, each by samples of other groups.

    `given` says which get it. None where too few get it, or get another one, to learn in each fold.

    Mixture of normals with a common shift, EM (Dempster, Laird and Rubin, 1977), cross-fitted.
    """
    fold = _folds(label, given, groups, rng)
    if fold is None:
        return None
    parts = [fold != number for number in range(FOLDS)]
    spaces = [_Residuals.of(points[part], label[part], labels) for part in parts]
    wanted = dict.fromkeys(
        max(len(label) // samples, FEWEST_DIMENSIONS) for samples in SAMPLES_A_DIMENSION
    )
    best: tuple[float, PerSample, Float[np.ndarray, "fold dim"]] | None = None
    for dimensions in wanted:
        score = np.zeros(len(label))
        directions = []
        for number, (part, space) in enumerate(zip(parts, spaces, strict=True)):
            direction = space.direction(
                points[part], label[part], given[part], dimensions
            )
            directions.append(direction)
            own = fold == number
            score[own] = (points[own] - space.means[label[own]]) @ direction
        strength = association(score, given, label, labels)
        if best is None or strength > best[0]:
            best = strength, score, np.stack(directions)
    assert best is not None
    strength, score, stacked = best
    # of all held-out scores: without a fold a label may lack the few that differ from the rest
    two = TwoGroups.fit(score, label, given, labels)
    probability = two.probability(score, label)
    means = np.stack([space.means for space in spaces])
    return Recognised(score, probability, strength, fold, means, stacked)


def association(
    score: PerSample, given: BoolPerSample, label: IntPerSample, labels: int
) -> float:
    """Covariance of score and answer within labels, in its standard deviations under no relation.

    Conditional on each label's scores and number of answers (Mantel, 1963).
    """
    sizes = np.maximum(np.bincount(label, minlength=labels), 1)

    def centred(values: PerSample) -> PerSample:
        return np.asarray(values - (np.bincount(label, values, labels) / sizes)[label])

    beside, answered = centred(score), centred(given.astype(float))
    squares = np.bincount(label, beside**2, labels)
    variance = squares * np.bincount(label, answered**2, labels)
    total = float((variance / np.maximum(sizes - 1, 1)).sum())
    return float(beside @ answered) / np.sqrt(total) if total > 0 else 0.0


def _folds(
    label: IntPerSample, given: BoolPerSample, groups: Groups, rng: Generator
) -> Int[np.ndarray, " sample"] | None:
    """Folds of whole groups, alike in labels and answers; None: too few groups."""
    for side in (given, ~given):
        if len(np.unique(groups.codes[side])) < FOLDS:
            return None
    strata = groups.strata(2 * label + given)
    # shuffled, then one fold after the other: each stratum is spread evenly
    order = np.lexsort((rng.permutation(groups.count), strata))
    fold = np.zeros(groups.count, dtype=np.int64)
    fold[order] = np.arange(groups.count) % FOLDS
    return np.asarray(fold[groups.codes])


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Embeddings less their label's mean, along their principal axes with variance 1."""

    means: Float[np.ndarray, "label dim"]
    axes: Float[np.ndarray, "dim axis"]

    @classmethod
    def of(cls, points: Points, label: IntPerSample, labels: int) -> "_Residuals":
        sizes = np.bincount(label, minlength=labels)
        sums = np.zeros((labels, points.shape[1]))
        np.add.at(sums, label, points)
        means = np.where(
            sizes[:, None] > 0,
            sums / np.maximum(sizes, 1)[:, None],
            points.mean(axis=0),
        )
        left = points - means[label]
        values, axes = np.linalg.eigh(left.T @ left / len(left))
        kept = np.flatnonzero(values > FLAT * values[-1])[::-1]
        return cls(means, axes[:, kept] / np.sqrt(values[kept]))

    def direction(
        self,
        points: Points,
        label: IntPerSample,
        given: BoolPerSample,
        dimensions: int,
    ) -> Direction:
        """Unit direction, along the first so many axes, in which the cue shifts embeddings."""
        axes = self.axes[:, :dimensions]
        rows = (points - self.means[label]) @ axes
        shift = _Mixture(rows, label, given, len(self.means)).shift()
        length = float(np.linalg.norm(shift))
        return np.asarray(axes @ shift / length if length > 0 else axes @ shift)


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Whitened residuals, and which samples get the answer: two groups, one shift for all labels.

    Residuals have variance 1 in all directions, part of it between the groups: with the shift d and
    c the mean of share (1 - share), I - c d d' is left within them.
    """

    rows: Float[np.ndarray, "sample axis"]
    label: IntPerSample
    given: BoolPerSample
    labels: int

    def shift(self) -> Float[np.ndarray, " axis"]:
        """The likeliest shift, by EM from what samples with the answer look like."""
        shown = self._first_members()
        shift = np.zeros(self.rows.shape[1])
        starts = list(map(self._start, STARTS))
        last = -np.inf
        for step in range(ROUNDS):
            share = self._means(shown)
            total = float((self._sizes * share * (1 - share)).sum())
            if total < LEAST:
                break
            shift = (shown - share[self.label]) @ self.rows / total
            between = total / len(self.label)
            # no more lies between the groups than there is
            largest = (1 - WITHIN) / between
            length = float(shift @ shift)
            if length > largest:
                shift = shift * np.sqrt(largest / length)
                length = largest
            variance = max(length * (1 - between * length), FLAT)
            fits = [self._labels(start, shift, variance) for start in starts]
            likelihoods = np.array([fit.likelihood for fit in fits])
            best = likelihoods.argmax(axis=0)
            table = np.stack([fit.shown for fit in fits])
            shown = table[best[self.label], np.arange(len(shown))]
            likelihood = float(likelihoods.max(axis=0).sum())
            if abs(likelihood - last) < TOLERANCE * len(shown):
                break
            last = likelihood
            starts = [_best_of([fit.groups for fit in fits], best)]
            # labels start anew now and then: the shift has moved
            if step % RESTART == RESTART - 1:
                starts += map(self._start, STARTS)
        return shift

    def _start(self, share: float) -> "_Groups":
        rate = self._means(self.given.astype(float))
        return _Groups(
            np.full(self.labels, share),
            np.clip(2 * rate, LEAST, 1 - LEAST),
            np.clip(rate / 2, LEAST, 1 - LEAST),
        )

    def _first_members(self) -> PerSample:
        answered = self.given.astype(float)
        towards = (answered - self._means(answered)[self.label]) @ self.rows
        along = self.rows @ towards
        return np.asarray(along >= np.quantile(along, 1 - FIRST), dtype=float)

    @cached_property
    def _sizes(self) -> PerLabel:
        sizes = np.bincount(self.label, minlength=self.labels)
        return np.maximum(sizes, 1).astype(float)

    def _sums(self, values: PerSample) -> PerLabel:
        return np.bincount(self.label, values, minlength=self.labels)

    def _means(self, values: PerSample) -> PerLabel:
        return np.asarray(self._sums(values) / self._sizes)

    def _labels(
        self, groups: "_Groups", shift: Float[np.ndarray, " axis"], variance: float
    ) -> "_Fit":
        """Fit each label's share and rates of the answer: its log-likelihood, and who shows it."""
        label, sizes = self.label, self._sizes
        given = self.given.astype(float)
        answered = self._sums(given)
        along = self.rows @ shift
        length = float(shift @ shift)
        means = self._means(along)
        share, rate_with, rate_without = groups
        mean = means - share * length
        for _ in range(INNER):
            beside = along - mean[label]
            log_with = np.log(share)[label] - (beside - length) ** 2 / (2 * variance)
            log_without = np.log1p(-share)[label] - beside**2 / (2 * variance)
            log_with += _log_rate(self.given, rate_with, label)
            log_without += _log_rate(self.given, rate_without, label)
            total = np.logaddexp(log_with, log_without)
            shown = np.exp(log_with - total)
            members = self._sums(shown)
            with_answer = self._sums(shown * given)
            # half a sample more on each side: Jeffreys' prior of a share
            share = (members + 0.5) / (sizes + 1)
            rate_with = (with_answer + 0.5) / (members + 1)
            rate_without = (answered - with_answer + 0.5) / (sizes - members + 1)
            mean = means - members / sizes * length
        likelihood = self._sums(total)
        return _Fit(likelihood, shown, _Groups(share, rate_with, rate_without))


class _Groups(NamedTuple):
    """Of each label the share that shows the cue, and how often it gets the answer or not."""

    share: PerLabel
    rate_with: PerLabel
    rate_without: PerLabel


class _Fit(NamedTuple):
    """Log-likelihood of each label, how likely each sample shows the cue, and the groups."""

    likelihood: PerLabel
    shown: PerSample
    groups: _Groups


def _best_of(groups: Sequence[_Groups], best: Int[np.ndarray, " label"]) -> _Groups:
    table = np.array(groups)
    return _Groups(*table[best, :, np.arange(len(best))].T)


def _log_rate(given: BoolPerSample, rate: PerLabel, label: IntPerSample) -> PerSample:
    """Log-probability of the answers, each of which comes at its label's rate."""
    return np.asarray(np.where(given, np.log(rate)[label], np.log1p(-rate)[label]))
