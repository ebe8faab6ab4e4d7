"""Cues that have a place: among the echoes, and what a programme writes over them."""

from collections.abc import Callable

import numpy as np

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.echoes.weather import LENGTH, rng_of

NUMBERS = np.arange(LENGTH, dtype=np.float32)[:, None, None]
STRIKES = 6
WHITE = (0.95, 0.95, 0.95)
YELLOW = (1.0, 0.95, 0.35)
GREENISH = (0.45, 0.95, 0.60)


def spike(facts: Facts, grid: Grid) -> Field:
    """Echoes along one direction from the radar, as the low sun makes them."""
    own = grid.turned(rng_of(facts, "spike").uniform(0, 2 * np.pi))
    wedge = cover_of(0.4 + 0.07 * own.x - abs(own.y)) * (own.x > 2)
    return wedge * (0.3 + 0.012 * own.x)


def marks(facts: Facts, grid: Grid, light: Light) -> Light:
    """All that are shown, over each frame."""
    for name, mark in MARKS.items():
        if name in facts.cues:
            light = mark(rng_of(facts, name), grid, light)
    return light


def _sweep(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """A ray that turns about the radar, and fades behind."""
    ray = rng.uniform(0, 2 * np.pi) + 0.9 * NUMBERS
    behind = (ray - np.arctan2(grid.y, grid.x)) % (2 * np.pi)
    return paint(light, 0.45 * np.exp(-behind / 0.25), GREENISH)


def _strikes(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """Crosses where lightning was, each in one frame and anywhere."""
    for number in rng.integers(LENGTH, size=STRIKES):
        own = grid.around(*rng.uniform(-14, 14, 2))
        one, other = abs(own.x), abs(own.y)
        arms = np.maximum(
            np.minimum(0.4 - one, 1.6 - other), np.minimum(0.4 - other, 1.6 - one)
        )
        light[number] = paint(light[number], cover_of(arms), YELLOW)
    return light


def _aircraft(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """A point with a trail that crosses straight, not through the middle."""
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    beside = rng.choice((-1, 1)) * rng.uniform(7, 12)
    own = own.around(4.2 * (NUMBERS - rng.uniform(2.5, 3.5)), beside)
    point = cover_of(1.0 - np.hypot(own.x, own.y))
    trail = 0.5 * cover_of(np.minimum(0.2 - abs(own.y), 2.5 - abs(own.x + 2.5)))
    return paint(light, np.maximum(point, trail), WHITE)


def _progress_bar(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """Along the lower edge; it is longer in each frame."""
    side = len(grid.y)
    bar = (grid.y > side / 2 - 2.2) & (abs(grid.x) < side / 2 - 3)
    done = bar & (grid.x + side / 2 - 3 < (side - 6) * (NUMBERS + 1) / LENGTH)
    light = paint(light, np.where(bar, 0.8, 0.0), (0.25, 0.25, 0.28))
    return paint(light, np.where(done, 0.9, 0.0), WHITE)


MARKS: dict[str, Callable[[np.random.Generator, Grid, Light], Light]] = {
    "sweep": _sweep,
    "strikes": _strikes,
    "aircraft": _aircraft,
    "progress bar": _progress_bar,
}
