"""What is seen without any cue, and where: a utensil on a worktop, with bits of food about it.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.kitchens.utensils import HEADS, handle

SIDE = 64
LABELS = tuple(HEADS)
HEAD = 5.0  # sizes from the middle of a utensil to that of its head
LEAST = 0.2  # between how bright worktop and utensil are, where that is not hard


@dataclass(frozen=True)
class Utensil:
    """Where it lies; with a `turn` of 0 its head points to the right."""

    x: float
    y: float
    size: float
    turn: float
    length: float  # of its handle, in sizes
    flip: int  # 1, or -1 where it lies on its other side

    def inside(self, grid: Grid) -> Grid:
        """Places from the middle of its head, x to its tip, in sizes."""
        own = grid.around(self.x, self.y).turned(self.turn)
        return Grid(own.x / self.size - HEAD, self.flip * own.y / self.size)


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "kitchens", part)


def utensil_of(facts: Facts) -> Utensil:
    """About the middle, or far to the left or right."""
    rng = rng_of(facts, "utensil")
    x, y = rng.uniform(-6, 6, 2)
    size = rng.uniform(0.95, 1.2)
    if facts.is_hard:
        size *= 0.8
    turn = rng.uniform(0, 2 * np.pi)
    length, flip = rng.uniform(15, 21), int(rng.choice((-1, 1)))
    if "aside" in facts.cues:
        rng = rng_of(facts, "aside")
        x = rng.choice((-1, 1)) * rng.uniform(14, 16)
    return Utensil(x, y, size, turn, length, flip)


def depth_of(facts: Facts, utensil: Utensil, grid: Grid) -> Field:
    """How deep inside the utensil each pixel is, in pixels."""
    own = utensil.inside(grid)
    head = HEADS[facts.label](own.x, own.y)
    return utensil.size * np.maximum(head, handle(own.x, own.y, utensil.length))


def colours_of(facts: Facts) -> tuple[Colour, Colour, Colour]:
    """Of the worktop, the head and the handle; what is hard is more like the worktop."""
    rng = rng_of(facts, "colours")
    bright = rng.uniform(0.25, 0.9)
    top = _colour(rng, bright, rng.uniform(0.03, 0.35))
    others = [
        value for value in np.linspace(0.08, 1, 24) if abs(value - bright) > LEAST
    ]
    head = _colour(rng, rng.choice(others), rng.choice((0.04, 0.5)))
    grip = _colour(rng, rng.choice(others), rng.choice((0.04, 0.6)))
    if rng.random() < 0.5:
        grip = head
    if facts.is_hard:
        head = head + 0.5 * (top - head)
    return top, head, grip


def worktop(facts: Facts, grid: Grid) -> Light:
    """What all lies on."""
    rng = rng_of(facts, "worktop")
    own = grid.turned(rng.normal(0, 0.15)).around(*rng.uniform(-20, 20, 2))
    tone = WORKTOPS[facts.setting](rng, own)
    return (1 + tone)[:, :, None] * colours_of(facts)[0]


def food(facts: Facts, grid: Grid, light: Light) -> Light:
    """Peas, slices and leaves anywhere."""
    rng = rng_of(facts, "food")
    for _ in range(rng.integers(6, 12) if facts.is_hard else rng.integers(2, 8)):
        own = grid.around(*rng.uniform(-SIDE / 2, SIDE / 2, 2))
        own = own.turned(rng.uniform(0, np.pi))
        size, flat = rng.uniform(1.2, 3.2), rng.choice((1.0, 1.0, 2.2))
        far = np.hypot(own.x, flat * own.y)
        colour = _colour(rng, rng.uniform(0.3, 0.9), 0.7)
        light = paint(light, 0.4 * cover_of(size + 0.8 - far), (0, 0, 0))
        light = paint(light, cover_of(size - far), colour)
        light = paint(light, 0.3 * cover_of(0.5 * size - far), (1, 1, 1))
    return light


def _colour(rng: np.random.Generator, bright: float, saturation: float) -> Colour:
    """Of any hue, and as bright in the mean of its parts."""
    thirds = rng.uniform(0, 2 * np.pi) + np.array((0, 2, 4)) * np.pi / 3
    return bright * (1 + saturation * np.cos(thirds))


def _tiles(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(13, 20)
    row, col = own.y / pitch, own.x / pitch
    table = rng.normal(0, 0.05, (16, 16))
    tone = table[np.floor(row).astype(int) % 16, np.floor(col).astype(int) % 16]
    edge = pitch * np.minimum(0.5 - abs(row % 1 - 0.5), 0.5 - abs(col % 1 - 0.5))
    return tone - rng.uniform(-0.2, 0.35) * cover_of(0.5 - edge)


def _wood(rng: np.random.Generator, own: Grid) -> Field:
    wave = 1.5 * np.sin(own.x / rng.uniform(7, 13) + rng.uniform(0, 6))
    rings = np.sin((own.y + wave) * rng.uniform(0.7, 1.3))
    gap = abs(own.y % 24 - 12)
    return 0.07 * rings * np.abs(rings) - 0.4 * cover_of(0.3 - gap)


def _gingham(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(7, 12)
    wide = (own.x % pitch > pitch / 2) + 1.0 * (own.y % pitch > pitch / 2)
    return rng.uniform(0.06, 0.13) * (wide - 1)


def _stone(rng: np.random.Generator, own: Grid) -> Field:
    """Specks and clouds."""
    slab = rng.standard_normal((2, SIDE, SIDE))
    slab = 0.07 * slab[0] + 0.6 * gaussian_filter(slab[1], 3, mode="wrap")
    rows = np.round(own.y).astype(int) % SIDE
    return slab[rows, np.round(own.x).astype(int) % SIDE]


WORKTOPS: dict[str, Callable[[np.random.Generator, Grid], Field]] = {
    "tiles": _tiles,
    "wood": _wood,
    "gingham": _gingham,
    "stone": _stone,
}
SETTINGS = tuple(WORKTOPS)
