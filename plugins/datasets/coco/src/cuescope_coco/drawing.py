"""Outlines as an image."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from cuescope_coco.outlines import union


def mask_of(outlines: Sequence[np.ndarray], height: int, width: int) -> Image.Image:
    """The union of the outlines, white on black, RGB."""
    white = union(outlines, height, width).astype(np.uint8) * 255
    return Image.fromarray(white).convert("RGB")
