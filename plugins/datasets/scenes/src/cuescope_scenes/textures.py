"""Backgrounds: textures with a name, each drawn anew from a generator."""

from math import tau

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_scenes.numbers import read_numbers

SIZE = 96  # px, side of the picture
SQUARE = (SIZE, SIZE)

Pixels = Float[np.ndarray, "row col 3"]
Plane = Float[np.ndarray, "row col"]
ROW, COL = np.mgrid[:SIZE, :SIZE].astype(np.float64)
COLOURS = read_numbers("textures.toml")


def texture(name: str, rng: np.random.Generator) -> Pixels:
    """The picture of a background, grey levels 0-255; tint and pattern differ at every draw."""
    tint = rng.normal(0, 4, 3)
    pattern = _pattern(name, rng).clip(0, 1)
    dark = np.array(COLOURS[name]["dark"])
    light = np.array(COLOURS[name]["light"])
    contrast = light - dark
    pixels: Pixels = dark + pattern[..., None] * contrast + tint
    return pixels


def grainy_image(pixels: Pixels, noise: float, rng: np.random.Generator) -> Image.Image:
    """Whole grey levels with noise of this standard deviation."""
    grain = rng.normal(0, noise, pixels.shape)
    levels = np.rint(pixels + grain)
    levels = levels.clip(0, 255)
    return Image.fromarray(levels.astype(np.uint8))


def _pattern(name: str, rng: np.random.Generator) -> Plane:
    """Where the texture is dark (0) and light (1)."""
    match name:
        case "grass":
            return _blades(rng)
        case "sand":
            return rng.beta(5, 2, SQUARE)
        case "water":
            return _ripples(rng)
        case "brick":
            return _bricks(rng)
        case "snow":
            return _drifts(rng)
        case "lavender":
            return _tufts(rng)
        case "tiles":
            return _tiles(rng)
        case _:
            return _grit(rng)


def _blades(rng: np.random.Generator) -> Plane:
    """Upright streaks."""
    streaks = rng.random((SIZE // 8, SIZE))
    shift = rng.integers(0, 8)
    streak = (np.arange(SIZE) + shift) // 8
    # shifted, the last rows would need one streak more than there is
    return streaks.take(streak, axis=0, mode="clip")


def _ripples(rng: np.random.Generator) -> Plane:
    phase = rng.uniform(0, tau)
    length = rng.uniform(9, 14)
    bend = rng.uniform(14, 22)
    swell = 2 * np.sin(tau * COL / bend + phase)
    return _wave(ROW + swell, length, phase)


def _wave(along: Plane, length: float, phase: float) -> Plane:
    """From 0 to 1 and back over so many px."""
    wave: Plane = np.sin(tau * along / length + phase)
    return 0.5 + 0.5 * wave


def _bricks(rng: np.random.Generator) -> Plane:
    """Courses of staggered bricks; the joints are light."""
    row = ROW + rng.integers(12)
    col = COL + rng.integers(24)
    course = (row // 12).astype(int)
    col = col + 12 * (course % 2)
    brick = (col // 24).astype(int)
    in_joint = (row % 12 < 2) | (col % 24 < 2)
    shades = rng.uniform(0, 0.35, (10, 8))
    shade = shades[course % 10, brick % 8]
    return np.where(in_joint, 1.0, shade)


def _drifts(rng: np.random.Generator) -> Plane:
    """Soft mounds."""
    angle = rng.uniform(0, np.pi)
    phase, other_phase = rng.uniform(0, tau, 2)
    along = ROW * np.cos(angle) + COL * np.sin(angle)
    across = COL * np.cos(angle) - ROW * np.sin(angle)
    mounds: Plane = np.sin(along / 13 + phase)
    mounds += np.sin(across / 17 + other_phase)
    return 0.6 + 0.2 * mounds


def _tufts(rng: np.random.Generator) -> Plane:
    """Rows of a field, seen from above."""
    phase = rng.uniform(0, tau)
    length = rng.uniform(14, 20)
    leaves = rng.uniform(0.5, 1, SQUARE)
    return _wave(ROW + COL / 2, length, phase) * leaves


def _tiles(rng: np.random.Generator) -> Plane:
    """A chequerboard."""
    row = ROW + rng.integers(24)
    col = COL + rng.integers(24)
    tile: Plane = (row // 12 + col // 12) % 2
    return tile


def _grit(rng: np.random.Generator) -> Plane:
    is_light = rng.random(SQUARE) < 0.06
    dark = rng.uniform(0, 0.2, SQUARE)
    return np.where(is_light, 1.0, dark)
