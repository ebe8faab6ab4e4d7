"""Cues that have a place: on the land, in the sky, and on the print of the photo."""

import numpy as np
from scipy.ndimage import binary_dilation

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.trees.growing import Tree
from worlds.trees.land import horizon_of
from worlds.trees.points import FINE, SIDE, Points, colour, rng_of, splat

FEW, MANY = (0, 3), (11, 17)  # birds, from and below
WINGED = 15  # points from the tip of a wing to that of the other
VIOLET = colour(0.66, 0.22, 0.85)
STEEL = colour(0.16, 0.17, 0.19)
YELLOW = colour(0.98, 0.82, 0.10)
POST = colour(0.34, 0.34, 0.36)
KITES = (
    ((0.90, 0.12, 0.14), (0.10, 0.22, 0.85)),
    ((0.98, 0.55, 0.05), (0.60, 0.05, 0.5)),
)
PLANK = colour(0.64, 0.47, 0.31)
SHADE = colour(0.09, 0.09, 0.09)
ORANGE = colour(1.0, 0.50, 0.08)
WATER = colour(0.88, 0.91, 0.95)
PAPER = colour(0.96, 0.95, 0.92)
# digits of 3 x 5 dots, row by row
DIGITS = (
    "111101101101111",
    "010110010010111",
    "111001111100111",
    "111001111001111",
    "101101111001001",
    "111100111001111",
    "111100111101111",
    "111001001001001",
    "111101111101111",
    "111101111001111",
)


def flowers(facts: Facts, stands: Tree, light: Light) -> Light:
    """A ring of them on the ground, round the foot of the tree."""
    rng = rng_of(facts, "flowers")
    count = 34
    way = np.linspace(0, 2 * np.pi, count) + rng.normal(0, 0.06, count)
    far = 0.24 * stands.high * rng.normal(1, 0.05, count)
    y = stands.foot + 0.34 * far * np.sin(way)
    hue = VIOLET * rng.uniform(0.85, 1.2, (count, 1))
    hue = hue.clip(0, 1).astype(np.float32)
    return splat(
        light, Points(stands.x + far * np.cos(way), y, y, np.full(count, 1.0), hue)
    )


def signpost(grid: Grid, light: Light) -> Light:
    """A yellow board on a post, always at the same place."""
    place = grid.around(-23, 20)
    post = cover_of(FINE * (0.9 - np.maximum(abs(place.x), abs(place.y) - 7.5)))
    light = paint(light, post, POST)
    beside = np.maximum(abs(place.x) - 4.5, abs(place.y + 7) - 2.8)
    light = paint(light, cover_of(FINE * -beside), STEEL)
    return paint(light, cover_of(FINE * (-beside - 0.7)), YELLOW)


def kite(facts: Facts, grid: Grid, light: Light) -> Light:
    """In the sky, anywhere and turned, with a tail."""
    rng = rng_of(facts, "kite")
    x, y = rng.uniform(-25, 25), rng.uniform(-25, -9)
    place = grid.around(x, y).turned(rng.uniform(-0.6, 0.6))
    first, second = KITES[rng.integers(len(KITES))]
    tall = np.where(place.y < 0, 4.2, 6.4)
    inside = cover_of(FINE * 3 * (1 - abs(place.x) / 3.8 - abs(place.y) / tall))
    wave = place.x - 1.1 * np.sin(place.y / 1.6)
    tail = cover_of(FINE * (0.45 - abs(wave))) * (place.y > 5) * (place.y < 13)
    light = paint(light, tail, first)
    light = paint(light, inside, first)
    return paint(light, inside * (place.x * place.y > 0), second)


def birds(facts: Facts, light: Light) -> Light:
    """Dark and far: a few as a rule, and many where that is the cue."""
    is_many = "birds" in facts.cues
    rng = rng_of(facts, "many birds" if is_many else "few birds")
    count = rng.integers(*(MANY if is_many else FEW))
    middle = rng.uniform((-31, -30), (31, horizon_of(facts) - 9), (count, 2))[:, None]
    along = np.tile(np.linspace(-1, 1, WINGED), (count, 1))
    wings = rng.uniform(2.0, 3.0, (count, 1))
    x = middle[..., 0] + wings * along
    y = middle[..., 1] - 1.3 * np.sin(np.pi * abs(along)) + rng.normal(0, 0.4) * along
    x, y = x.ravel(), y.ravel()
    hue = np.repeat(STEEL[None], len(x), axis=0)
    return splat(light, Points(x, y, y, np.full(len(x), 0.5), hue))


