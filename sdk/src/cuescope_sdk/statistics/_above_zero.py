"""Whether a mean lies above zero, by the interval that a report prints beside it."""

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


def mean_above_zero_p_value(values: PerSample, groups: Groups) -> float | None:
    """Of a mean of 0 or less, of values from -1 to 1; None for fewer than two groups.

    The smallest level whose one-sided `change_interval` lies above 0 (a test by inverting an
    interval: Lehmann and Romano, 2005, 3.5). Not by flipping signs, which takes values for
    symmetric: many small gains beside a rare large loss have mean 0, and a run without the loss
    would look like a gain.
    """
    if groups.count < 2:
        return None
    # the bisection needs a lower end at which the mean is not found
    if is_mean_above_zero(values, groups, LEAST_P):
        return LEAST_P
    # on a scale of powers: between LEAST_P and 1 / 2, beyond which no mean is above 0
    low = np.log(LEAST_P)
    high = np.log(0.5)
    # short of 0.5, where the interval would have a confidence of 0
    if not is_mean_above_zero(values, groups, 0.5 - TIE):
        return 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if is_mean_above_zero(values, groups, float(np.exp(middle))):
            high = middle
        else:
            low = middle
    return float(np.exp(high))


def is_mean_above_zero(values: PerSample, groups: Groups, level: float) -> bool:
    """Whether the mean is above 0 at a one-sided level."""
    low, _ = change_interval(values, groups, confidence=1 - 2 * level)
    return low is not None and low > 0


def smallest_mean_above_zero(
    values: PerSample,
    groups: Groups,
    level: float,
    rng: np.random.Generator,
    *,
    power: float = 0.8,
) -> float | None:
    """The mean that would be found at a level with `power`, were values scattered as these are.

    None where even values of 1 throughout would be missed.
    """
    if groups.count < 2:
        return None
    # without the mean of their own, so that what is planted is all there is to find
    scatter = values - values.mean()
    members = level_indices(groups.codes)
    sizes = np.bincount(groups.codes)
    limits = []
    for _ in range(PLANTED):
        codes = rng.integers(groups.count, size=groups.count)
        drawn = scatter[np.concatenate([members[code] for code in codes])]
        # a group that is drawn twice counts as two groups
        numbers = np.repeat(np.arange(groups.count), sizes[codes])
        again = Groups(numbers, groups.count, groups.declared)
        limits.append(smallest_effect(partial(_is_shift_found, drawn, again, level)))
    return detectable(limits, power)


def _is_shift_found(
    values: PerSample, groups: Groups, level: float, shift: float
) -> bool:
    # the interval reckons with values from -1 to 1
    return is_mean_above_zero(np.clip(values + shift, -1, 1), groups, level)
