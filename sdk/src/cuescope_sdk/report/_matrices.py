"""Matrices as heat maps, such as attention. Needs the extra [figures]."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from jaxtyping import Float

from cuescope_sdk.report._figures import HEADING, SMALL, _words, figure_of, png_of


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
    lines = -(-len(maps) // 3)
    across = min(len(maps), 3)
    figure, grid = figure_of(2 * across + 1, 2.2 * lines, lines, across)
    highest = max(float(matrix.max(initial=0)) for matrix in maps.values()) or 1.0
    for axes in grid.flat[len(maps) :]:
        axes.set_axis_off()
    for axes, (title, matrix) in zip(grid.flat, maps.items(), strict=False):
        # no smoothing: a cell is a weight
        image = axes.imshow(
            matrix, vmin=0, vmax=highest, interpolation="nearest", aspect="auto"
        )
        axes.set_title(_words(title), **HEADING)
        _name_kinds(rows, axes.yaxis, axes.axhline)
        _name_kinds(columns, axes.xaxis, axes.axvline)
        axes.tick_params(labelsize=6.5, length=0)
    scale = figure.colorbar(image, ax=grid)
    scale.set_label(_words(label), **SMALL)
    scale.ax.tick_params(labelsize=6, length=2)
    return png_of(figure)


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
