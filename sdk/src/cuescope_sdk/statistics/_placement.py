"""Units that each have a place in their block: do they fit their own better than dealt ones?"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import stats
from scipy.special import ndtri

from cuescope_sdk.statistics._estimate import Estimate
from cuescope_sdk.statistics._groups import level_indices
from cuescope_sdk.statistics._resampling import monte_carlo_p_value
from cuescope_sdk.statistics._shapes import BoolPerItem, IntPerUnit, PerItem

DRAWS = 9999
AT_ONCE = 500  # draws that are made together
ENOUGH = 100  # draws as good as the data, to stop at
# short of 1, under which an item that does not hold is impossible
SHARES = np.linspace(0.0, 0.999, 334)  # that are tried
TIE = 1e-9


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


def share_beyond_chance(
    holds: BoolPerItem,
    rate: PerItem,
    group: Int[np.ndarray, " item"],
    *,
    confidence: float = 0.95,
) -> Estimate[float] | None:
    """The share of items that hold for a reason, with its interval; others hold at their `rate`.

    The maximum of that likelihood, with its `score_interval` of whole groups, which are numbered
    from 0. None where every rate is 1, and nothing can be told.

    Score test (Boos, 1992; Agresti and Coull, 1998).
    """
    rare = 1 / rate[:, None] - 1
    if not rare.any():
        return None
    # d/ds of log(s + (1 - s) rate) where it holds, of log((1 - s)(1 - rate)) where not
    yes = rare / (1 + SHARES * rare)
    no = -1 / (1 - SHARES)
    scores = np.where(holds[:, None], yes, no)
    by_group = np.zeros((int(group.max()) + 1, len(SHARES)))
    np.add.at(by_group, group, scores)
    # one group of which all holds, and one of which nothing does
    nothing_holds = no * (rare > 0).sum()
    extremes = np.stack([yes.sum(axis=0), nothing_holds])
    return score_interval(by_group, SHARES, extremes=extremes, confidence=confidence)


def score_interval(
    scores: Float[np.ndarray, "group value"],
    values: Float[np.ndarray, " value"],
    *,
    extremes: Float[np.ndarray, "extreme value"],
    confidence: float = 0.95,
) -> Estimate[float]:
    """The estimate among `values` where scores pass 0, and the interval around it.

    `scores` are derivatives of the log-likelihood, summed over each group; their total falls as
    values rise. The interval holds all values whose total is not away from 0 by Student's t (a
    generalised score test: Boos, 1992). `extremes` count as half a group each, so that groups that
    are all alike do not prove more than their number (as Agresti and Coull do for shares, 1998).
    """
    passed = int((scores.sum(axis=0) > 0).sum())
    # the total falls, so it passes 0 behind the last value where it is positive
    value = float(values[max(passed - 1, 0)])
    # one group has no spread, so no value is ruled out
    if len(scores) < 2:
        return Estimate(value, float(values[0]), float(values[-1]))
    rows = np.concatenate([scores, extremes / (2 * len(scores))])
    spread = rows.std(axis=0, ddof=1) * np.sqrt(len(rows))
    reach = stats.t.ppf((1 + confidence) / 2, len(scores) - 1)
    away = np.abs(rows.sum(axis=0))
    inside = values[away <= reach * spread + TIE]
    # the total may pass 0 between two values so steeply that neither is inside
    low = float(inside.min(initial=value))
    return Estimate(value, low, float(inside.max(initial=value)))
