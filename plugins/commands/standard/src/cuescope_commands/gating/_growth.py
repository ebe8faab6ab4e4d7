"""How much more cues cost than before, sample by sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cuescope_commands.comparing._pairs import Pairs
from cuescope_commands.comparing._runs import BASELINE, Row
from cuescope_commands.gating._bounds import SHOWN, Bound, groups_of, one_sided
from cuescope_sdk.statistics import Groups, gap_intervals


@dataclass(frozen=True)
class Watched:
    """A cue whose growth is measured, and the chance that its lower end is too high."""

    name: str
    shown: frozenset[str]
    error: float


@dataclass(frozen=True, eq=False)
class Changes:
    """The answers that two runs have in common: +1 where one became right, -1 where wrong."""

    first: Sequence[Row]
    change: np.ndarray

    @classmethod
    def of_pairs(cls, pairs: Pairs) -> "Changes":
        """Of the samples as they are."""
        rows = []
        change = []
        for before, after in pairs.rows:
            if before["condition"] == BASELINE:
                rows.append(before)
                # a question that is right in both or wrong in both is no change
                change.append(float(after["correct"]) - float(before["correct"]))
        return cls(rows, np.array(change))

    @cached_property
    def groups(self) -> Groups:
        """What was drawn together."""
        return groups_of(self.first)

    def present(self, shown: frozenset[str]) -> np.ndarray:
        """Whether each sample shows a cue."""
        return np.array([row["sample"] in shown for row in self.first], dtype=bool)

    def growth(self, shown: frozenset[str]) -> float | None:
        """How many points more a cue costs; None where all samples show it, or none does."""
        # a cue that all samples show has nothing to be compared with
        present = self.present(shown)
        if not 0 < present.sum() < len(present):
            return None
        growth = self.change[~present].mean() - self.change[present].mean()
        return 100 * float(growth)

    def bound(self, cue: Watched, error: float) -> Bound | None:
        """The growth; its upper end is too low with chance `error`, for this cue alone."""
        growth = self.growth(cue.shown)
        if growth is None:
            return None
        # numbers from 0 to 1: a change is from -1 to 1
        shares = (self.change + 1) / 2
        present = self.present(cue.shown)[:, None]
        low, high = one_sided(
            lambda miss: gap_intervals(
                shares, present, self.groups, confidence=1 - 2 * miss
            ),
            cue.error,
            error,
        )
        samples = [r["sample"] for r in self.first if r["sample"] in cue.shown]
        # twice: half the scale from 0 to 1 is the whole from -1 to 1
        ends = (200 * float(low[0]), 200 * float(high[0]))
        return Bound(f"growth of {cue.name}", growth, *ends, tuple(samples[:SHOWN]))
