"""Boxes as networks give them."""

import numpy as np
from jaxtyping import Float
from torch import Tensor


def corners(boxes: Float[Tensor, "box 4"], extent: tuple[int, int]) -> Float[np.ndarray, "box 4"]:
    """(x0, y0, x1, y1) in pixels of (centre x, centre y, width, height) in shares of `extent`."""
    figures = boxes.float().cpu().numpy()
    centres, halves = figures[:, :2], figures[:, 2:] / 2
    return np.asarray(np.hstack((centres - halves, centres + halves)) * (*extent, *extent))
