"""Pictures as arrays: their types, and numbers as bytes again."""

import numpy as np
from jaxtyping import Bool, Float, UInt8

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]


def as_bytes(levels: Float[np.ndarray, "..."]) -> UInt8[np.ndarray, "..."]:
    """Grey levels, rounded."""
    # clipped: beyond 255 a byte would begin again at 0
    whole = np.rint(levels.clip(0, 255))
    return np.asarray(whole.astype(np.uint8))
