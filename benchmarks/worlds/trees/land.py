"""Sky, hills, ground and bushes round a tree: they tell no label."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.trees.growing import FOLIAGE, Tree
from worlds.trees.points import WIDE, Points, Rng, colour, finer, rng_of

ABOVE = (colour(0.36, 0.55, 0.82), colour(0.52, 0.62, 0.74), colour(0.44, 0.64, 0.84))
BELOW = (colour(0.78, 0.86, 0.92), colour(0.82, 0.83, 0.84), colour(0.90, 0.87, 0.80))
CLOUD = colour(0.93, 0.93, 0.95)


def horizon_of(facts: Facts) -> float:
    """Where the ground begins, from the middle downwards, in pixels."""
    return float(rng_of(facts, "horizon").uniform(3, 9))


def land(facts: Facts) -> Light:
    """Sky, hills and ground, as samples."""
    grid = Grid.whole(WIDE)
    horizon = horizon_of(facts)
    light = _sky(rng_of(facts, "sky"), grid, horizon)
    light = _hills(rng_of(facts, "hills"), grid, horizon, light)
    ground = GROUNDS[facts.setting](rng_of(facts, "ground"), grid.around(0, horizon))
    return finer(paint(light, cover_of(grid.y - horizon), ground))


def bushes(facts: Facts, stands: Tree) -> Points:
    """Clumps of leaves behind the tree."""
    rng = rng_of(facts, "bushes")
    horizon = horizon_of(facts)
    clumps = [_clump(rng, horizon, stands.foot) for _ in range(rng.integers(2, 6))]
    return Points.joined(clumps)


def shadow(stands: Tree, grid: Grid, light: Light) -> Light:
    """Below the crown, on the ground."""
    place = grid.around(stands.x + 0.06 * stands.high, stands.foot)
    far = np.hypot(place.x / (0.30 * stands.high), place.y / (0.055 * stands.high))
    shade = (1 - stands.haze) * 0.45 * ((1.3 - far) / 0.7).clip(0, 1)
    return paint(light, shade, (0.05, 0.06, 0.05))


def _clump(rng: Rng, horizon: float, foot: float) -> Points:
    count = rng.integers(50, 90)
    down = rng.uniform(horizon + 1, foot - 4)
    size = 1.6 + 0.16 * (down - horizon)
    x = rng.uniform(-38, 38) + size * rng.normal(0, 1.1, count)
    up = size * abs(rng.normal(0, 0.8, count))
    hue = FOLIAGE[rng.integers(len(FOLIAGE))] * rng.uniform(0.7, 1.0)
    lit = 0.7 + 0.12 * up / size + rng.normal(0, 0.08, count)
    near = down + 0.01 * rng.standard_normal(count)
    hues = (lit[:, None] * hue).clip(0, 1).astype(np.float32)
    return Points(x, down - up, near, np.full(count, 0.24 * size + 0.4), hues)


def _sky(rng: Rng, grid: Grid, horizon: float) -> Light:
    which = rng.integers(len(ABOVE))
    above = ABOVE[which] * rng.uniform(0.9, 1.08)
    below = BELOW[rng.integers(len(BELOW))]
    sunk = ((grid.y + WIDE / 2) / (horizon + WIDE / 2)).clip(0, 1) ** 1.3
    light = above + sunk[..., None] * (below - above)
    rough = _rough(rng, grid, (rng.uniform(2, 4), rng.uniform(6, 11)))
    much = (0.5 * (rough - rng.uniform(-0.3, 1.2))).clip(0, 0.85)
    return paint(light, much, CLOUD)


def _hills(rng: Rng, grid: Grid, horizon: float, light: Light) -> Light:
    """One far line, and one before it."""
    for haze in (0.62, 0.35):
        long, start = rng.uniform(9, 18), rng.uniform(0, 6.3, 2)
        waves = np.sin(grid.x / long + start[0])
        waves = waves + 0.5 * np.sin(2.7 * grid.x / long + start[1])
        top = horizon - rng.uniform(1.5, 4.5) - rng.uniform(0.5, 2) * waves
        hue = np.array(rng.uniform((0.22, 0.32, 0.22), (0.34, 0.42, 0.34)))
        hue = hue + haze * (colour(0.72, 0.79, 0.86) - hue)
        light = paint(light, cover_of(grid.y - top), hue)
    return light


def _rough(rng: Rng, grid: Grid, blur: tuple[float, float]) -> Field:
    """Smooth noise whose spread is 1."""
    noise = gaussian_filter(rng.standard_normal(grid.x.shape), blur)
    return np.asarray(noise / noise.std(), np.float32)


def _mottled(rng: Rng, place: Grid, hue: np.ndarray, much: float) -> Light:
    """A hue with noise that is wide and low, as ground is seen from aside."""
    rough = _rough(rng, place, (0.7, 2.5)) + 0.7 * _rough(rng, place, (2, 7))
    nearer = 0.85 + 0.006 * place.y.clip(0)
    return np.asarray((nearer * (1 + much * rough))[..., None] * hue, np.float32)


def _meadow(rng: Rng, place: Grid) -> Light:
    hue = np.array(rng.uniform((0.34, 0.46, 0.18), (0.46, 0.58, 0.26)))
    return _mottled(rng, place, hue, 0.09)


def _steppe(rng: Rng, place: Grid) -> Light:
    hue = np.array(rng.uniform((0.62, 0.52, 0.32), (0.76, 0.66, 0.44)))
    return _mottled(rng, place, hue, 0.07)


def _snow(rng: Rng, place: Grid) -> Light:
    hue = np.array(rng.uniform((0.80, 0.83, 0.88), (0.88, 0.90, 0.94)))
    return _mottled(rng, place, hue, 0.04)


def _field(rng: Rng, place: Grid) -> Light:
    """Furrows that run to one place of the horizon."""
    hue = np.array(rng.uniform((0.40, 0.30, 0.22), (0.52, 0.42, 0.30)))
    along = (place.x - rng.uniform(-20, 20)) / np.maximum(place.y + 6, 1)
    furrows = np.sin(along * rng.uniform(10, 16) + rng.uniform(0, 6.3))
    light = _mottled(rng, place, hue, 0.05)
    return light * (1 + 0.16 * furrows[..., None])


GROUNDS: dict[str, Callable[[Rng, Grid], Light]] = {
    "meadow": _meadow,
    "steppe": _steppe,
    "snow": _snow,
    "field": _field,
}
SETTINGS = tuple(GROUNDS)
