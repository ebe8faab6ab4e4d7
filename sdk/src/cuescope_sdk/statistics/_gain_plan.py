"""How likely the gain of a remedy will be shown, by draws from the samples that a run has."""

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from cuescope_sdk.statistics._above_zero import MeanAboveZero
from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._power import POWER
from cuescope_sdk.statistics._shapes import BoolPerSample

DRAWS = 200  # of samples for each chance
RATE = 0.05  # of false findings, at which a cue is one
MOST = 64  # times the groups that there are: where more are needed, nobody counts on


def chance_found_again(p_value: float, q_value: float, share: float) -> float:
    """How likely a finding is one again, in a `share` of samples as many as it was found in.

    Its normal deviate grows with the root of the samples, and varies by 1. What it must exceed is
    the p-value that would just have been a finding, at its rank (Benjamini and Hochberg, 1995).
    """
    just = min(RATE, RATE * p_value / q_value) if q_value > 0 else RATE
    # a p-value may be too small for a number
    deviate = stats.norm.isf(max(p_value, np.finfo(float).tiny))
    return float(stats.norm.cdf(np.sqrt(share) * deviate - stats.norm.isf(just)))


@dataclass(frozen=True, eq=False)
class GainPlan:
    """The samples of a run that show a cue: which of them are `right`, and their groups.

    A share `tested` of groups is left to measure on, by chance; a gain is shown at a `level`, where
    `least` samples or more are measured. The cue is looked for again in a share `searched` of the
    data; in all of them it was found with a p-value and a q-value, None where it is known.
    """

    right: BoolPerSample
    groups: Groups
    tested: float
    level: float
    least: int
    searched: float = 1.0
    found: tuple[float, float] | None = None
    _known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def power(self, mended: float, groups: int, rng: np.random.Generator) -> float:
        """The chance that the cue is found and a gain shown, of so many groups that show the cue.

        They are drawn from those of the run. Of the wrong answers a share is `mended`, of the right
        ones none is lost.
        """
        members = level_indices(self.groups.codes)
        shown = 0
        for _ in range(DRAWS):
            count = rng.binomial(groups, self.tested)
            codes = rng.integers(self.groups.count, size=count)
            if not count:
                continue
            rows = [members[code] for code in codes]
            right = self.right[np.concatenate(rows)]
            is_mended = ~right & (rng.random(len(right)) < mended)
            shown += self._holds(is_mended, [len(row) for row in rows])
        return self.chance_found(groups) * shown / DRAWS

    def chance_found(self, groups: int) -> float:
        """How likely the cue is found again, in data of which so many groups show it."""
        if self.found is None:
            return 1.0
        return chance_found_again(
            *self.found, self.searched * groups / self.groups.count
        )

    def needed(self, mended: float, rng: np.random.Generator) -> int | None:
        """The fewest groups with which a gain is shown 8 times of 10; None where no number is."""
        if self.right.all():
            return None

        def is_enough(count: int) -> bool:
            return self.power(mended, count, rng) >= POWER

        most = self.groups.count
        while not is_enough(most):
            most *= 2
            if most > MOST * self.groups.count:
                return None
        return 1 + bisect_left(range(1, most), True, key=is_enough)

    def _holds(self, gained: BoolPerSample, sizes: list[int]) -> bool:
        if len(gained) < self.least:
            return False
        values = gained.astype(float)
        if len(gained) > len(sizes):
            codes = np.repeat(np.arange(len(sizes)), sizes)
            groups = Groups(codes, len(sizes), self.groups.declared)
            return MeanAboveZero(values, groups).holds(self.level)
        # of samples that stand alone only their number counts
        key = len(gained), int(gained.sum())
        if key not in self._known:
            alone = MeanAboveZero(values, Groups.single(len(gained)))
            self._known[key] = alone.holds(self.level)
        return self._known[key]
