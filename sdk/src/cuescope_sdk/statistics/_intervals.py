"""Intervals that keep their promise for few samples, rare events and samples drawn in groups.

All means of bounded numbers go one way: the exact binomial limits (Clopper and Pearson, 1934) at
the effective number of samples (Korn and Graubard, 1998), and for differences the limits of both
sides combined (MOVER: Zou and Donner, 2008; Newcombe's way, 1998). None of them is without width.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._shapes import (
    BoolSampleByCell,
    GroupByCell,
    PerCell,
    PerItem,
    PerSample,
    SampleByCell,
)


def mean_interval(
    values: PerSample,
    groups: Groups,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
) -> tuple[float | None, float | None]:
    """Interval of the mean of numbers that lie within `bounds`; None where there are none.

    For right and wrong answers that were drawn one by one it is that of Clopper and Pearson.

    Exact binomial limits (Clopper and Pearson, 1934) at the effective sample size (Korn and
    Graubard, 1998).
    """
    if len(values) == 0:
        return None, None
    lowest, highest = bounds
    scale = highest - lowest
    # binomial limits are for numbers from 0 to 1
    shares = (np.asarray(values, dtype=float) - lowest) / scale
    everyone = np.ones((len(shares), 1))
    # in 552 simulated settings 95% intervals held in 94.8% at least (docs/statistics.md)
    low, high = _Mean.of(shares, everyone, groups).limits(confidence)
    return lowest + scale * float(low[0]), lowest + scale * float(high[0])


def gap_intervals(
    values: PerSample,
    present: BoolSampleByCell,
    groups: Groups,
    *,
    confidence: float = 0.95,
) -> tuple[PerCell, PerCell]:
    """Intervals of the mean of samples without a feature minus the mean of those with it.

    Of values from 0 to 1. NaN where one side has no sample. A group may have samples on both sides.

    MOVER (Zou and Donner, 2008; Newcombe, 1998).
    """
    shares = np.asarray(values, dtype=float)
    with_feature = np.asarray(present, dtype=float)
    without = shares, 1 - with_feature
    return _Difference.of(without, (shares, with_feature), groups).limits(confidence)


def change_interval(
    change: PerSample,
    groups: Groups,
    *,
    bound: float | None = 1.0,
    confidence: float = 0.95,
) -> tuple[float | None, float | None]:
    """Interval of the mean of paired changes, after minus before; None where there are none.

    What was won and what was lost have an interval each, so rare changes keep their width.
    `bound` is how large a change can be; None reckons with none that is larger than those seen,
    as a bootstrap does, and is for figures that all samples share a little of, not for answers.

    MOVER (Zou and Donner, 2008).
    """
    if len(change) == 0:
        return None, None
    return change_limits(change, groups, bound=bound)(confidence)


def change_limits(
    change: PerSample,
    groups: Groups,
    *,
    bound: float | None = 1.0,
) -> Callable[[float], tuple[float, float]]:
    """`change_interval` of one change or more, by its confidence: what all share is made once."""
    everyone = np.ones((len(change), 1))
    # where nothing changed there is nothing to scale by
    largest = float(np.abs(change).max()) or 1.0
    if bound is not None:
        largest = max(largest, bound)
    shares = np.asarray(change, dtype=float) / largest
    won = np.maximum(shares, 0), everyone
    lost = np.maximum(-shares, 0), everyone
    difference = _Difference.of(won, lost, groups)

    def limits(confidence: float) -> tuple[float, float]:
        low, high = difference.limits(confidence)
        return largest * float(low[0]), largest * float(high[0])

    return limits


def student_interval(
    values: PerItem, *, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the mean of independent numbers without bounds (Student, 1908).

    Raises ValueError for fewer than two numbers, which have no spread.
    """
    count = len(values)
    if count < 2:
        raise ValueError(f"expected two numbers or more, got {count}")
    quantile = stats.t.ppf((1 + confidence) / 2, count - 1)
    reach = float(quantile * stats.sem(values))
    mean = float(np.mean(values))
    return mean - reach, mean + reach


def mean_above(values: PerItem, margin: float) -> float:
    """Probability that the mean of what values are drawn from is above a margin (Student, 1908).

    One minus the one-sided p-value. Raises ValueError for fewer than two numbers.
    """
    if len(values) < 2:
        raise ValueError(f"expected two numbers or more, got {len(values)}")
    apart = float(np.mean(values)) - margin
    error = float(stats.sem(values))
    if error == 0:
        return float(apart > 0)
    return float(stats.t.cdf(apart / error, len(values) - 1))


# --------------------------------------------------------------------------------- the machinery

Limits = tuple[PerCell, PerCell]
Part = tuple[PerSample, SampleByCell]


