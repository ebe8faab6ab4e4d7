"""Figures in words, for all reports of this method."""

from cuescope_blind.scores import Gain


def interval_words(gain: Gain) -> str:
    """The gain in points with its interval: "+14.0 points; +11.3 to +16.9"."""
    difference = f"{100 * gain.gain:+.1f} points"
    if gain.low is None or gain.high is None:
        return difference
    return f"{difference}; {100 * gain.low:+.1f} to {100 * gain.high:+.1f}"


def q_words(q_value: float | None) -> str | None:
    """A q-value with its three decimals."""
    # one decimal, as the other columns have, would make all of them 0
    if q_value is None:
        return None
    return "<.001" if q_value < 0.001 else f"{q_value:.3f}"
