"""Matrices as heat maps, such as attention. Needs the extra [figures]."""

from collections.abc import Mapping, Sequence

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
    drawn = None
    for number, (title, matrix) in enumerate(maps.items()):
        line, place = divmod(number, COLUMNS)
        left = EDGE + place * (SIDE + GAP)
        bottom = height - (line + 1) * (TITLE + SIDE + GAP) + GAP
        axes = figure.add_axes((left / width, bottom / height, SIDE / width, SIDE / height))
        # no smoothing: a cell is a weight
        drawn = axes.imshow(
            matrix, vmin=0, vmax=highest, cmap="viridis", interpolation="nearest", aspect="auto"
        )
        axes.set_title(_words(title), size=7, weight="bold", color=INK)
        for kinds, axis, draw in (
            (rows, axes.yaxis, axes.axhline),
            (columns, axes.xaxis, axes.axvline),
        ):
            ends = [i for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1]]
            for end in ends:
                draw(end - 0.5, color="#ffffff", linewidth=0.8)
            starts = [0, *ends]
            middles = [(a + b - 1) / 2 for a, b in zip(starts, [*ends, len(kinds)], strict=True)]
            axis.set_ticks(middles, [_words(kinds[start]) for start in starts])
        axes.tick_params(labelsize=6.5, colors=INK, length=0)
    if drawn is not None:
        left = width - SCALE
        bottom = height - TITLE - SIDE
        box = (left / width, bottom / height, 0.1 / width, SIDE / height)
        scale = figure.colorbar(drawn, cax=figure.add_axes(box))
        scale.set_label(_words(label), size=6.5, color=INK)
        scale.ax.tick_params(labelsize=6, colors=INK, length=2)
    return _png(figure)
