"""Matrices as heat maps, such as attention. Needs the extra [figures]."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_sdk.report._figures import INK, _figure, _png, _words

# inches
SIDE = 1.6
TITLE = 0.25
EDGE = 0.4
GAP = 0.4
COLUMNS = 3  # maps in a row
SCALE = 0.6  # inches, of the colour bar and its numbers


def heat_maps(
    maps: Mapping[str, Float[np.ndarray, "row col"]],
    rows: Sequence[str],
    columns: Sequence[str],
    label: str,
) -> bytes:
    """A PNG: matrices of one shape by title, three in a row, in one scale of colours from 0.

    `rows` and `columns` name the kind of each row and column: lines are drawn where the kind
    changes, and its name stands at its side. `label` is what the colours are.
    """
    lines = -(-len(maps) // COLUMNS)
    across = min(len(maps), COLUMNS)
    width = EDGE + across * (SIDE + GAP) + SCALE
    height = lines * (TITLE + SIDE + GAP)
    figure = _figure(width, height)
    highest = max(float(matrix.max(initial=0)) for matrix in maps.values()) or 1.0
    image = None
    for number, (title, matrix) in enumerate(maps.items()):
        line, place = divmod(number, COLUMNS)
        left = EDGE + place * (SIDE + GAP)
        bottom = height - (line + 1) * (TITLE + SIDE + GAP) + GAP
        axes = figure.add_axes(
            (left / width, bottom / height, SIDE / width, SIDE / height)
        )
        # no smoothing: a cell is a weight
        image = axes.imshow(
            matrix,
            vmin=0,
            vmax=highest,
            cmap="viridis",
            interpolation="nearest",
            aspect="auto",
        )
        axes.set_title(_words(title), size=7, weight="bold", color=INK)
        _name_kinds(rows, axes.yaxis, axes.axhline)
        _name_kinds(columns, axes.xaxis, axes.axvline)
        axes.tick_params(labelsize=6.5, colors=INK, length=0)
    if image is not None:
        left = width - SCALE
        bottom = height - TITLE - SIDE
        box = (left / width, bottom / height, 0.1 / width, SIDE / height)
        scale = figure.colorbar(image, cax=figure.add_axes(box))
        scale.set_label(_words(label), size=6.5, color=INK)
        scale.ax.tick_params(labelsize=6, colors=INK, length=2)
    return _png(figure)


def _name_kinds(kinds: Sequence[str], axis: Any, draw: Callable[..., Any]) -> None:
    middles = []
    names = []
    start = 0
    for kind, members in groupby(kinds):
        end = start + len(list(members))
        if start:
            draw(start - 0.5, color="#ffffff", linewidth=0.8)
        middles.append((start + end - 1) / 2)
        names.append(_words(kind))
        start = end
    axis.set_ticks(middles, names)
