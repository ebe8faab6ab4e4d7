"""The smallest gap that would have been found: cues planted in the audit's own answers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool
from numpy.random import Generator

from cuescope_spurlens.scores import RankedSides, spurious_gaps
from cuescope_spurlens.spuriosity.shapes import IntPerUnit, PerUnit, UnitByCue

POWER = 0.8
PLANTED = 40  # cues
HALVINGS = 6
NULLS = 4  # planted cues of which the null is drawn
# the null changes little with the cue's strength, but much where answers were all alike
ROUNDS = 2
BoolUnitByCue = Bool[np.ndarray, "unit cue"]


def shows_cue(scores: UnitByCue, ranked: RankedSides) -> BoolUnitByCue:
    """Which units show each cue: those above the middle between its top and its bottom."""
    columns = np.arange(scores.shape[1])[:, None]
    least = scores[ranked.top, columns].min(axis=1)
    most = scores[ranked.bottom, columns].max(axis=1)
    above = scores > (least + most) / 2
    # where one score is at both ends, it is that of units with the cue unless it is the lowest
    return np.asarray(above | ((scores >= least) & (least > scores.min(axis=0))))


@dataclass(frozen=True, eq=False)
class PlantedCue:
    """Answers that are dealt anew, and the units in which a cue changes them to `answer`.

    A unit is changed by cues that change a larger share of the units than its `luck`.
    """

    cue: int
    rates: PerUnit
    changes: Bool[np.ndarray, " unit"]
    luck: PerUnit
    answer: float

    def at(self, share: float) -> PerUnit:
        """The answers with a cue that changes this share."""
        changed = self.changes & (self.luck < share)
        return np.where(changed, self.answer, self.rates)

    def gap(self, share: float, ranked: RankedSides) -> float:
        """The gap that the cue makes."""
        change = self.at(share) - self.rates
        sides = ranked.top[[self.cue]], ranked.bottom[[self.cue]]
        return float(spurious_gaps(change, *sides)[0])

    def strength(self, share: float, ranked: RankedSides, draws: int) -> float:
        """The gap in standard deviations of chance, as the test takes it by so many draws."""
        of_cue = ranked.of_cue(self.cue)
        return float(of_cue.strength(self.at(share), draws)[0])


def smallest_gap(
    rates: PerUnit,
    shows: BoolUnitByCue,
    ranked: RankedSides,
    level: float,
    draws: int,
    rng: Generator,
    *,
    lowers: bool,
) -> float | None:
    """The smallest gap that is found in 8 of 10 draws, had one of the cues made it.

    In each draw the answers are dealt anew, and a cue takes so many of the units without it to no
    (`lowers`), or of those with it to yes. It is found where `level` would call it so, by the null
    of the answers with the cue: where all were alike, those that it changes make the null. None
    where even the largest gap is missed too often.
    """
    planted = [
        _plant(rates, shows, ranked.stratum, rng, lowers=lowers) for _ in range(PLANTED)
    ]
    if not any(cue.gap(1.0, ranked) > 0 for cue in planted):
        return None

    def critical(share: float) -> float:
        maxima = np.concatenate(
            [
                ranked.test(cue.at(share), draws // NULLS, rng).maxima
                for cue in planted[:NULLS]
            ]
        )
        # the answers as they are count as one of the deals, and a tie counts as reached
        reached = int(level * (1 + len(maxima))) - 1
        return float(np.sort(maxima)[::-1][max(reached, 0)])

    def chance_to_find(share: float, least: float) -> float:
        strengths = [cue.strength(share, ranked, draws) for cue in planted]
        return float(np.mean(np.array(strengths) > least))

    share = 1.0
    for _ in range(ROUNDS):
        least = critical(share)
        if chance_to_find(1.0, least) < POWER:
            return None
        low = 0.0
        share = 1.0
        for _ in range(HALVINGS):
            middle = (low + share) / 2
            if chance_to_find(middle, least) >= POWER:
                share = middle
            else:
                low = middle
    return float(np.mean([cue.gap(share, ranked) for cue in planted]))


def _plant(
    rates: PerUnit,
    shows: BoolUnitByCue,
    stratum: IntPerUnit | None,
    rng: Generator,
    *,
    lowers: bool,
) -> PlantedCue:
    """One of the cues, in answers that are dealt within the strata."""
    strata = np.zeros(len(rates), dtype=int) if stratum is None else stratum
    dealt = np.empty(len(rates))
    dealt[np.argsort(strata, kind="stable")] = rates[
        np.lexsort((rng.random(len(rates)), strata))
    ]
    cue = int(rng.integers(shows.shape[1]))
    changes = ~shows[:, cue] if lowers else shows[:, cue]
    luck = rng.random(len(rates))
    return PlantedCue(cue, dealt, changes, luck, answer=0.0 if lowers else 1.0)
