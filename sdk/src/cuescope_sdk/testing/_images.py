"""Tiny real images for the tests of what reads them."""

from pathlib import Path

import numpy as np
from PIL import Image

from cuescope_sdk import generator


def write_image(path: Path, size: tuple[int, int] = (16, 12)) -> Path:
    """An image of noise (width, height), another one for each path's last two parts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = size
    rng = generator(0, "image", *path.parts[-2:])
    Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8)).save(path)
    return path


def write_mask(path: Path, box: tuple[int, int, int, int], size: tuple[int, int]) -> Path:
    """A black image (width, height) that is white in a box (x0, y0, x1, y1)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mask = Image.new("L", size)
    mask.paste(255, box)
    mask.save(path, "PNG")
    return path
