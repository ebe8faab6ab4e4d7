"""Units that each have a place in their block: do they fit their own better than dealt ones?"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from cuescope_sdk.statistics._groups import level_indices
from cuescope_sdk.statistics._resampling import TIE, monte_carlo_p_value
from cuescope_sdk.statistics._shapes import IntPerUnit

DRAWS = 9999
AT_ONCE = 500  # draws that are made together
ENOUGH = 100  # draws as good as the data, to stop at


@dataclass(frozen=True, eq=False)
class Placement:
    """The `block` of each unit, and which `place` of this block is its own.

    `fit` says how well each unit fits each place of its block.
    """

    block: IntPerUnit
    place: IntPerUnit

    def p_value(
        self,
        fit: Float[np.ndarray, "unit place"],
        rng: np.random.Generator,
        *,
        draws: int = DRAWS,
    ) -> float:
        """How often places that are dealt anew within blocks fit the units as well as their own.

        A permutation test within blocks (Pitman, 1938). It stops where so many draws are as good
        that the p-value is large for sure (Besag and Clifford, 1991).
        """
        blocks = self._blocks()
        if not blocks:
            return 1.0
        dealt_units = np.concatenate(blocks)
        # a deal that is equal but for rounding is as good
        observed = float(fit[dealt_units, self.place[dealt_units]].sum()) - TIE
        reached = 0
        drawn = 0
        while drawn < draws and reached < ENOUGH:
            count = min(AT_ONCE, draws - drawn)
            totals = np.zeros(count)
            for units in blocks:
                order = np.argsort(rng.random((count, len(units))), axis=1)
                dealt = self.place[units][order]
                totals += fit[units, dealt].sum(axis=1)
            reached += int((totals >= observed).sum())
            drawn += count
        return monte_carlo_p_value(reached, drawn)

    def z(self, fit: Float[np.ndarray, "unit place"]) -> float:
        """How far the own places fit better than dealt ones, in standard deviations of these.

        Mean and variance of the sum over a random order of a square table (Hoeffding, 1951).
        """
        excess = 0.0
        variance = 0.0
        for units in self._blocks():
            square = fit[np.ix_(units, self.place[units])]
            row_means = square.mean(axis=1, keepdims=True)
            centred = square - square.mean(axis=0) - row_means + square.mean()
            excess += float(np.trace(centred))
            variance += float((centred**2).sum()) / (len(units) - 1)
        return excess / variance**0.5 if variance > TIE else 0.0

    def fits(self, fit: Float[np.ndarray, "unit place"], level: float) -> bool:
        """Whether `z` is beyond the normal quantile of a one-sided test at this level."""
        # what stats.norm.isf gives, which takes as long as all of the rest here
        return self.z(fit) > -float(ndtri(level))

    def deal(self, rng: np.random.Generator) -> IntPerUnit:
        """The places dealt anew within blocks."""
        dealt = self.place.copy()
        for units in self._blocks():
            dealt[units] = rng.permutation(dealt[units])
        return dealt

    def _blocks(self) -> list[Int[np.ndarray, " some"]]:
        """The units of each block that has more than one."""
        return [units for units in level_indices(self.block) if len(units) > 1]
