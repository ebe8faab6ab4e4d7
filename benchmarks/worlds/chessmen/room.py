"""The wall and the chessboard before it: they tell no label."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.canvas import Field, Grid, Light, paint
from worlds.chessmen.lathe import FINE, SIDE, Rng, colour, rng_of
from worlds.design import Facts

FAR = 64.0  # pixels that are as wide as they are away
SQUARE = 0.46  # of the way from the viewer to the board
BOARDS = (
    (colour(0.74, 0.60, 0.42), colour(0.60, 0.45, 0.30)),
    (colour(0.66, 0.70, 0.58), colour(0.50, 0.58, 0.48)),
    (colour(0.64, 0.64, 0.64), colour(0.50, 0.51, 0.54)),
    (colour(0.72, 0.60, 0.52), colour(0.60, 0.46, 0.40)),
)


def horizon_of(facts: Facts) -> float:
    """Where the board begins, from the middle downwards, in pixels."""
    return float(rng_of(facts, "horizon").uniform(-9, -2))


def wall(facts: Facts) -> Light:
    """Behind the board and out of focus, on the fine grid."""
    rng = rng_of(facts, "wall")
    light = WALLS[facts.setting](rng, Grid.whole(SIDE))
    light = gaussian_filter(light, (0.9, 0.9, 0))
    return np.asarray(light.repeat(FINE, axis=0).repeat(FINE, axis=1), np.float32)


def board(facts: Facts, grid: Grid, light: Light) -> Light:
    """Squares in perspective, turned; they run into one another far off."""
    rng = rng_of(facts, "board")
    below = np.maximum(grid.y - horizon_of(facts), 0.3)
    ground = Grid(grid.x / below, FAR / below).turned(rng.uniform(0, np.pi / 2))
    first = rng.uniform(0, 2, 2)
    square = SQUARE * rng.uniform(0.85, 1.15)
    pale, deep = BOARDS[rng.integers(len(BOARDS))]
    if "squares" in facts.cues:
        square, deep = 0.65 * square, 0.4 * deep
    waves = [
        np.sin(np.pi * (along / square + start))
        for along, start in zip((ground.x, ground.y), first, strict=True)
    ]
    dark = (0.5 + 4 * waves[0] * waves[1]).clip(0, 1)
    sharp = (below / 24).clip(0, 1)
    mixed = 0.5 + sharp * (dark - 0.5)
    hue = pale + mixed[..., None] * (deep - pale)
    hue = hue * rng.uniform(0.8, 1.05) * (0.75 + 0.25 * sharp[..., None])
    return paint(light, (grid.y > horizon_of(facts)).astype(np.float32), hue)


def _panels(rng: Rng, grid: Grid) -> Light:
    wide = rng.uniform(7, 13)
    at = grid.x / wide + rng.uniform(0, 1)
    shades = rng.uniform(0.8, 1.1, 16)[np.floor(at).astype(int) % 16]
    gap = 1 - 0.5 * (abs(at % 1 - 0.5) > 0.45)
    hue = np.array(rng.uniform((0.46, 0.36, 0.26), (0.66, 0.54, 0.44)))
    return (shades * gap)[..., None] * hue


def _curtain(rng: Rng, grid: Grid) -> Light:
    waves = np.sin(grid.x / rng.uniform(1.4, 2.6) + rng.uniform(0, 6))
    slow = np.sin(grid.x / rng.uniform(4, 7) + grid.y / 40 + rng.uniform(0, 6))
    hue = np.array(rng.uniform((0.42, 0.42, 0.44), (0.64, 0.62, 0.66)))
    return (0.8 + 0.14 * waves + 0.12 * slow)[..., None] * hue


def _books(rng: Rng, grid: Grid) -> Light:
    edges = np.cumsum(rng.uniform(2.5, 6, 26)) - SIDE / 2
    which = np.searchsorted(edges, grid.x[0]) + 1
    hues = rng.uniform((0.30, 0.26, 0.24), (0.62, 0.54, 0.50), (28, 3))
    light = np.repeat(hues[which][None], SIDE, axis=0)
    tops = rng.uniform(-30, -14, 28)[which]
    band = abs(grid.y - tops[None] - 6) < 0.9
    light = paint(light, 0.6 * band, (0.80, 0.70, 0.45))
    return paint(light, (grid.y < tops[None]).astype(np.float32), (0.30, 0.26, 0.22))


def _plants(rng: Rng, grid: Grid) -> Light:
    rough: Field = gaussian_filter(rng.standard_normal(grid.x.shape), 3)
    much = (0.5 + 0.3 * rough / rough.std()).clip(0, 1)[..., None]
    dark = np.array(rng.uniform((0.22, 0.30, 0.20), (0.32, 0.40, 0.28)))
    pale = np.array(rng.uniform((0.45, 0.58, 0.35), (0.70, 0.78, 0.55)))
    return np.asarray(dark + much * (pale - dark), np.float32)


WALLS: dict[str, Callable[[Rng, Grid], Light]] = {
    "panels": _panels,
    "curtain": _curtain,
    "books": _books,
    "plants": _plants,
}
SETTINGS = tuple(WALLS)
