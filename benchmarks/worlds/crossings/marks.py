"""Cues that have a place: in the scene, on the red car, and what is written over the recording."""

import numpy as np

from worlds.canvas import Grid, Light, cover_of, paint
from worlds.crossings.streets import WHITE, rng_of
from worlds.crossings.traffic import LENGTH, NUMBERS, RedCar, red_car
from worlds.design import Facts

CANVAS = (0.22, 0.36, 0.66)
AMBER = (1.0, 0.72, 0.15)
SIGN = (1.0, 0.95, 0.45)
DUST = (0.80, 0.72, 0.58)
GREEN = (0.35, 1.0, 0.45)
DIGITS = (  # rows of three
    "111101101101111",
    "010110010010111",
    "111001111100111",
    "111001111001111",
    "101101111001001",
    "111100111001111",
    "111100111101111",
    "111001010010010",
    "111101111101111",
    "111101111001111",
)
COLON = "01010"  # a row each


def things(facts: Facts, grid: Grid, light: Light) -> Light:
    """What stands at a place, under the traffic."""
    if "tent" in facts.cues:
        light = _tent(grid.around(12.5, 12.0), light)
    if "beacon" in facts.cues:
        rng = rng_of(facts, "beacon")
        light = _beacon(rng, grid.around(9.5, -10.0), light)
    return light


def on_car(facts: Facts, grid: Grid, light: Light) -> Light:
    """What the red car carries, and what it leaves behind."""
    red = red_car(facts)
    if "dust" in facts.cues:
        light = _dust(red, grid, light)
    if "roof sign" in facts.cues:
        own = red.around(grid)
        sign = np.minimum(0.75 - abs(own.y - 0.4), 1.2 - abs(own.x))
        light = paint(light, cover_of(sign), SIGN)
    return light


def above(facts: Facts, grid: Grid, light: Light) -> Light:
    """What flies, and its shadows."""
    if "cloud" in facts.cues:
        light = _cloud(rng_of(facts, "cloud"), grid, light)
    if "pigeons" in facts.cues:
        light = _pigeons(rng_of(facts, "pigeons"), grid, light)
    return light


def overlays(facts: Facts, grid: Grid, light: Light) -> Light:
    """What a programme writes over each frame."""
    if "brackets" in facts.cues:
        light = _brackets(red_car(facts), grid, light)
    if "clock" in facts.cues:
        light = _clock(rng_of(facts, "clock"), light)
    return light


def _tent(own: Grid, light: Light) -> Light:
    """Of a market, striped, with a ridge."""
    inside = np.minimum(4.6 - abs(own.x), 4.2 - abs(own.y))
    stripes = np.where(own.x % 3 < 1.5, 1.0, 0.0)[..., None]
    colour = stripes * np.asarray(WHITE) + (1 - stripes) * np.asarray(CANVAS)
    shaded = colour * np.where(own.y < 0, 1.0, 0.75)[..., None]
    return paint(light, cover_of(inside), shaded)


def _beacon(rng: np.random.Generator, own: Grid, light: Light) -> Light:
    """A lamp on a barrier, on for two frames and off for two."""
    barrier = np.minimum(2.4 - abs(own.x), 0.6 - abs(own.y - 1.2))
    light = paint(light, cover_of(barrier), (0.85, 0.82, 0.78))
    is_on = (NUMBERS + rng.integers(4)) % 4 < 2
    far = np.hypot(own.x, own.y)
    light = paint(light, cover_of(0.9 - far), (0.25, 0.16, 0.06))
    glow = np.maximum(cover_of(1.1 - far), 0.5 * np.exp(-((far / 2.2) ** 2)))
    return paint(light, glow * is_on, AMBER)


def _dust(red: RedCar, grid: Grid, light: Light) -> Light:
    """Puffs where the car was, which spread and thin out."""
    for late in (1.3, 2.2, 3.1):
        own = red.around(grid, late)
        far = np.hypot(own.x, own.y) / (0.9 + 0.6 * late)
        light = paint(light, (0.95 - 0.2 * late) * np.exp(-(far**2)), DUST)
    return light


def _cloud(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """A soft shadow that drifts across."""
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    own = own.around(2.6 * (NUMBERS - rng.uniform(2.5, 4.5)), rng.uniform(-5, 5))
    far = np.hypot(own.x / 8, own.y / 10)
    return light * (1 - 0.55 * np.exp(-(far**3)))[..., None]


def _pigeons(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """A flock that crosses; each beats its wings, and has a shadow."""
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    own = own.around(3.0 * (NUMBERS - rng.uniform(2.5, 4.5)), rng.uniform(-9, 9))
    for x, y in rng.uniform(-5, 5, (6, 2)):
        bird = own.around(x, y)
        spread = 0.6 + 0.9 * ((NUMBERS + rng.integers(2)) % 2)
        shadow = 0.3 * cover_of(0.7 - np.hypot(bird.x + 1.5, bird.y))
        light = paint(light, shadow, (0, 0, 0))
        wings = 0.9 - np.hypot(bird.x, bird.y / spread)
        light = paint(light, cover_of(wings), (0.88, 0.89, 0.93))
    return light


def _brackets(red: RedCar, grid: Grid, light: Light) -> Light:
    """Corners of a box that follows the car, as a tracker draws them."""
    own = red.around_place(grid)
    edge = np.maximum(abs(own.x), abs(own.y))
    is_corner = np.minimum(abs(own.x), abs(own.y)) > 2.6
    return paint(light, cover_of(0.45 - abs(edge - 4.8)) * is_corner, GREEN)


def _clock(rng: np.random.Generator, light: Light) -> Light:
    """Minutes and seconds in the upper left corner, a second each frame."""
    since = rng.integers(3600 - LENGTH)
    light = light.copy()
    light[:, 1:8, 1:20] *= 0.25
    for number in range(LENGTH):
        minutes, seconds = divmod(since + number, 60)
        light[number, 2:7, 2:19][_text(minutes, seconds)] = WHITE
    return light


def _text(minutes: int, seconds: int) -> np.ndarray:
    """Where it is written, bool (5, 17)."""
    glyphs = [DIGITS[int(digit)] for digit in f"{minutes:02d}{seconds:02d}"]
    glyphs.insert(2, COLON)
    columns = []
    for glyph in glyphs:
        rows = np.array(list(glyph)).reshape(5, -1) == "1"
        columns += [rows, np.zeros((5, 1), bool)]
    return np.hstack(columns[:-1])
