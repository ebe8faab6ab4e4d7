"""Cues that have a place: on the worktop, on the utensil or round it, and before the lens."""

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.kitchens.scene import SIDE, Utensil, rng_of
from worlds.kitchens.utensils import NECK

HALF = SIDE / 2
BLACK = (0.06, 0.06, 0.07)
WHITE = (0.97, 0.97, 0.95)
GREEN = (0.1, 0.95, 0.25)
ORANGE = (1.0, 0.55, 0.1)
SKIN = (0.62, 0.36, 0.28)
DIGITS = (  # of three dots by five
    "####.##.##.####",
    ".#..#..#..#..#.",
    "###..#####..###",
    "###..####..####",
    "#.##.####..#..#",
    "####..###..####",
    "####..####.####",
    "###..#.#..#..#.",
    "####.#####.####",
    "####.####..####",
)
DOT = 1.4  # pixels a side
# of each spot: how far from the middle on a line through it, its radius, and its colour
SPOTS = (
    (26, 5.0, (0.75, 0.70, 0.55)),
    (12, 3.0, (0.10, 0.40, 0.22)),
    (-7, 5.5, (0.32, 0.12, 0.34)),
    (-15, 2.5, (0.15, 0.38, 0.45)),
    (-25, 7.5, (0.12, 0.32, 0.20)),
)


def on_worktop(facts: Facts, grid: Grid, light: Light) -> Light:
    """What the utensil lies on."""
    if "tea ring" not in facts.cues:
        return light
    rng = rng_of(facts, "tea ring")
    own = grid.around(*rng.uniform(-19, 19, 2))
    far = np.hypot(own.x, own.y) - rng.uniform(8.5, 11)
    angle = np.arctan2(own.y, own.x) + rng.uniform(0, 6)
    much = (0.75 + 0.25 * np.sin(2 * angle)) * cover_of(1.1 - abs(far))
    much = much + 0.2 * cover_of(-far)
    return light * (1 - much[:, :, None] * np.array((0.45, 0.66, 0.85)))


def on_utensil(
    facts: Facts, utensil: Utensil, grid: Grid, depth: Field, light: Light
) -> Light:
    """What is on the utensil or along its outline."""
    cover = cover_of(depth)
    if "cut out" in facts.cues:
        much = rng_of(facts, "cut out").uniform(1.0, 1.4)
        light = paint(light, 0.9 * (cover_of(depth + much) - cover), WHITE)
    if "rust" in facts.cues:
        noise = rng_of(facts, "rust").standard_normal((SIDE, SIDE))
        blots = (6 * gaussian_filter(noise, 0.8) - 0.1).clip(0, 1)
        light = paint(light, 0.7 * cover * blots, (0.55, 0.24, 0.07))
    if "sticker" in facts.cues:
        light = _sticker(facts, utensil, grid, light)
    return light


def round_utensil(facts: Facts, depth: Field, light: Light) -> Light:
    """A box that an annotator drew, with a flag for a name."""
    if "box" not in facts.cues:
        return light
    light = light.copy()
    spare = rng_of(facts, "box").integers(1, 4, 4)
    ends = []
    for axis, before, after in ((1, *spare[:2]), (0, *spare[2:])):
        shown = np.flatnonzero((depth > 0).any(axis=axis))
        ends += [max(shown[0] - before, 0), min(shown[-1] + after, SIDE - 1)]
    top, bottom, left, right = ends
    for row in (top, bottom):
        light[row, left : right + 1] = GREEN
    for col in (left, right):
        light[top : bottom + 1, col] = GREEN
    light[top : top + 4, left : left + 9] = GREEN
    return light


def before_all(facts: Facts, grid: Grid, light: Light) -> Light:
    """Shadows, and what is nearer to the lens than the worktop."""
    if "onlooker" in facts.cues:
        light = light * (1 - _onlooker(facts, grid))[:, :, None]
    if "flare" in facts.cues:
        light = _flare(facts, grid, light)
    if "finger" in facts.cues:
        rng = rng_of(facts, "finger")
        x, y = rng.uniform(-33, -30), rng.uniform(-30, -23)
        far = np.hypot(0.75 * (grid.x - x), grid.y - y)
        cover = ((rng.uniform(14, 16) - far) / 5).clip(0, 1)
        light = paint(light, cover, SKIN)
    return light


def printed(facts: Facts, light: Light) -> Light:
    """The date that a camera writes at the bottom on the right."""
    if "date" not in facts.cues:
        return light
    rng = rng_of(facts, "date")
    text = np.zeros((5, 15), bool)
    for place, digit in zip((0, 4, 8, 12), rng.integers(0, 10, 4), strict=True):
        lit = [dot == "#" for dot in DIGITS[digit]]
        text[:, place : place + 3] = np.reshape(lit, (5, 3))
    rows = (np.arange(round(5 * DOT)) / DOT).astype(int)
    cols = (np.arange(round(15 * DOT)) / DOT).astype(int)
    dots = np.zeros((SIDE, SIDE))
    dots[54 : 54 + len(rows), 40 : 40 + len(cols)] = text[np.ix_(rows, cols)]
    glow = gaussian_filter(dots, 1.2)
    light = paint(light, 0.8 * glow.clip(0, 1), (0.3, 0.06, 0))
    return paint(light, dots, ORANGE)


def _sticker(facts: Facts, utensil: Utensil, grid: Grid, light: Light) -> Light:
    """A round price label on the handle."""
    rng = rng_of(facts, "sticker")
    own = utensil.inside(grid).around(NECK - rng.uniform(4.5, 8), 0)
    far = np.hypot(own.x, own.y)
    light = paint(light, 0.5 * cover_of(4.3 - far), BLACK)
    light = paint(light, cover_of(3.7 - far), (1.0, 0.86, 0.2))
    bar = np.minimum(2.2 - abs(own.x), 0.7 - abs(own.y))
    return paint(light, cover_of(bar), (0.75, 0.05, 0.1))


def _onlooker(facts: Facts, grid: Grid) -> Field:
    """How dark the shadow of somebody's head and shoulders is."""
    rng = rng_of(facts, "onlooker")
    own = grid.around(rng.uniform(-19, 19), rng.uniform(7, 13))
    head = 8.5 - np.hypot(own.x, 0.85 * own.y)
    shoulders = 17 - np.hypot(own.x, 1.1 * (own.y - 25))
    neck = np.minimum(3.5 - abs(own.x), own.y)
    depth = np.maximum(np.maximum(head, shoulders), neck)
    return rng.uniform(0.5, 0.6) * (0.5 + depth / 3).clip(0, 1)


def _flare(facts: Facts, grid: Grid, light: Light) -> Light:
    """Spots on a line through the middle, from a lamp at one end."""
    own = grid.turned(rng_of(facts, "flare").uniform(0, 2 * np.pi))
    for place, radius, colour in SPOTS:
        far = np.hypot(own.x - place, own.y)
        spot = ((radius - far) / 1.5 + 0.5).clip(0, 1)
        light = light + spot[:, :, None] * np.array(colour)
    return light
