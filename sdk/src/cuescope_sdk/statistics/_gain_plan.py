"""How likely the gain of a remedy will be shown, by draws from the samples that a run has."""

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool
from scipy import stats

from cuescope_sdk.statistics._above_zero import MeanAboveZero
from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._power import POWER
from cuescope_sdk.statistics._shapes import BoolPerSample

DRAWS = 200  # of samples for each chance
RATE = 0.05  # of false findings, at which a cue is one
MOST = 64  # times the groups that there are: where more are needed, nobody counts on


@dataclass(frozen=True)
class Hurdle:
    """A test that a finding has passed: its normal deviate, and the one that would `just` pass."""

    deviate: float
    just: float

    @classmethod
    def of_finding(cls, p_value: float, q_value: float) -> "Hurdle":
        """By its p-value among others, where the threshold is that of its rank."""
        threshold = min(RATE, RATE * p_value / q_value) if q_value > 0 else RATE
        # a p-value may be too small for a number
        smallest = max(p_value, np.finfo(float).tiny)
        return cls(float(stats.norm.isf(smallest)), float(stats.norm.isf(threshold)))

    def chance(self, share: float) -> float:
        """How likely a `share` of the samples passes it again."""
        return float(stats.norm.cdf(np.sqrt(share) * self.deviate - self.just))

    def passes_without(
        self, folds: int, share: float, rng: np.random.Generator
    ) -> Bool[np.ndarray, " fold"]:
        """Whether it is passed without each of so many parts, in one draw of a `share` of samples.

        The deviate of parts together is the sum of theirs over the root of their number, so that
        two runs that share most of their parts pass it together, or not.
        """
        mean = self.deviate * np.sqrt(share / folds)
        parts = rng.normal(mean, 1.0, size=folds)
        without = (parts.sum() - parts) / np.sqrt(folds - 1)
        return np.asarray(without >= self.just)


@dataclass(frozen=True, eq=False)
class GainPlan:
    """The samples of a run that show a cue: which of them are `right`, and their groups.

    A share `tested` of groups is left to measure on, by chance; a gain is shown at a `level`, where
    `least` samples or more are measured. The cue is looked for again in a share `searched` of the
    data; in all of them it was found with a p-value and a q-value, None where it is known. With
    `folds` it is looked for without each of so many parts, and measured in those without which it
    is found.
    """

    right: BoolPerSample
    groups: Groups
    tested: float
    level: float
    least: int
    searched: float = 1.0
    found: tuple[float, float] | None = None
    folds: int | None = None
    _known: dict[tuple[int, int], bool] = field(default_factory=dict)

    def power(self, mended: float, groups: int, rng: np.random.Generator) -> float:
        """The chance that the cue is found and a gain shown, of so many groups that show the cue.

        They are drawn from those of the run. Of the wrong answers a share is `mended`, of the right
        ones none is lost.
        """
        members = level_indices(self.groups.codes)
        shown = 0
        for _ in range(DRAWS):
            count = self._measured(groups, rng)
            codes = rng.integers(self.groups.count, size=count)
            if not count:
                continue
            rows = [members[code] for code in codes]
            right = self.right[np.concatenate(rows)]
            is_mended = ~right & (rng.random(len(right)) < mended)
            shown += self._holds(is_mended, [len(row) for row in rows])
        # by folds it is a matter of the draw where the cue is found
        found = 1.0 if self.folds else self.chance_found(groups)
        return found * shown / DRAWS

    def _measured(self, groups: int, rng: np.random.Generator) -> int:
        """How many of so many groups are measured, in one draw."""
        if self.folds is None:
            return int(rng.binomial(groups, self.tested))
        share = groups / self.groups.count
        found = np.ones(self.folds, bool)
        if self.found is not None:
            hurdle = Hurdle.of_finding(*self.found)
            found = hurdle.passes_without(self.folds, share, rng)
        # parts are dealt by chance: one may have more of the cue than another
        part = rng.integers(self.folds, size=groups)
        return int(found[part].sum())

    def chance_found(self, groups: int) -> float:
        """How likely the cue is found again, in data of which so many groups show it.

        With `folds` it is that of each run without a part.
        """
        searched = 1 - 1 / self.folds if self.folds else self.searched
        share = searched * groups / self.groups.count
        if self.found is None:
            return 1.0
        return Hurdle.of_finding(*self.found).chance(share)

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
