"""A figure with its interval, and what becomes of the interval in sums and corrections."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.stats import norm, t as student

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._intervals import mean_interval
from cuescope_sdk.statistics._shapes import PerSample

Figure = TypeVar("Figure", float, np.ndarray)
PerFigure = Float[np.ndarray, " figure"]
NORMAL = float(norm.ppf(0.975))
STORED = 0.95  # level of the intervals that a report holds


@dataclass(frozen=True)
class Estimate(Generic[Figure]):
    """A figure with its interval; of many figures at once where they are arrays.

    Intervals are combined by MOVER (Zou and Donner, 2008), for uncorrelated figures, and not cut
    off at the largest figure that is possible.
    """

    value: Figure
    low: Figure
    high: Figure

    @staticmethod
    def of_mean(
        values: PerSample,
        groups: Groups,
        *,
        confidence: float = 0.95,
    ) -> "Estimate[float]":
        """The mean of values from 0 to 1, with `mean_interval`; raises ValueError for none."""
        low, high = mean_interval(values, groups, confidence=confidence)
        if low is None or high is None:
            raise ValueError("expected one value or more, got none")
        return Estimate(float(values.mean()), low, high)

    def at_error(self: "Estimate[float]", error: float) -> tuple[float, float]:
        """The ends of this interval (95%), where each is missed with chance `error`.

        Widened as that of a normal mean, on each side by its own width. For several tests together
        `error` is that of all over their number (Bonferroni).
        """
        widen = norm.isf(error) / norm.isf((1 - STORED) / 2)
        low = self.value - widen * (self.value - self.low)
        return float(low), float(self.value + widen * (self.high - self.value))

    @staticmethod
    def within(
        values: PerSample,
        shows: Bool[np.ndarray, " sample"],
        strata: Int[np.ndarray, " sample"],
        groups: Groups,
        *,
        confidence: float = 0.95,
    ) -> "Estimate[float] | None":
        """Mean value where something shows, less that where it does not, within strata.

        A stratum weighs as its samples with it and without overlap, n1 n0 / (n1 + n0): overlap
        weights (Li, Morgan and Zaslavsky, 2018), for strata those of Cochran (1954). The error is
        robust to groups (Liang and Zeger, 1986), and never below that of a third of one answer.
        None where no stratum has both.
        """
        _, codes = np.unique(strata, return_inverse=True)
        count = np.bincount(codes)

        def centred(column: PerSample) -> PerSample:
            means = np.bincount(codes, weights=column) / count
            return np.asarray(column - means[codes])

        marked = centred(shows.astype(float))
        overlap = float(marked @ marked)
        # samples, rounded: below one there is nothing to compare
        if overlap < 0.5:
            return None
        left = centred(np.asarray(values, float))
        value = float(marked @ left) / overlap
        scores = np.bincount(groups.codes, weights=marked * (left - value * marked))
        both = np.bincount(codes, weights=shows) % count > 0
        telling = both[codes]
        fewer = min(
            len(np.unique(groups.codes[telling & (shows == side)]))
            for side in (True, False)
        )
        error = max(float(np.sqrt(scores @ scores)), 1 / 3) / overlap
        reach = float(student.isf((1 - confidence) / 2, max(fewer - 1, 1))) * error
        return Estimate(value, value - reach, value + reach)

    @staticmethod
    def drawn_together(
        estimates: "Sequence[Estimate[float]]",
        own: Sequence[bool],
    ) -> "Estimate[float]":
        """The mean of some, each drawn to the mean of all as far as these are alike (95%).

        Empirical Bayes (Morris, 1983), with the variance beyond the errors by moments (DerSimonian
        and Laird, 1986). One that is unsure is told mostly by the others; where all are sure or
        unlike, each stays as it is. Raises ValueError where none is its `own`.
        """
        if not any(own):
            raise ValueError("expected one estimate or more of its own, got none")
        values = np.array([estimate.value for estimate in estimates])
        widths = np.array([estimate.high - estimate.low for estimate in estimates])
        variances = (widths / 2 / NORMAL).clip(min=1e-9) ** 2
        beyond = _variance_beyond(values, variances)
        weights = 1 / (variances + beyond)
        middle = float(weights @ values / weights.sum())
        # how much of each is its own: all of it, where there is no other
        share = beyond / (variances + beyond) if len(values) > 1 else np.ones(1)
        chosen = np.array(own, bool)
        value = float((middle + share * (values - middle))[chosen].mean())
        # what they share is no surer for being taken several times
        alone = (share**2 * variances)[chosen].sum() / chosen.sum() ** 2
        shared = (1 - share[chosen].mean()) ** 2 / weights.sum()
        reach = NORMAL * float(np.sqrt(alone + shared))
        return Estimate(value, value - reach, value + reach)

    def plus(self, other: "Estimate[Figure]") -> "Estimate[Figure]":
        """The sum of both figures."""
        value = self.value + other.value
        # each side by itself: limits of rare events are not symmetric (MOVER)
        down = np.hypot(self.value - self.low, other.value - other.low)
        up = np.hypot(self.high - self.value, other.high - other.value)
        return Estimate(value, value - down, value + up)

    def minus(self, other: "Estimate[Figure]") -> "Estimate[Figure]":
        """This figure less the other."""
        # a minus turns low and high round
        return self.plus(Estimate(-other.value, -other.high, -other.low))


def _variance_beyond(values: PerFigure, variances: PerFigure) -> float:
    """By how much values vary beyond their errors (DerSimonian and Laird, 1986)."""
    if len(values) < 2:
        return 0.0
    weights = 1 / variances
    middle = weights @ values / weights.sum()
    unlike = float(weights @ (values - middle) ** 2)
    scale = float(weights.sum() - (weights @ weights) / weights.sum())
    return max(unlike - (len(values) - 1), 0.0) / scale


def _reach(reaches: PerFigure, sets: Sequence[Hashable]) -> float:
    """How far the interval of their middle reaches: a typical one a set, and the mean of sets."""
    by_set: dict[Hashable, list[float]] = {}
    for name, reach in zip(sets, reaches.tolist(), strict=True):
        by_set.setdefault(name, []).append(reach)
    typical = list(map(np.median, by_set.values()))
    return float(np.linalg.norm(typical)) / len(typical)
