"""The map under the echoes: it tells no label."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.echoes.weather import rng_of

LAND = np.array((0.17, 0.18, 0.14), np.float32)
SEA = np.array((0.07, 0.10, 0.20), np.float32)
LINE = (0.36, 0.36, 0.33)
RINGS = (7.5, 15.0)  # pixels from the radar


def ground(facts: Facts, grid: Grid) -> Light:
    """Land and sea, with rings round the radar."""
    rng = rng_of(facts, "ground")
    light = GROUNDS[facts.setting](rng, grid) * rng.uniform(0.8, 1.2)
    far = np.hypot(grid.x, grid.y)
    for ring in RINGS:
        light = paint(light, 0.4 * cover_of(0.1 - abs(far - ring)), LINE)
    return light


def _rough(rng: np.random.Generator, grid: Grid, size: float) -> Field:
    """Smooth chance, of a spread of about 1."""
    rough = rng.standard_normal(grid.x.shape, np.float32)
    return np.asarray(3.5 * size * gaussian_filter(rough, size, mode="wrap"))


def _shores(land: Field) -> Light:
    """Where land is above 0, in pixels, and a line where it ends."""
    light = paint(np.broadcast_to(SEA, (*land.shape, 3)), cover_of(land), LAND)
    return paint(light, cover_of(0.3 - abs(land)), LINE)


def _coast(rng: np.random.Generator, grid: Grid) -> Light:
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    bays = 2 * np.sin(own.x / rng.uniform(2, 4) + rng.uniform(0, 6))
    return _shores(own.y + bays + rng.uniform(-6, 6))


def _islands(rng: np.random.Generator, grid: Grid) -> Light:
    return _shores(3 * (_rough(rng, grid, 3.0) - 0.6))


def _plain(rng: np.random.Generator, grid: Grid) -> Light:
    """Land with roads."""
    light = np.broadcast_to(LAND, (*grid.x.shape, 3))
    for _ in range(3):
        own = grid.around(*rng.uniform(-8, 8, 2)).turned(rng.uniform(0, np.pi))
        bent = own.y + rng.uniform(-0.02, 0.02) * own.x**2
        light = paint(light, 0.7 * cover_of(0.2 - abs(bent)), LINE)
    return light


def _hills(rng: np.random.Generator, grid: Grid) -> Light:
    high = _rough(rng, grid, 1.5)
    return LAND * (1 + 0.22 * high[:, :, None]).clip(0.4, 1.8)


GROUNDS: dict[str, Callable[[np.random.Generator, Grid], Light]] = {
    "coast": _coast,
    "islands": _islands,
    "plain": _plain,
    "hills": _hills,
}
SETTINGS = tuple(GROUNDS)
