"""Which cells of a grid, or pixels of a frame, are meant."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

Mask = Bool[np.ndarray, "_row _col"]


def stretch(
    grid: np.ndarray,
    size: Sequence[int],
) -> np.ndarray:
    """A grid at another size, (row, col): of each cell the nearest one's value."""
    cells = []
    for count, wanted in zip(grid.shape, size, strict=True):
        # whole numbers: a rounded float may name a cell beyond the last one
        cells.append(np.arange(wanted) * count // wanted)
    return grid[np.ix_(*cells)]
