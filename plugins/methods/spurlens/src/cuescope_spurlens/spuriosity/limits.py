"""The smallest gap that would have been found: cues planted in the audit's own answers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool
from numpy.random import Generator

from cuescope_spurlens.scores import RankedSides
from cuescope_spurlens.spuriosity.shapes import CueByUnit, PerCue, PerUnit, UnitByCue

POWER = 0.8
PLANTED = 100  # cues
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
class PlantedCues:
    """Answers that are dealt anew for each cue, and the units in which it changes them to `answer`.

    A unit is changed by cues that change a larger share of the units than its `luck`.
    """

    ranked: RankedSides
    rates: CueByUnit
    changes: Bool[np.ndarray, "cue unit"]
    luck: CueByUnit
    answer: float

    def at(self, share: float) -> CueByUnit:
        """The answers with cues that change this share."""
        changed = self.changes & (self.luck < share)
        return np.where(changed, self.answer, self.rates)

    def gaps(self, share: float) -> PerCue:
        """The gaps that the cues make."""
        change = self.at(share) - self.rates
        cue = np.arange(len(change))[:, None]
        with_cue = change[cue, self.ranked.top].mean(axis=1)
        return np.asarray(with_cue - change[cue, self.ranked.bottom].mean(axis=1))

    def strengths(self, share: float, draws: int) -> PerCue:
        """The gaps in standard deviations of chance, as the test takes it by so many draws."""
        return self.ranked.strengths(self.at(share), draws)


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
    planted = _plant(rates, shows, ranked, rng, lowers=lowers)
    if not (planted.gaps(1.0) > 0).any():
        return None

    def critical(share: float) -> float:
        maxima = np.concatenate(
            [
                ranked.test(answers, draws // NULLS, rng).maxima
                for answers in planted.at(share)[:NULLS]
            ]
        )
        # the answers as they are count as one of the deals, and a tie counts as reached
        reached = int(level * (1 + len(maxima))) - 1
        return float(np.sort(maxima)[::-1][max(reached, 0)])

    def chance_to_find(share: float, least: float) -> float:
        return float((planted.strengths(share, draws) > least).mean())

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
    return float(planted.gaps(share).mean())


def _plant(
    rates: PerUnit,
    shows: BoolUnitByCue,
    ranked: RankedSides,
    rng: Generator,
    *,
    lowers: bool,
) -> PlantedCues:
    """Some of the cues, in answers that are dealt within the strata."""
    units = len(rates)
    strata = np.zeros(units, int) if ranked.stratum is None else ranked.stratum
    places = np.argsort(strata, kind="stable")
    dealt = np.empty((PLANTED, units))
    luck = np.empty((PLANTED, units))
    cues = np.empty(PLANTED, dtype=int)
    for number in range(PLANTED):
        dealt[number, places] = rates[np.lexsort((rng.random(units), strata))]
        cues[number] = rng.integers(shows.shape[1])
        luck[number] = rng.random(units)
    changes = shows[:, cues].T
    return PlantedCues(
        ranked.of_cues(cues),
        dealt,
        ~changes if lowers else changes,
        luck,
        answer=0.0 if lowers else 1.0,
    )
