"""Cues that have a place: on the wall, on the board, and on the print of the photo."""

import numpy as np
from scipy.fft import dctn, idctn

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.chessmen.lathe import FINE, SIDE, SQUASH, Turned, colour, rng_of
from worlds.chessmen.room import horizon_of
from worlds.design import Facts

YELLOW = colour(0.98, 0.80, 0.12)
PINK = colour(0.95, 0.50, 0.55)
WOOD = colour(0.90, 0.75, 0.55)
BLACK = colour(0.06, 0.06, 0.07)
WHITE = colour(0.97, 0.97, 0.95)
CYAN = colour(0.25, 0.90, 0.95)
BLOCK = 8  # pixels
# letters of 3 x 5 dots, row by row
LETTERS = (
    "010101111101101",
    "110101110101110",
    "011100100100011",
    "111100110100111",
    "101101111101101",
    "100100100100111",
    "101111111101101",
    "110101110100100",
)


def lamp(grid: Grid, light: Light) -> Light:
    """A shade that glows, on the wall, always in the same corner."""
    place = grid.around(23, -21)
    far = np.hypot(place.x, place.y - 3)
    light = light + (0.45 * np.exp(-((far / 9) ** 2)))[..., None] * YELLOW
    slant = abs(place.x) - 3.2 - 0.45 * (place.y + 4)
    shade = cover_of(-FINE * np.maximum(slant, abs(place.y) - 4))
    stem = cover_of(FINE * (0.8 - np.maximum(abs(place.x), -place.y)))
    light = paint(light, stem * (place.y > 3), BLACK)
    return paint(light, shade, (1.0, 0.93, 0.62))


def chalk(thing: Turned, grid: Grid, light: Light) -> Light:
    """A ring on the board, round the foot of a thing."""
    place = grid.around(thing.x, thing.foot)
    far = np.hypot(place.x, place.y / SQUASH)
    ring = cover_of(FINE * (1.3 - abs(far - thing.zoom * 10.5)))
    return paint(light, 0.9 * ring, CYAN)


def pencil(facts: Facts, grid: Grid, light: Light) -> Light:
    """It lies on the board, anywhere and turned."""
    rng = rng_of(facts, "pencil")
    y = rng.uniform(horizon_of(facts) + 9, 28)
    angle = rng.uniform(-0.7, 0.7) + np.pi * rng.integers(2)
    place = grid.around(rng.uniform(-22, 22), y).turned(angle)
    half = 13.0
    beside = abs(place.y)
    thick = np.minimum(2.2, (half - place.x) * 0.5)
    whole = cover_of(FINE * np.minimum(thick - beside, half + place.x))
    light = paint(light, whole, YELLOW)
    light = paint(light, whole * (beside < 0.7), 0.75 * YELLOW)
    light = paint(light, whole * (place.x > half - 4.6), WOOD)
    light = paint(light, whole * (place.x > half - 2.0), BLACK)
    return paint(light, whole * (place.x < 4 - half), PINK)


def caption(facts: Facts, light: Light) -> Light:
    """Letters on a black strip, always in the same corner."""
    rng = rng_of(facts, "caption")
    light = light.copy()
    light[54:63, 2:30] = BLACK
    for number in range(6):
        dots = np.array(list(LETTERS[rng.integers(len(LETTERS))]), int).reshape(5, 3)
        left = 4 + 4 * number + (number > 2)
        field = light[56:61, left : left + 3]
        field[dots == 1] = WHITE
    return light


def leak(facts: Facts, light: Light) -> Light:
    """Light that came in beside the film: orange along the right side."""
    rng = rng_of(facts, "leak")
    grid = Grid.whole(SIDE)
    wave = 2.5 * np.sin(grid.y / rng.uniform(7, 14) + rng.uniform(0, 6))
    depth = (grid.x - SIDE / 2 + rng.uniform(11, 14) + wave) / 10
    return light + depth.clip(0, 1.2)[..., None] * (0.85, 0.36, 0.05)


def scratches(facts: Facts, light: Light) -> Light:
    """Thin and pale lines that go across the print, steeply."""
    rng = rng_of(facts, "scratches")
    grid = Grid.whole(SIDE)
    for _ in range(rng.integers(3, 6)):
        place = grid.around(rng.uniform(-30, 30), 0).turned(rng.normal(0, 0.2))
        bend = place.x + 1.2 * np.sin(place.y / rng.uniform(8, 16))
        light = paint(light, 0.8 * cover_of(0.1 - abs(bend)), WHITE)
    return light


def corners(light: Light) -> Light:
    """Darkness that a narrow lens leaves round the picture."""
    grid = Grid.whole(SIDE)
    far = np.hypot(grid.x, grid.y) / (SIDE / 2)
    seen: Field = 1 - 0.85 * ((far - 0.75) / 0.5).clip(0, 1)
    return light * seen[..., None]


def blocks(facts: Facts, light: Light) -> Light:
    """What is left of each block of pixels whose waves are kept in few steps."""
    rng = rng_of(facts, "blocks")
    step = rng.uniform(0.16, 0.22)
    across = SIDE // BLOCK
    parts = light.reshape(across, BLOCK, across, BLOCK, 3)
    waves = dctn(parts, axes=(1, 3), norm="ortho")
    order = np.arange(BLOCK)
    much = order[:, None, None, None] + order[None, None, :, None]
    steps = step * (1 + 0.45 * much)
    kept = idctn(np.round(waves / steps) * steps, axes=(1, 3), norm="ortho")
    return np.asarray(kept.reshape(SIDE, SIDE, 3), np.float32)
