"""Two streets that cross, and what stands at their corners: it tells no label.

The streets lie along x and y of their grid, whose fields are float (frame, row, col); one frame
stands for all where the camera stands still.
"""

from collections.abc import Callable

import numpy as np

from cuescope_sdk import generator
from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts

HALF = 5.5  # of a street's width, in pixels
LINE = 8.2  # from the middle, where cars wait
ASPHALT = (0.36, 0.36, 0.38)
KERB = (0.66, 0.64, 0.60)
WHITE = (0.85, 0.85, 0.82)
WAVES = 5


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a clip has its own, so that no cue moves another part."""
    return generator(facts.seed, "crossings", part)


def streets(facts: Facts, grid: Grid) -> Light:
    """What is there before anything drives, float (frame, row, col, 3)."""
    rng = rng_of(facts, "streets")
    light = CORNERS[facts.setting](rng, grid)
    outside = np.minimum(abs(grid.x), abs(grid.y)) - HALF
    worn = 1 + 0.07 * _rough(rng, grid, 3.0)
    light = paint(light, cover_of(0.9 - outside), KERB)
    light = paint(light, cover_of(-outside), worn[..., None] * ASPHALT)
    light = paint(light, 0.8 * _markings(grid), WHITE)
    return light * rng.uniform(0.88, 1.1)


def _markings(grid: Grid) -> Field:
    """Dashes between lanes, and lines where cars wait."""
    cover = np.zeros_like(grid.x)
    for along, across in ((grid.x, grid.y), (grid.y, -grid.x)):
        is_arm = abs(along) > HALF + 1.5
        dashes = cover_of(0.3 - abs(across)) * (abs(along) % 4 < 2.2)
        # traffic keeps to the right
        own_lane = (across * np.sign(along) < -0.4) & (abs(across) < HALF - 0.6)
        stops = cover_of(0.4 - abs(abs(along) - LINE + 0.8)) * own_lane
        cover = np.maximum(cover, np.maximum(dashes * is_arm, stops))
    return cover


def _rough(rng: np.random.Generator, grid: Grid, size: float) -> Field:
    """Smooth chance, of a spread of about 1, of waves as long as the size and longer."""
    rough = np.zeros_like(grid.x)
    for _ in range(WAVES):
        angle, phase = rng.uniform(0, 2 * np.pi, 2)
        along = grid.x * np.cos(angle) + grid.y * np.sin(angle)
        rough += np.sin(2 * np.pi * along / (size * rng.uniform(1, 2.5)) + phase)
    return rough / np.sqrt(WAVES / 2)


def _plain(grid: Grid, colour: tuple, rough: Field) -> Light:
    return np.asarray(colour, np.float32) * (1 + rough[..., None])


def _park(rng: np.random.Generator, grid: Grid) -> Light:
    """Grass, and crowns of trees."""
    light = _plain(grid, (0.33, 0.47, 0.22), 0.10 * _rough(rng, grid, 3.0))
    for _ in range(7):
        x, y = rng.choice((-1, 1), 2) * rng.uniform(8, 17, 2)
        far = np.hypot(grid.x - x, grid.y - y)
        crown = cover_of(rng.uniform(1.6, 3.0) - far)
        light = paint(light, 0.85 * crown, (0.14, rng.uniform(0.27, 0.36), 0.13))
    return light


def _roofs(rng: np.random.Generator, grid: Grid) -> Light:
    """A house at each corner, a half of its roof in the sun."""
    light = _plain(grid, (0.50, 0.48, 0.44), 0.05 * _rough(rng, grid, 3.0))
    for x in (-13.5, 13.5):
        for y in (-13.5, 13.5):
            own = grid.around(x, y)
            house = cover_of(5.2 - np.maximum(abs(own.x), abs(own.y)))
            sunny = own.x > 0 if rng.random() < 0.5 else own.y > 0
            tone = rng.uniform(0.8, 1.2) * np.array((0.42, 0.34, 0.30), np.float32)
            roof = tone * np.where(sunny, 1.25, 0.85)[..., None]
            light = paint(light, house, roof)
    return light


def _square(rng: np.random.Generator, grid: Grid) -> Light:
    """Paving stones."""
    light = _plain(grid, (0.60, 0.57, 0.50), 0.05 * _rough(rng, grid, 3.0))
    size = rng.uniform(3, 4)
    joint = np.minimum(grid.x % size, grid.y % size)
    return paint(light, 0.5 * cover_of(0.2 - joint), (0.38, 0.36, 0.33))


def _works(rng: np.random.Generator, grid: Grid) -> Light:
    """Sand with ruts, and grey slabs."""
    light = _plain(grid, (0.62, 0.52, 0.36), 0.12 * _rough(rng, grid, 2.0))
    for _ in range(6):
        x, y = rng.choice((-1, 1), 2) * rng.uniform(8, 17, 2)
        own = grid.around(x, y).turned(rng.uniform(0, np.pi))
        slab = np.minimum(rng.uniform(1.5, 3.5) - abs(own.x), 1.2 - abs(own.y))
        light = paint(light, cover_of(slab), (0.58, 0.58, 0.60))
    return light


CORNERS: dict[str, Callable[[np.random.Generator, Grid], Light]] = {
    "park": _park,
    "roofs": _roofs,
    "square": _square,
    "works": _works,
}
SETTINGS = tuple(CORNERS)
