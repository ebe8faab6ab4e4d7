"""Whether a mean lies above zero, by the interval that a report prints beside it."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._intervals import change_interval
from cuescope_sdk.statistics._power import detectable, smallest_effect
from cuescope_sdk.statistics._shapes import PerSample

BISECTIONS = 12  # of a p-value, on a scale of powers of ten
LEAST_P = 1e-6
PLANTED = 50  # draws of a planted mean
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class MeanAboveZero:
    """Whether the mean of values from -1 to 1 is above 0, by its one-sided `change_interval`.

    Not by flipping signs, which takes values for symmetric: many small gains beside a rare large
    loss have mean 0, and a run without the loss would look like a gain.
    """

    values: PerSample
    groups: Groups

    def holds(self, level: float) -> bool:
        """Whether the interval at this one-sided level lies above 0."""
        # a two-sided interval has half of its error on each side
        low, _ = change_interval(self.values, self.groups, confidence=1 - 2 * level)
        return low is not None and low > 0

    def p_value(self) -> float | None:
        """Of a mean of 0 or less: the smallest level that holds; None for fewer than two groups.

        A test by inverting an interval (Lehmann and Romano, 2005, 3.5).
        """
        if self.groups.count < 2:
            return None
        # the bisection needs a lower end at which the mean is not found
        if self.holds(LEAST_P):
            return LEAST_P
        # short of 0.5, where the interval would have a confidence of 0
        if not self.holds(0.5 - TIE):
            return 1.0
        # on a scale of powers: between LEAST_P and 1 / 2, beyond which no mean is above 0
        low = np.log(LEAST_P)
        high = np.log(0.5)
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if self.holds(float(np.exp(middle))):
                high = middle
            else:
                low = middle
        # the end at which the mean is found: p is rounded up, never down
        return float(np.exp(high))

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
            limits.append(smallest_effect(partial(planted._holds_once_shifted, level)))
        return detectable(limits)

    def _holds_once_shifted(self, level: float, shift: float) -> bool:
        # the interval reckons with values from -1 to 1
        return replace(self, values=np.clip(self.values + shift, -1, 1)).holds(level)
