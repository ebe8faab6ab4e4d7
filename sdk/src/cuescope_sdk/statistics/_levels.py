"""Intervals that a report holds, at another level: for many tests together, and for power."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

STORED = 0.95  # level of the intervals that a report holds


def at_error(
    value: float,
    low: float,
    high: float,
    error: float,
    stored: float = STORED,
) -> tuple[float, float]:
    """The ends of an interval of level `stored`, where each is missed with chance `error`.

    Widened as that of a normal mean, on each side by its own width. For several tests together
    `error` is that of all over their number (Bonferroni).
    """
    widen = stats.norm.isf(error) / stats.norm.isf((1 - stored) / 2)
    return value - widen * (value - low), value + widen * (high - value)


def multiplicity(beyond: int, tests: int) -> float:
    """What divides the error of a family of one-sided tests; `beyond` estimates pass their limit.

    A test whose estimate lies within its limit is not made. The others pay twice, since of tests
    at their limit half seem to lie beyond it (Zhao, Small and Su, 2019, "Multiple testing when many
    p-values are uniformly conservative", tau 1/2). For tests of means that hang together little, or
    rise together. Of one or two, all are paid for (Bonferroni).
    """
    return float(max(tests, 1) if tests <= 2 else 2 * max(beyond, 1))


def smallest_found(
    half_widths: Sequence[float],
    error: float,
    power: float,
    stored: float = STORED,
) -> float | None:
    """The effect that half of the tests find with this power; None without a test.

    `half_widths` are those of intervals of level `stored`, of means taken as normal. A test is
    one-sided, at `error` over the number of tests.
    """
    if not half_widths:
        return None
    spread = float(np.median(half_widths)) / stats.norm.isf((1 - stored) / 2)
    needed = stats.norm.isf(error / len(half_widths)) + stats.norm.ppf(power)
    return float(spread * needed)
