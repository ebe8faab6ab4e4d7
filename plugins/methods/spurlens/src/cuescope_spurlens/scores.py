"""Spurious Gaps: pure functions of rates and K-scores, with intervals and corrections."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk.statistics import GapTest, Groups, gap_intervals
from cuescope_spurlens.spuriosity.shapes import (
    BoolPerUnit,
    IntCueByK,
    IntPerK,
    IntPerUnit,
    PerCue,
    PerK,
    PerUnit,
    SampleByCue,
)
from cuescope_spurlens.spuriosity.sizes import ObjectSizes, size_strata
from cuescope_spurlens.spuriosity.units import unit_means

# of the variation of sizes, as much as what is true: boxes of detectors, and coarse annotations
NOISE = 1.0
THRESHOLDS = tuple(step / 20 for step in range(19))  # 0 to 0.9 (appendix P varies them)


def spurious_gaps(rates: PerUnit, top: IntCueByK, bottom: IntCueByK) -> PerCue:
    """Mean rate of the top minus that of the bottom (SpurLens eq. 6), from -1 to 1."""
    with_cue = rates[top].mean(axis=1)
    without = rates[bottom].mean(axis=1)
    return np.asarray(with_cue - without)


def spurious_gap_interval(
    top: PerUnit,
    bottom: Float[np.ndarray, " other_unit"],
) -> tuple[float, float]:
    """Interval of the mean rate of some units minus that of others."""
    values = np.concatenate([top, bottom])
    # `gap_intervals` is of those without a feature minus those with it.
    without = np.arange(len(values)) >= len(top)
    groups = Groups.single(len(values))
    low, high = gap_intervals(values, without[:, None], groups)
    return float(low[0]), float(high[0])


def gap_by_k(rates: PerUnit, top: IntPerK, bottom: IntPerK) -> PerK:
    """Gap at every K from 1 to k; `top` is best first, `bottom` has its lowest last."""
    count = np.arange(1, len(top) + 1)
    with_cue = np.cumsum(rates[top]) / count
    without = np.cumsum(rates[bottom[::-1]]) / count
    return np.asarray(with_cue - without)


def draws_needed(tests: int, level: float, least: int) -> int:
    """Draws of which the smallest p-value stays well below `level` after Holm's correction."""
    # The smallest p-value is 1 / (1 + draws), and Holm multiplies it by the number of tests.
    # 4: the smallest is then a quarter of `level` after the correction
    return max(least, round(4 * tests / level))


def largest_k(
    scores: SampleByCue,
    cues: int,
    thresholds: Sequence[float] = THRESHOLDS,
) -> tuple[int, float]:
    """Largest K for which so many cues are in K samples and absent from K, and its threshold.

    Above the threshold a cue counts as present, else as absent (appendix P); the threshold with
    the largest K is taken, the lowest of equals. 0 where there are fewer cues.
    """
    if scores.shape[1] < cues:
        return 0, thresholds[0]
    present = (scores[:, None] > np.array(thresholds)[:, None]).sum(axis=0)
    rarer = np.sort(np.minimum(present, len(scores) - present), axis=1)
    # sorted: the last so many cues all reach this number
    largest = rarer[:, -cues]
    best = int(largest.argmax())
    return int(largest[best]), thresholds[best]


def unit_strata(sizes: ObjectSizes | None, units: Groups) -> IntPerUnit | None:
    """Strata by the object's size; None where it is unknown, or the same in all."""
    if sizes is None:
        return None
    strata = size_strata(unit_means(sizes.values, units))
    # one stratum for all sets nothing aside
    return strata if strata.any() else None


@dataclass(frozen=True, eq=False)
class RankedSides:
    """The units that show each cue most and least, and what is set aside when they are compared.

    Answers are dealt within a `stratum` of the object's size; units that are not `kept`, for their
    labels are in doubt, count in no gap.
    """

    top: IntCueByK
    bottom: IntCueByK
    stratum: IntPerUnit | None = None
    kept: BoolPerUnit | None = None

    def test(self, rates: PerUnit, draws: int, rng: Generator) -> GapTest:
        """The gaps of these rates against those that chance makes."""
        sides = self.top, self.bottom
        test = GapTest.of(
            rates, *sides, draws, rng, stratum=self.stratum, kept=self.kept
        )
        return test if self.stratum is None else against_noisy_sizes(test)


def against_noisy_sizes(test: GapTest) -> GapTest:
    """The test of what remains of a gap if the sizes that are known are noisy.

    Strata of a noisy size take away the reliable part of what the true size makes of a gap; the
    rest is NOISE times as much (Carroll et al., 2006, section 2.2). It is known from the part that
    they took, so a gap must be larger than that as well.
    """
    rest = NOISE * np.maximum(test.by_strata, 0)
    spread = np.divide(
        test.gap, test.strength, out=np.ones_like(test.gap), where=test.strength != 0
    )
    gap = test.gap - rest
    strength = np.where(test.strength != 0, gap / spread, 0.0)
    reached = (test.maxima[:, None] >= strength).sum(axis=0)
    alone = (1 + reached) / (1 + len(test.maxima))
    p_value = np.maximum(test.p_value, alone)
    return replace(test, gap=gap, strength=strength, p_value=p_value)
