"""Rates that a detector or judge counted, corrected for its known errors."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """A share with its interval, all from 0 to 1."""

    value: float
    low: float
    high: float


def corrected_rate(observed: Rate, sensitivity: Rate, specificity: Rate) -> Rate | None:
    """The true share behind an observed one (Rogan and Gladen, 1978); None where none can be told.

    `sensitivity` is the share of true cases that the judge finds, `specificity` the share of others
    that it leaves alone, each measured against people. The interval carries the doubt of all three:
    their limits are combined as those of a difference are (MOVER: Zou and Donner, 2008), so that a
    judge that was measured on few cases gives a wide one. A judge that may be no better than
    guessing (both lower limits together at most 1) tells nothing.
    """
    if sensitivity.low + specificity.low <= 1:
        return None
    better = sensitivity.value + specificity.value - 1
    share = (observed.value + specificity.value - 1) / better
    # how far the share moves with each of the three
    slopes = (1 / better, -share / better, (1 - share) / better)
    rates = (observed, sensitivity, specificity)
    down = 0.0
    up = 0.0
    for slope, rate in zip(slopes, rates, strict=True):
        below = slope * (rate.value - rate.low)
        above = slope * (rate.high - rate.value)
        # where the share falls as a rate rises, the low end comes from the upper limit
        down += max(below, -above) ** 2
        up += max(above, -below) ** 2
    # an observed rate below the judge's own errors would give a share below 0
    ends = (share, share - math.sqrt(down), share + math.sqrt(up))
    return Rate(*(min(max(end, 0.0), 1.0) for end in ends))
