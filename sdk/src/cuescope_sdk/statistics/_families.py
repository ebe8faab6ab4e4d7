"""Families of tests that overlap: what they have in common is not paid for again."""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import stats

from cuescope_sdk.statistics._association import unskew
from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._permutation import TIE, GroupOrders
from cuescope_sdk.statistics._resampling import portions
from cuescope_sdk.statistics._shapes import (
    BoolSampleByCell,
    IntPerCell,
    PerCell,
    PerSample,
    PerTest,
)
from cuescope_sdk.statistics._tests import accuracy_gap_p_value

# p-values that are told apart when they are joined
LEAST_JOINED = 1e-12
MOST_JOINED = 1 - 1e-3
SMALLEST = 1e-300  # a p-value that underflowed still has a logarithm


@dataclass(frozen=True, eq=False)
class FamilyTest:
    """Tests of many features beside the same values, corrected for all of them together.

    `p_value` and `strength` are one a test, `share` is its share of the error budget (1 on
    average). `largest` are the strengths of the strongest test in each draw of the null, sorted.
    `gate` is the p-value of a test that has to pass before any of these: none is below it.
    """

    p_value: np.ndarray
    share: np.ndarray
    strength: np.ndarray
    largest: np.ndarray
    gate: float = field(default=0.0, kw_only=True)

    @classmethod
    def of_draws(
        cls, statistics: Float[np.ndarray, "draw test"], *, gate: float = 0.0
    ) -> "FamilyTest":
        """A family by its statistics: those of the data first, then those of each draw of the null.

        Large ones speak against the null. A statistic's own p-value is that of a normal deviate.
        """
        deviates = _deviates(statistics)
        ones = np.ones(statistics.shape[1])
        return cls._of_deviates(deviates, stats.norm.sf(deviates[0]), ones, gate)

    @classmethod
    def of_gaps(
        cls,
        values: PerSample,
        present: BoolSampleByCell,
        groups: Groups,
        rng: Generator,
        *,
        p_value: PerCell,
        weight: PerCell,
        draws: int,
    ) -> "FamilyTest":
        """A family of `gap_p_values`, one a column.

        Whole groups change places, in all columns by the same orders: columns that mark nearly the
        same samples cost hardly more than one (Westfall and Young, 1993). A `weight` divides a
        column's p-value (Genovese, Roeder and Wasserman, 2006); it must not know of these values.
        """
        centred = present - np.mean(present, axis=0)
        residuals = values - np.mean(values)
        orders = GroupOrders(groups, np.zeros(groups.count, dtype=int))
        drawn = [
            residuals[orders.draw(count, rng)] @ centred
            for count in portions(draws, len(residuals))
        ]
        deviates = _deviates(-np.vstack([residuals @ centred, *drawn]))
        return cls._of_deviates(deviates, p_value, weight)

    @classmethod
    def _of_deviates(
        cls,
        deviates: Float[np.ndarray, "draw test"],
        p_value: PerCell,
        weight: PerCell,
        gate: float = 0.0,
    ) -> "FamilyTest":
        share = weight / weight.mean()
        strength = np.log(share) - stats.norm.logsf(deviates)
        # of the draws alone: the data may hold what is looked for
        largest = np.sort(strength[1:].max(axis=1))
        p_value = np.maximum(p_value, SMALLEST)
        return cls(p_value, share, strength[0], largest, gate=gate)

    def take(self, chosen: Int[np.ndarray, " some"]) -> "FamilyTest":
        """Some of the tests, by their numbers: the others were tried all the same."""
        return replace(
            self,
            p_value=self.p_value[chosen],
            share=self.share[chosen],
            strength=self.strength[chosen],
        )

    def corrected(self, p_value: PerCell) -> PerCell:
        """The chance that the strongest test of the family is as strong as each of these.

        Any false finding at all is rare at their level. Tests may have come to another `p_value`
        than when the family was drawn, as in other strata.
        """
        weaker = np.log(np.maximum(p_value, SMALLEST) / self.p_value)
        below = np.searchsorted(self.largest, self.strength - weaker - TIE)
        draws = len(self.largest)
        by_draws = (1 + draws - below) / (1 + draws)
        # far out in the tail Bonferroni's bound is closer than so many draws can tell
        by_bound = len(p_value) * p_value / self.share
        return np.asarray(np.maximum(self.gate, np.minimum(by_draws, by_bound)))

    def critical(self, level: float) -> float:
        """The p-value that a test with an equal share must reach at a level."""
        strength = float(np.quantile(self.largest, 1 - level))
        return max(float(np.exp(-strength)), level / len(self.p_value))


