"""Pictures as arrays: their types, and numbers as bytes again."""

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]
Levels = Float[np.ndarray, " pixel"]  # of one channel


def as_bytes(levels: Float[np.ndarray, "..."]) -> UInt8[np.ndarray, "..."]:
    """Grey levels, rounded."""
    # clipped: beyond 255 a byte would begin again at 0
    whole = np.rint(levels.clip(0, 255))
    return np.asarray(whole.astype(np.uint8))


def cells_of(image: Image.Image, side: int) -> Float[np.ndarray, "row col 3"]:
    """The mean colours of a grid of so many cells a side."""
    small = image.resize((side, side), Image.Resampling.BOX)
    return np.asarray(small, np.float64)
