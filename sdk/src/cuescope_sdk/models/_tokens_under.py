"""From a mask in a frame's pixels to the tokens of a model."""

import numpy as np
from jaxtyping import Bool

from cuescope_core.capabilities import HasPatches
from cuescope_core.errors import UserError
from cuescope_core.types import Frame

HALF = 127  # of the grey levels of a mask that was resized: half way is inside


def tokens_under(
    model: HasPatches,
    frame: Frame,
    mask: Bool[np.ndarray, "height width"],
) -> Bool[np.ndarray, "row col"]:
    """The tokens of a frame under a mask over its pixels, on the grid of `patch_features`.

    What the network does not see of the frame is left out. Raises UserError for a mask of another
    size.
    """
    width, height = frame.load().size
    if mask.shape != (height, width):
        raise UserError(
            "a mask that does not fit its frame",
            expected=f"{height} x {width} (rows x columns)",
            got=" x ".join(map(str, mask.shape)),
        )
    drawn = np.repeat(np.uint8(255) * mask[..., None], 3, axis=2)
    [canvas] = model.canvas([Frame.from_array(drawn)])
    [features] = model.patch_features([frame])
    rows, cols = features.shape[:2]
    return cells_under(canvas[..., 0] > HALF, (rows, cols))


def cells_under(
    mask: Bool[np.ndarray, "height width"], grid: tuple[int, int]
) -> Bool[np.ndarray, "row col"]:
    """The cells of a grid that have any of their pixels under a mask."""
    rows, cols = grid
    height, width = mask.shape
    row = np.arange(height) * rows // height
    col = np.arange(width) * cols // width
    under = np.zeros(grid, dtype=bool)
    # unbuffered: many pixels fall into one cell
    np.logical_or.at(under, (row[:, None], col), mask)
    return under
