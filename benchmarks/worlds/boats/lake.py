"""The sky, the far shore and the lake that mirrors them: they tell no label."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.boats.polygons import SIDE, Rng, Shape, box, colour, painted, rng_of, shape
from worlds.canvas import Colour, Field, Light, paint
from worlds.design import Facts

DEEP = colour(0.10, 0.22, 0.28)  # of the water
ROWS = np.arange(SIDE, dtype=np.float32)[:, None]
COLUMNS = np.arange(SIDE, dtype=np.float32)[None]


def horizon_of(facts: Facts) -> int:
    """The first row of water."""
    return int(rng_of(facts, "horizon").integers(27, 33))


def far(facts: Facts) -> Light:
    """All behind the water, as if there were none."""
    rng = rng_of(facts, "far")
    level = horizon_of(facts)
    above = colour(*rng.uniform((0.30, 0.48, 0.68), (0.50, 0.66, 0.90)))
    below = colour(*rng.uniform((0.70, 0.74, 0.74), (0.92, 0.90, 0.92)))
    part = (ROWS / level).clip(0, 1)[:, :, None] * np.ones((1, SIDE, 1), np.float32)
    light = above + part * (below - above)
    rough = gaussian_filter(rng.standard_normal((SIDE, SIDE), np.float32), (2, 6))
    clouds = (rough / rough.std() - rng.uniform(0.2, 1.2)).clip(0, 1)
    light = paint(light, 0.6 * clouds, colour(0.95, 0.95, 0.95))
    return painted(light, SHORES[facts.setting](rng, level))


def water(facts: Facts, behind: Light) -> Light:
    """What is behind, upside down and dark."""
    level = horizon_of(facts)
    rows = (2 * level - 1 - np.arange(SIDE)).clip(0, SIDE - 1)
    near = ((ROWS - level) / (SIDE - level)).clip(0, 1)
    rng = rng_of(facts, "water")
    return paint(behind[rows], rng.uniform(0.25, 0.4) + 0.3 * near, DEEP)


def rippled(facts: Facts, light: Light) -> Light:
    """Waves move what is mirrored to the sides, the further the nearer they are."""
    rng = rng_of(facts, "ripples")
    level = horizon_of(facts)
    near = (ROWS - level + 2).clip(1)
    waves = 26 * np.log(near) + rng.uniform(0, 6.3) + 0.12 * COLUMNS
    bent = gaussian_filter(rng.standard_normal((SIDE, SIDE), np.float32), (1, 4))
    shift = (0.4 + 0.03 * near) * np.sin(0.5 * waves + 12 * bent)
    light = _shifted(light, shift)
    if "choppy" in facts.cues:
        light = light + _chop(facts, near)[:, :, None]
    return light


def _chop(facts: Facts, near: Field) -> Field:
    """Short crests that catch the light, with dark between them."""
    rng = rng_of(facts, "choppy")
    rough = rng.standard_normal((SIDE, SIDE), np.float32)
    crests = gaussian_filter(rough, (0.5, 1.6))
    crests = crests / crests.std()
    much = rng.uniform(0.09, 0.12)
    return much * crests.clip(-1, 2.2) * (0.5 + near / 36)


def _shifted(light: Light, shift: Field) -> Light:
    """Each pixel from so far to the right."""
    columns = (COLUMNS + shift).clip(0, SIDE - 1.001)
    left = columns.astype(int)
    part = (columns - left)[:, :, None]
    rows = np.arange(SIDE)[:, None]
    moved: Light = light[rows, left] * (1 - part) + light[rows, left + 1] * part
    return moved


def _dim(rng: Rng, hue: Colour) -> Colour:
    """As seen from afar."""
    dim: Colour = hue + rng.uniform(0.2, 0.4) * (colour(0.75, 0.8, 0.84) - hue)
    return dim


def _hills(rng: Rng, level: int) -> list[Shape]:
    ranges = []
    for high, green in ((9, 0.46), (5, 0.36)):
        x = np.linspace(-2, SIDE + 2, 12)
        waves = np.sin(x / rng.uniform(6, 12) + rng.uniform(0, 6.3))
        top = level - high * (0.7 + 0.3 * waves) * rng.uniform(0.7, 1.1)
        corners = [*zip(x, top, strict=True), (SIDE + 2, level), (-2, level)]
        ranges.append(shape(corners, _dim(rng, colour(0.26, green, 0.30))))
    return ranges


def _town(rng: Rng, level: int) -> list[Shape]:
    houses = []
    left = rng.uniform(-5, 0)
    while left < SIDE:
        wide, high = rng.uniform(4, 8), rng.uniform(3, 7)
        wall = _dim(rng, colour(*rng.uniform(0.55, 0.9, 3)))
        roof = _dim(rng, colour(0.55, 0.25, 0.20))
        top, right = level - high, left + wide
        houses.append(box(left, top, right, level, wall))
        ridge = ((left + right) / 2, top - rng.uniform(1.5, 3.5))
        houses.append(shape([(left, top), ridge, (right, top)], roof))
        left = right + rng.exponential(0.8)
    return houses


def _firs(rng: Rng, level: int) -> list[Shape]:
    trees = [box(-1, level - 2, SIDE + 1, level, _dim(rng, colour(0.1, 0.25, 0.15)))]
    left = rng.uniform(-4, 0)
    while left < SIDE:
        wide, high = rng.uniform(3.5, 6), rng.uniform(5, 10)
        hue = _dim(rng, colour(0.08, rng.uniform(0.22, 0.32), 0.16))
        top = (left + wide / 2, level - high)
        trees.append(shape([(left, level), top, (left + wide, level)], hue))
        left += wide * rng.uniform(0.5, 1.1)
    return trees


def _cliffs(rng: Rng, level: int) -> list[Shape]:
    rocks = []
    left = -2.0
    while left < SIDE:
        wide, high = rng.uniform(6, 14), rng.uniform(3, 10)
        grey = rng.uniform(0.4, 0.65)
        hue = _dim(rng, colour(grey, 0.95 * grey, 0.85 * grey))
        top, slant = level - high, rng.uniform(-2, 2)
        right = left + wide
        corners = [(left, level), (left + 1, top), (right - 1, top + slant)]
        rocks.append(shape([*corners, (right, level)], hue))
        left = right - 1
    return rocks


SHORES: dict[str, Callable[[Rng, int], list[Shape]]] = {
    "hills": _hills,
    "town": _town,
    "firs": _firs,
    "cliffs": _cliffs,
}
SETTINGS = tuple(SHORES)