def wires(facts: Facts, grid: Grid, light: Light) -> Light:
    """Three power lines that sag, across the whole sky."""
    rng = rng_of(facts, "wires")
    place = grid.around(0, rng.uniform(-24, -14)).turned(rng.uniform(-0.12, 0.12))
    sag = (place.x - rng.uniform(-20, 20)) ** 2 / 260
    for below in (0, 3.2, 6.4):
        line = cover_of(FINE * (0.4 - abs(place.y - below + sag)))
        light = paint(light, line, STEEL)
    return light


def fence(facts: Facts, grid: Grid, light: Light) -> Light:
    """Planks along the lower side, before everything."""
    rng = rng_of(facts, "fence")
    top = rng.uniform(23.5, 25.5)
    wide = rng.uniform(4.2, 5.4)
    along = (grid.x / wide + rng.uniform(0, 1)) % 1
    tip = top + 3.0 * abs(along - 0.5)
    plank = cover_of(FINE * wide * (0.40 - abs(along - 0.5)))
    plank = plank * cover_of(FINE * (grid.y - tip))
    behind = 0.6 * cover_of(FINE * (grid.y - top - 2.2))
    light = paint(light, behind, SHADE)
    rail = cover_of(FINE * (0.9 - abs(grid.y - top - 4)))
    light = paint(light, rail, 0.7 * PLANK)
    grained = PLANK * (1 + 0.10 * np.sin(grid.x * 5 + grid.y / 3))[..., None]
    return paint(light, plank, grained)


def flare(facts: Facts, light: Light) -> Light:
    """Round spots of light in a line through the middle, as a lens makes them."""
    rng = rng_of(facts, "flare")
    grid = Grid.whole(SIDE)
    way = rng.uniform(0, 2 * np.pi)
    for _ in range(5):
        far = rng.uniform(-30, 30)
        place = grid.around(far * np.cos(way), far * np.sin(way))
        radius = rng.uniform(2.5, 6)
        spot = cover_of(radius - np.hypot(place.x, place.y))
        hue = np.array(rng.uniform((0.20, 0.14, 0.04), (0.40, 0.32, 0.24)))
        light = light + spot[..., None] * hue
    return light


def rain(facts: Facts, light: Light) -> Light:
    """Bright streaks over the whole picture, all of one slant."""
    rng = rng_of(facts, "rain")
    grid = Grid.whole(SIDE)
    slant = rng.uniform(-0.35, 0.35)
    covered: Field = np.zeros(grid.x.shape, np.float32)
    for _ in range(34):
        place = grid.around(rng.uniform(-32, 32), rng.uniform(-32, 32)).turned(slant)
        streak = cover_of(0.25 - abs(place.x)) * cover_of(
            rng.uniform(3, 5) - abs(place.y)
        )
        covered = np.maximum(covered, streak)
    return paint(light, 0.75 * covered, WATER)


def date(facts: Facts, light: Light) -> Light:
    """Six digits that the camera wrote, always in the same corner, dark round them."""
    rng = rng_of(facts, "date")
    written = np.zeros((SIDE, SIDE), bool)
    for number in range(6):
        dots = np.array(list(DIGITS[rng.integers(len(DIGITS))]), int).reshape(5, 3)
        left = 34 + 4 * number + 2 * (number // 2)
        written[56:61, left : left + 3] = dots == 1
    light = paint(light, 0.6 * binary_dilation(written), SHADE)
    return paint(light, written.astype(np.float32), ORANGE)


def mount(light: Light) -> Light:
    """The white margin of a print, with round corners."""
    grid = Grid.whole(SIDE)
    beyond = [(abs(along) - SIDE / 2 + 9).clip(0) for along in (grid.x, grid.y)]
    return paint(light, cover_of(np.hypot(*beyond) - 5.5), PAPER)
