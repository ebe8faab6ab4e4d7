"""Figures with their intervals, row by row. Needs the extra [figures]."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from cuescope_sdk.report._figures import (
    FAINT,
    INK,
    _colour,
    _figure,
    _head,
    _png,
    _style,
    _words,
)

Ends = tuple[float, float, float]  # value, low, high
# inches
ROW = 0.16
SERIES = 0.1
HEAD = 0.45
FOOT = 0.4


def interval_chart(
    rows: Mapping[str, Mapping[str, Ends]],
    title: str,
    xlabel: str,
) -> bytes:
    """A PNG: in each row a dot and its interval for each series (value, low, high).

    A line stands at 0; the first row is on top.
    """
    series = list(dict.fromkeys(chain.from_iterable(rows.values())))
    tall = ROW + SERIES * len(series)
    height = HEAD + FOOT + tall * len(rows)
    figure = _figure(5.2, height)
    axes = figure.add_axes((0.3, FOOT / height, 0.66, tall * len(rows) / height))
    _style(axes, xlabel)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.axvline(0, color=INK, linewidth=0.8)
    for number, name in enumerate(series):
        # the series of a row stand below each other
        offset = 0.6 * ((number + 0.5) / len(series) - 0.5)
        heights = []
        ends = []
        for place, row in enumerate(rows.values()):
            if name in row:
                heights.append(place + offset)
                ends.append(row[name])
        value, low, high = np.array(ends).T
        colour = _colour(number)
        axes.hlines(heights, low, high, color=colour, linewidth=1.1)
        axes.plot(value, heights, "o", color=colour, markersize=3.2, label=_words(name))
    axes.set_yticks(range(len(rows)), [_words(name) for name in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    _head(figure, title, min(len(series), 3))
    return _png(figure)