@dataclass(frozen=True, eq=False)
class _Mean:
    """Of the members of each cell, and what its limits are made of; NaN without members.

    It is as sure as that of `size` samples drawn one by one. Its variance was estimated with so
    many degrees of `freedom`; None where answers, yes or no, tell their own.
    """

    value: PerCell
    size: PerCell
    freedom: PerCell | None

    @classmethod
    def of(cls, shares: PerSample, member: SampleByCell, groups: Groups) -> "_Mean":
        sizes = groups.sums(member)
        # a cell without members divides 0 by 0, and is NaN
        with np.errstate(invalid="ignore", divide="ignore"):
            count = sizes.sum(axis=0)
            mean = shares @ member / count
            if groups.all_single and np.isin(shares, (0.0, 1.0)).all():
                return cls(mean, count, None)
            variance, freedom = _variance(shares, member, sizes, groups)
            bernoulli = mean * (1 - mean)
            # all alike: as if every group were one sample, whose variance is known
            varies = bernoulli > 0
            clusters = (sizes > 0).sum(axis=0)
            size = np.where(varies, bernoulli / variance, clusters)
            return cls(mean, size, np.where(varies, freedom, np.inf))

    def influence(
        self, shares: PerSample, member: SampleByCell, groups: Groups
    ) -> GroupByCell:
        """What each group adds to the error."""
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = member * (shares[:, None] - self.value)
            return groups.sums(apart / member.sum(axis=0))

    def limits(self, confidence: float) -> Limits:
        """The lower and the upper ones."""
        mean = self.value
        size = self.size
        with np.errstate(invalid="ignore"):
            if self.freedom is not None:
                tail = (1 + confidence) / 2
                # unequal groups may leave less than one degree of freedom
                reach = special.stdtrit(np.maximum(self.freedom, 1), tail)
                # a variance from few groups is uncertain itself (Korn and Graubard, 1998)
                uncertain = (special.ndtri(tail) / reach) ** 2
                size = size * np.where(np.isinf(self.freedom), 1.0, uncertain)
            tail = (1 - confidence) / 2
            yes = mean * size
            no = size - yes
            # as quantiles of a beta the limits take numbers of samples that are not whole
            low = special.betaincinv(yes, no + 1, tail)
            high = special.betaincinv(yes + 1, no, 1 - tail)
        # the beta has no quantile where no answer is a yes, or none a no
        return np.where(mean > 0, low, 0.0), np.where(mean < 1, high, 1.0)


def _variance(
    shares: PerSample,
    member: SampleByCell,
    sizes: GroupByCell,
    groups: Groups,
) -> tuple[PerCell, PerCell]:
    """Of the mean of each cell, and how many degrees of freedom it was estimated with."""
    count = sizes.sum(axis=0)
    clusters = (sizes > 0).sum(axis=0)
    sums = groups.sums(shares[:, None] * member)
    mean = sums.sum(axis=0) / count
    # numbers between 0 and 1 vary less than yes and no; one yes or no is always reckoned with
    squares = (shares**2) @ member - count * mean**2
    alone = (squares + mean * (1 - mean)) / (count + 1) / count
    # a large group hides its own deviation: each is left out of the mean it is held against
    weight = sizes / count
    deviations = (sums - mean * sizes) / (1 - np.minimum(weight, 0.5)) / count
    squares = (deviations**2).sum(axis=0)
    # of one group alone there is no deviation to divide
    together = squares * clusters / np.maximum(clusters - 1, 1)
    squared_weight = (weight**2).sum(axis=0)
    if not groups.all_single:
        # groups as alike within as can be; the rarer the answer, the less its groups tell of that
        alike = mean * (1 - mean) * squared_weight
        with_yes = (sums > 0).sum(axis=0)
        # sums are rounded: a group of yes alone may miss its size by a bit
        with_no = ((sizes - sums) > 1e-9).sum(axis=0)
        telling = np.minimum(with_yes, with_no)
        together = (telling * together + np.maximum(alike, together)) / (telling + 1)
    freedom = squared_weight**2 / (weight**4).sum(axis=0) - 1
    # groups that differ less than single samples would do so by luck
    return np.maximum(alone, together), freedom


@dataclass(frozen=True, eq=False)
class _Difference:
    """The first mean minus the second, and the correlation of both over the groups."""

    first: _Mean
    second: _Mean
    correlation: PerCell

    @classmethod
    def of(cls, first: Part, second: Part, groups: Groups) -> "_Difference":
        """Of the shares of the members of two parts, which may have samples in common."""
        one = _Mean.of(*first, groups)
        other = _Mean.of(*second, groups)
        influences = one.influence(*first, groups), other.influence(*second, groups)
        return cls(one, other, _correlation(*influences))

    def limits(self, confidence: float) -> Limits:
        """By the limits of both (MOVER)."""
        first = self.first.value
        second = self.second.value
        first_low, first_high = self.first.limits(confidence)
        second_low, second_high = self.second.limits(confidence)
        gap = first - second
        low = gap - self._reach(first - first_low, second_high - second)
        high = gap + self._reach(first_high - first, second - second_low)
        # combined limits may pass what a difference of shares can be
        return np.maximum(low, -1), np.minimum(high, 1)

    def _reach(self, one: PerCell, other: PerCell) -> PerCell:
        square = one**2 - 2 * self.correlation * one * other + other**2
        # rounding may take two equal reaches that go together below 0
        return np.asarray(np.sqrt(np.maximum(square, 0)))


def _correlation(first: GroupByCell, second: GroupByCell) -> PerCell:
    """Correlation of two means over the same groups; 0 where one of them does not vary."""
    squares = (first**2).sum(axis=0) * (second**2).sum(axis=0)
    scale = np.sqrt(squares)
    products = (first * second).sum(axis=0)
    correlation = np.zeros(len(scale))
    np.divide(products, scale, out=correlation, where=scale > 0)
    return correlation
