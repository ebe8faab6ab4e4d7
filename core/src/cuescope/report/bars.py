"""Figures as people read them, and score bars with intervals on a shared axis."""

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from cuescope_core.conclusions import Score
from cuescope_core.signs import with_sign

MISSING = "not measured"
FINE = 0.01  # two decimals do not tell the ends of an interval apart that is narrower


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale that holds zero and every value of a metric; `ticks` are round numbers on it.

    `decimals` is how many of them tell its values apart, the same for the whole metric.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int = 2

    def percent(self, value: float) -> float:
        """Where a value lies, in percent of the width from the left."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def words(self, value: float) -> str:
        """A value of this metric, written like every other one."""
        return with_sign(value, f",.{self.decimals}f")


@dataclass(frozen=True, slots=True)
class Bar:
    """A score on its axis; positions are percent of the width from the left."""

    text: str
    interval: str | None
    zero: float
    start: float
    end: float
    low: float | None
    high: float | None
    ticks: tuple[float, ...]

    @property
    def spoken(self) -> str:
        """The bar for someone who does not see it."""
        return f"{self.text}, interval {self.interval}" if self.interval else self.text


def axis(values: Iterable[float]) -> Axis:
    """The smallest axis of round steps around zero and all values; 0 to 1 where there are none.

    >>> axis([0.62, -0.1]).ticks
    (-0.2, 0.0, 0.2, 0.4, 0.6, 0.8)
    """
    shown = [0.0, *values]  # bars begin at zero, so zero is always there
    least = min(shown)
    most = max(shown)
    # zeros alone: an axis without width cannot be divided by
    if least == most:
        return Axis(0.0, 1.0, (0.0, 0.5, 1.0))
    step = _round_step((most - least) / 4)
    # a value that sits on a step up to rounding error must not add another step
    first = math.floor(least / step + 1e-9)
    last = math.ceil(most / step - 1e-9)
    # 3 * 0.1 would print its error
    ticks = tuple(round(number * step, 12) for number in range(first, last + 1))
    return Axis(first * step, last * step, ticks, _decimals(most - least))


def bar(score: Score, scale: Axis) -> Bar:
    """The bar of a score; without a value it is empty and says so."""
    zero = scale.percent(0.0)
    text = MISSING
    end = zero
    if score.value is not None:
        text = scale.words(score.value)
        end = scale.percent(score.value)
    interval = low = high = None
    if score.low is not None and score.high is not None:
        low = scale.percent(score.low)
        high = scale.percent(score.high)
        interval = f"{scale.words(score.low)} to {scale.words(score.high)}"
    ticks = tuple(map(scale.percent, scale.ticks))
    return Bar(text, interval, zero, min(zero, end), max(zero, end), low, high, ticks)


def figure(value: float | None) -> str:
    """Two decimals, or three significant digits where those would say nothing.

    >>> figure(0.623), figure(-0.5), figure(0.00123), figure(1234.5), figure(600.0), figure(None)
    ('0.62', '−0.50', '0.00123', '1,234', '600', 'not measured')
    """
    if value is None:
        return MISSING
    size = abs(value)
    if size >= 1000 or (size >= 100 and size % 1 == 0):  # counts
        return with_sign(value, ",.0f")
    return with_sign(value, ".2f" if size >= 0.01 or size == 0 else ".3g")


def with_ends(value: float, low: float, high: float) -> tuple[str, str, str]:
    """A value and the ends of its interval, as exact as the interval is narrow.

    >>> with_ends(0.213, 0.196, 0.231), with_ends(0.0213, 0.0196, 0.0231), with_ends(600, 580, 620)
    (('0.21', '0.20', '0.23'), ('0.021', '0.020', '0.023'), ('600', '580', '620'))
    """
    width = high - low
    if width >= FINE:
        return figure(value), figure(round(low, 2)), figure(round(high, 2))
    if width == 0:
        return figure(value), figure(low), figure(high)
    exact = f".{-math.floor(math.log10(width))}f"
    return with_sign(value, exact), with_sign(low, exact), with_sign(high, exact)


def p_value(value: float | None) -> str | None:
    """A p-value with its sign, three decimals; None stays None.

    >>> p_value(0.0312), p_value(0.0001)
    ('= 0.031', '< 0.001')
    """
    if value is None:
        return None
    # more digits would claim too much
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def short_p_value(value: float | None) -> str:
    """A p-value as narrow columns have it, "" where there is none.

    >>> short_p_value(0.0312), short_p_value(0.0001), short_p_value(None)
    ('0.031', '<.001', '')
    """
    return (p_value(value) or "").removeprefix("= ").replace("< 0", "<")


def _decimals(width: float) -> int:
    """Two up to a width of ten; fewer where values are large, more where they are tiny."""
    power = math.floor(math.log10(width))
    return max(2 - power, 0) if power > 0 else max(1 - power, 2)


def _round_step(width: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least `width`."""
    power = 10.0 ** math.floor(math.log10(width))
    steps = [power, 2.0 * power, 5.0 * power, 10.0 * power]
    # a width that is a step up to rounding error is that step
    return steps[bisect_left(steps, width * (1 - 1e-9))]
