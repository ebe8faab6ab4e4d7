"""Which cells of a grid, or pixels of a frame, are meant."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool
from scipy import ndimage

# of an edge: a mask that covers more lies along it, if it comes near both ends
ALONG = 0.6
NEAR = 4  # a quarter of the frame
EDGES = ("top", "bottom", "left", "right")
TOUCHING = np.ones((3, 3))  # cells of one piece, corners too
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


def pieces_of(mask: Mask) -> list[Mask]:
    """The cells that touch together, corners too; [] of an empty mask."""
    pieces, count = ndimage.label(mask, TOUCHING)
    return [pieces == number for number in range(1, count + 1)]


def edges_of(mask: Mask) -> list[str]:
    """The edges of the frame along which a place lies, of `EDGES`."""
    rows, cols = mask.shape
    # near an edge is along it too: a banner leaves some rows free
    down = rows // NEAR
    across = cols // NEAR
    sides = {
        "top": mask[:down].any(axis=0),
        "bottom": mask[-down:].any(axis=0),
        "left": mask[:, :across].any(axis=1),
        "right": mask[:, -across:].any(axis=1),
    }
    return [name for name, covered in sides.items() if _is_along(np.asarray(covered))]


def _is_along(covered: Bool[np.ndarray, " cell"]) -> bool:
    """True if a place goes from one end of an edge to the other, by the cells that it covers."""
    end = len(covered) // NEAR
    ends = covered[:end].any() and covered[-end:].any()
    return bool(ends and covered.mean() >= ALONG)
