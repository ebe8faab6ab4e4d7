"""Test that a mean lies above zero, by the interval that a report prints beside it."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._intervals import change_interval
from cuescope_sdk.statistics._paired import change_p_value
from cuescope_sdk.statistics._power import DetectionLimit
from cuescope_sdk.statistics._shapes import PerSample

PLANTED = 50  # draws of a planted mean


@dataclass(frozen=True, eq=False)
class MeanAboveZero:
    """Test that the mean of values from -1 to 1 is above 0, by its `change_interval`."""

    values: PerSample
    groups: Groups

    def holds(self, level: float) -> bool:
        """True if the interval lies above 0 at a level: the 95% interval at 0.05."""
        low, _ = change_interval(self.values, self.groups, confidence=1 - level)
        return low is not None and low > 0

    def p_value(self) -> float | None:
        """`change_p_value` of a mean above 0: the smallest level that holds.

        None for fewer than two groups.
        """
        if self.groups.count < 2:
            return None
        return change_p_value(self.values, self.groups, alternative="greater")

    def smallest(self, level: float, rng: np.random.Generator) -> float | None:
        """The mean that 8 of 10 audits find at a level, were values scattered as these are.

        None where even values of 1 throughout would be missed.
        """
        if self.groups.count < 2:
            return None
        # without the mean of their own, so that what is planted is all there is to find
        scatter = self.values - self.values.mean()
        members = level_indices(self.groups.codes)
        sizes = np.bincount(self.groups.codes)
        limits = []
        for _ in range(PLANTED):
            codes = rng.integers(self.groups.count, size=self.groups.count)
            drawn = scatter[np.concatenate([members[code] for code in codes])]
            # a group that is drawn twice counts as two groups
            numbers = np.repeat(np.arange(self.groups.count), sizes[codes])
            again = Groups(numbers, self.groups.count, self.groups.declared)
            planted = MeanAboveZero(drawn, again)
            limits.append(
                DetectionLimit.bisect(partial(planted._holds_once_shifted, level))
            )
        return DetectionLimit.of_draws(limits)

    def _holds_once_shifted(self, level: float, shift: float) -> bool:
        # the interval reckons with values from -1 to 1
        return replace(self, values=np.clip(self.values + shift, -1, 1)).holds(level)