def _deviates(
    statistics: Float[np.ndarray, "draw test"],
) -> Float[np.ndarray, "draw test"]:
    """As normal deviates."""
    # a column that no order moves has no spread
    return unskew(statistics / np.maximum(statistics.std(axis=0), TIE))


@dataclass(frozen=True, eq=False)
class Families:
    """Tests in families: `family` is the number of each test's."""

    family: Int[np.ndarray, " test"]

    def q_values(self, p_value: PerTest) -> PerTest:
        """q-values of tests whose p-values are corrected within their family; NaN: not tested.

        Families are chosen by the false discovery rate of their smallest p-value, and each chosen
        one has its share of the level (Benjamini and Bogomolov, 2014). Within a family any false
        finding is rare, so findings of one family that say the same may be told as one.
        """
        q_value = np.full(len(p_value), np.nan)
        made = np.flatnonzero(np.isfinite(p_value))
        _, of_test = np.unique(self.family[made], return_inverse=True)
        smallest = np.full(of_test.max(initial=-1) + 1, np.inf)
        np.minimum.at(smallest, of_test, p_value[made])
        smallest.sort()
        count = len(smallest)
        # at which rate so many families, or more, are chosen
        rates = smallest * count / np.arange(1, count + 1)
        rates = np.append(np.minimum.accumulate(rates[::-1])[::-1], np.inf)
        chosen = np.searchsorted(smallest, p_value[made], side="right")
        q_value[made] = np.minimum(p_value[made] * count / chosen, rates[chosen])
        return np.asarray(np.minimum(q_value, 1.0))

    def joined_others(self, p_value: PerTest) -> PerTest:
        """The p-values of all other tests of a test's family, joined by Stouffer's method (1949).

        NaN marks a test that was not made, and in the result one whose family has no other. A
        p-value near 1 counts as a little less, so that one opposite test does not outweigh many.
        """
        made = np.isfinite(p_value)
        deviate = stats.norm.isf(np.clip(p_value, LEAST_JOINED, MOST_JOINED))
        # NaN would spoil the sum of its family
        z = np.where(made, deviate, 0.0)
        total = np.bincount(self.family, weights=z)[self.family]
        others = np.bincount(self.family, weights=made)[self.family] - made
        joined = stats.norm.sf((total - z) / np.sqrt(np.maximum(others, 1)))
        return np.where(others > 0, joined, np.nan)

    @staticmethod
    def least_gap_p_values(
        n_with: IntPerCell, n_without: IntPerCell, wrong: int
    ) -> PerCell:
        """The smallest p-value of a gap, were all wrong answers those with a feature.

        1 where so many wrong answers leave nothing to compare.
        """
        total = n_with + n_without
        right_with = np.maximum(n_with - wrong, 0)
        right_without = total - wrong - right_with
        is_comparable = n_without >= np.maximum(right_without, 1)
        least = np.ones(len(n_with))
        counts = np.stack([right_without, n_without, right_with, n_with])
        least[is_comparable] = accuracy_gap_p_value(*counts[:, is_comparable])
        return least

    @staticmethod
    def can_pass(least: PerTest, level: float) -> Bool[np.ndarray, " test"]:
        """Tests whose `least` possible p-value could pass at all (Tarone, 1990).

        What could not pass, whatever is found, is neither tested nor counted; for the false
        discovery rate: Gilbert (2005).
        """
        for tests in range(1, len(least) + 1):
            possible = least <= level / tests
            # corrected for so many tests, no more than these could pass
            if possible.sum() <= tests:
                return np.asarray(possible)
        return np.zeros(len(least), dtype=bool)
