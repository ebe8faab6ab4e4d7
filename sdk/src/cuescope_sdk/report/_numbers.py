"""Numbers as sentences print them: a true minus, no negative zero, the interval behind."""

from collections.abc import Callable

from cuescope_core import signs


def with_sign(value: float, decimals: int = 1) -> str:
    """A number with so many decimals.

    >>> with_sign(-2.345), with_sign(-0.04), with_sign(7, 0)
    ('−2.3', '0.0', '7')
    """
    return signs.with_sign(value, f".{decimals}f")


def signed(value: float, decimals: int = 1) -> str:
    """A difference with so many decimals, and its sign in any case but 0.

    >>> signed(2.345), signed(-2.345, 0), signed(-0.04)
    ('+2.3', '−2', '0.0')
    """
    text = with_sign(value, decimals)
    return f"+{text}" if value > 0 and float(text) else text


def hundredths(share: float) -> str:
    """A share from -1 to 1 times 100; with a decimal where it would else read as none or all.

    Rounded as a table rounds the share itself, so that a text never says 2% beside 0.03.

    >>> hundredths(0.718), hundredths(0.998), hundredths(-0.004), hundredths(0)
    ('72', '99.8', '−0.4', '0')
    >>> hundredths(0.025), f"{0.025:.2f}", hundredths(0.075), f"{0.075:.2f}"
    ('3', '0.03', '7', '0.07')
    """
    size = abs(100 * share)
    whole = f"{100 * round(abs(share), 2):.0f}"
    # "0%" of a thousand says never, and "100%" always, so neither may stand for nearly so.
    misleads = whole in ("0", "100") and abs(size - float(whole)) >= 0.05
    return (
        with_sign(100 * share, 1) if misleads else with_sign(100 * round(share, 2), 0)
    )


def interval(
    low: float | None,
    high: float | None,
    write: Callable[[float], str] = with_sign,
) -> str:
    """Interval behind a figure, "" where it has none.

    >>> interval(-1, 2.5), interval(None, None)
    (' [−1.0, 2.5]', '')
    """
    return "" if low is None or high is None else f" [{write(low)}, {write(high)}]"


def percent(
    share: float,
    low: float | None = None,
    high: float | None = None,
    *,
    unit: str = "%",
) -> str:
    """The hundredths of a share, or of a difference, with its unit and its interval.

    >>> percent(0.718), percent(0.004), percent(0.718, 0.65, 0.771)
    ('72%', '0.4%', '72% [65, 77]')
    >>> percent(0.05, -0.01, 0.11, unit=" points")
    '5 points [−1, 11]'
    """
    return f"{hundredths(share)}{unit}{interval(low, high, hundredths)}"
