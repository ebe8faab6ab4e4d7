"""Figures as people read them."""

import math

from cuescope_core.signs import with_sign

MISSING = "not measured"
FINE = 0.01  # two decimals do not tell the ends of an interval apart that is narrower


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
