"""What X-rays pass: each material absorbs of three colours, and what lies over another adds up.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

import numpy as np

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, cover_of
from worlds.design import Facts

Load = np.ndarray  # absorbance, float (row, col, 3)
# what is shown as orange, green and blue
ORGANIC = np.array((0.22, 0.70, 1.55), np.float32)
MIXED = np.array((1.25, 0.50, 1.05), np.float32)
METAL = np.array((1.60, 1.10, 0.45), np.float32)
MATERIALS = np.stack([ORGANIC, MIXED, METAL])


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "bags", part)


def nothing(grid: Grid) -> Load:
    """Where nothing lies."""
    return np.zeros((*grid.x.shape, 3), np.float32)


def load_of(thick: Field, material: Colour) -> Load:
    """The absorbance of so much of a material."""
    return np.asarray(thick, np.float32)[:, :, None] * material


def rod(depth: Field, radius: float) -> Field:
    """How thick something round is, from 0 to 1, of places that are so deep inside."""
    part = (1 - depth.clip(0, radius) / radius) ** 2
    return cover_of(depth) * np.sqrt(1.15 - part).clip(0, 1)


def disc(grid: Grid, radius: float) -> Field:
    """How deep inside a disc about the middle each place is."""
    return np.asarray(radius - np.hypot(grid.x, grid.y))


def box(grid: Grid, wide: float, high: float) -> Field:
    """How deep inside a box about the middle each place is; half sizes."""
    return np.minimum(wide - abs(grid.x), high - abs(grid.y))
