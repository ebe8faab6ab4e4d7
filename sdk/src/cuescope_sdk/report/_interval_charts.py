"""Figures with their intervals, row by row. Needs the extra [figures]."""

from collections.abc import Mapping

import numpy as np

from cuescope_sdk.report._figures import COLOURS, FAINT, INK, _figure, _png, _style, _words

Ends = tuple[float, float, float]  # value, low, high
# inches
ROW = 0.16
SERIES = 0.1
HEAD = 0.45
FOOT = 0.4


def interval_chart(rows: Mapping[str, Mapping[str, Ends]], title: str, xlabel: str) -> bytes:
    """A PNG: in each row a dot and its interval for each series (value, low, high).

    A line stands at 0; the first row is on top.
    """
    series = list(dict.fromkeys(name for row in rows.values() for name in row))
    tall = ROW + SERIES * len(series)
    height = HEAD + FOOT + tall * len(rows)
    figure = _figure(5.2, height)
    axes = figure.add_axes((0.3, FOOT / height, 0.66, tall * len(rows) / height))
    _style(axes, xlabel)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.axvline(0, color=INK, linewidth=0.8)
    for number, name in enumerate(series):
        known = [(place, row[name]) for place, row in enumerate(rows.values()) if name in row]
        # the series of a row stand below each other
        at = np.array([place for place, _ in known]) + _offset(number, len(series))
        value, low, high = np.array([ends for _, ends in known]).T
        colour = COLOURS[number % len(COLOURS)]
        axes.hlines(at, low, high, color=colour, linewidth=1.1)
        axes.plot(value, at, "o", color=colour, markersize=3.2, label=_words(name))
    axes.set_yticks(range(len(rows)), [_words(name) for name in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    figure.text(0.01, 1 - 0.17 / height, _words(title), size=8, weight="bold", color=INK)
    figure.legend(
        loc="upper right",
        ncols=min(len(series), 3),
        fontsize=6.5,
        frameon=False,
        labelcolor=INK,
        bbox_to_anchor=(0.97, 1 - 0.2 / height),
        borderaxespad=0,
        handlelength=1,
    )
    return _png(figure)


def _offset(number: int, count: int) -> float:
    return 0.6 * ((number + 0.5) / count - 0.5)
