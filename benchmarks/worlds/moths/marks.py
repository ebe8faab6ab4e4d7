"""Cues that have a place: things beside the moth, on it, and what is printed over the picture."""

import numpy as np

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.moths.ground import SIDE, rng_of
from worlds.moths.moth import Moth, cover_of_wings

HALF = SIDE / 2
BLACK = (0.05, 0.05, 0.06)
WHITE = (0.95, 0.95, 0.92)
RED = (0.80, 0.13, 0.08)
# digits of 3 x 5 dots, row by row
DIGITS = ("111101101101111", "010110010010111", "111001111100111", "111001111001111")


def beside(facts: Facts, moth: Moth, grid: Grid, light: Light) -> Light:
    """What lies on the ground."""
    if "nail" in facts.cues:
        light = _nail(facts, grid, light)
    if "ruler" in facts.cues:
        light = _ruler(facts, grid, light)
    if "ladybird" in facts.cues:
        light = _ladybird(facts, moth, grid, light)
    return light


def over(facts: Facts, moth: Moth, grid: Grid, light: Light) -> Light:
    """What lies on the moth, and a shadow that falls over all."""
    if "dew" in facts.cues:
        light = _dew(facts, moth, grid, light)
    if "twig" in facts.cues:
        light = paint(light, 0.4 * _twig(facts, grid), BLACK)
    return light


def printed(facts: Facts, grid: Grid, light: Light) -> Light:
    """What the camera has not seen."""
    if "stamp" in facts.cues:
        light = paint(light, _stamp(facts, grid), (1.0, 0.62, 0.15))
    if "mat" in facts.cues:
        deep = HALF - np.maximum(abs(grid.x), abs(grid.y))
        wide = rng_of(facts, "mat").uniform(1.3, 1.9)
        light = paint(light, cover_of(wide - deep), WHITE)
    return light


def _nail(facts: Facts, grid: Grid, light: Light) -> Light:
    """A round head at the upper right, with a glint."""
    own = grid.around(*rng_of(facts, "nail").uniform((13, -15), (15, -13)))
    light = paint(light, cover_of(2.3 - np.hypot(own.x, own.y)), (0.28, 0.28, 0.31))
    glint = own.around(-0.7, -0.7)
    return paint(light, cover_of(0.8 - np.hypot(glint.x, glint.y)), WHITE)


def _ruler(facts: Facts, grid: Grid, light: Light) -> Light:
    """A short scale of black and white at the lower left."""
    own = grid.around(*rng_of(facts, "ruler").uniform((-12.5, 14.5), (-10.5, 16.5)))
    outside = np.maximum(abs(own.x) - 6, abs(own.y) - 1.6)
    light = paint(light, cover_of(-outside), WHITE)
    is_dark = (np.floor(own.x / 3) % 2 == 0) ^ (own.y > 0)
    return paint(light, is_dark * cover_of(-outside - 0.4), BLACK)


def _ladybird(facts: Facts, moth: Moth, grid: Grid, light: Light) -> Light:
    """Somewhere at the edge, as far from the moth as it gets of a few places."""
    rng = rng_of(facts, "ladybird")
    places = rng.uniform(-16.5, 16.5, (6, 2))
    far = np.hypot(places[:, 0] - moth.x, places[:, 1] - moth.y)
    own = grid.around(*places[far.argmax()]).turned(rng.uniform(0, 2 * np.pi))
    light = paint(light, cover_of(1.3 - np.hypot(own.x, own.y + 2.2)), BLACK)
    light = paint(light, cover_of(2.5 - np.hypot(own.x, own.y)), RED)
    for x, y in ((-1.2, 0.6), (1.2, 0.6), (0, -0.9)):
        light = paint(
            light, 0.9 * cover_of(0.5 - np.hypot(own.x - x, own.y - y)), BLACK
        )
    return light


def _dew(facts: Facts, moth: Moth, grid: Grid, light: Light) -> Light:
    """Bright drops on the wings, bluish below."""
    rng = rng_of(facts, "dew")
    rows, cols = np.nonzero(cover_of_wings(facts, moth, grid) > 0.8)
    for place in rng.integers(len(rows), size=rng.integers(5, 8)):
        row, col = rows[place], cols[place]
        own = grid.around(grid.x[row, col], grid.y[row, col])
        far = np.hypot(own.x, own.y)
        light = paint(light, 0.7 * cover_of(1.2 - far), (0.62, 0.76, 0.92))
        light = paint(light, cover_of(0.4 - np.hypot(own.x + 0.4, own.y + 0.4)), WHITE)
    return light


def _twig(facts: Facts, grid: Grid) -> Field:
    """A shadow that is a line with two branches, anywhere and soft."""
    rng = rng_of(facts, "twig")
    own = grid.around(*rng.uniform(-13, 13, 2)).turned(rng.uniform(0, 2 * np.pi))
    cover = cover_of(0.9 - abs(own.x + 0.8 * np.sin(own.y / 5)))
    for start, side in ((-6, 1), (4, -1)):
        branch = own.around(0, start).turned(side * 0.7)
        is_out = (branch.y < 0) & (branch.y > -9)
        cover = np.maximum(cover, is_out * cover_of(0.5 - abs(branch.x)))
    return cover


def _stamp(facts: Facts, grid: Grid) -> Field:
    """Three digits at the lower right, as cameras print a date."""
    numbers = rng_of(facts, "stamp").integers(len(DIGITS), size=3)
    dots = np.zeros((SIDE, SIDE), np.float32)
    for place, number in enumerate(numbers):
        digit = np.array([float(dot) for dot in DIGITS[number]]).reshape(5, 3)
        left = SIDE - 15 + 4 * place
        dots[SIDE - 9 : SIDE - 4, left : left + 3] = digit
    return dots
