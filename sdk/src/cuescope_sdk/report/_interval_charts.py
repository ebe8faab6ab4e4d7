"""Figures with their intervals, row by row. Needs the extra [figures]."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from cuescope_sdk.report._figures import (
    FAINT,
    HEADING,
    INK,
    _colour,
    _words,
    add_legend,
    chart_of,
    png_of,
)

Ends = tuple[float, float, float]  # value, low, high


def interval_chart(
    rows: Mapping[str, Mapping[str, Ends]],
    title: str,
    xlabel: str,
) -> bytes:
    """A PNG: in each row a dot and its interval for each series (value, low, high).

    A line stands at 0; the first row is on top.
    """
    series = list(dict.fromkeys(chain.from_iterable(rows.values())))
    tall = 0.16 + 0.1 * len(series)
    figure, axes = chart_of(5.2, 0.9 + tall * len(rows), xlabel)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.axvline(0, color=INK, linewidth=0.8)
    for number, name in enumerate(series):
        # the series of a row stand below each other
        offset = 0.6 * ((number + 0.5) / len(series) - 0.5)
        ends = {
            place + offset: row[name]
            for place, row in enumerate(rows.values())
            if name in row
        }
        value, low, high = np.array(list(ends.values())).T
        axes.errorbar(
            value,
            list(ends),
            xerr=(value - low, high - value),
            fmt="o",
            color=_colour(number),
            markersize=3.2,
            label=_words(name),
        )
    axes.set_yticks(range(len(rows)), [_words(name) for name in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_title(_words(title), loc="left", **HEADING)
    add_legend(figure, "outside upper right", columns=3)
    return png_of(figure)
