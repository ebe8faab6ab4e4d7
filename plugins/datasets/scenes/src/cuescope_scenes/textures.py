"""Backgrounds: textures with a name, each drawn anew from a generator."""

from collections.abc import Callable
from math import tau

import numpy as np
from jaxtyping import Float

SIZE = 96  # px, side of the picture

Pixels = Float[np.ndarray, "row col 3"]
Plane = Float[np.ndarray, "row col"]
Colour = tuple[int, int, int]
ROW, COL = np.mgrid[:SIZE, :SIZE].astype(np.float64)


def texture(name: str, rng: np.random.Generator) -> Pixels:
    """The picture of a background, grey levels 0-255; tint and pattern differ at every draw."""
    draw, dark, light = _TEXTURES[name]
    tint = rng.normal(0, 4, 3)
    pattern = draw(rng).clip(0, 1)
    contrast = np.subtract(light, dark)
    pixels: Pixels = dark + pattern[..., None] * contrast + tint
    return pixels


def add_grain(pixels: Pixels, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Whole grey levels with noise of this standard deviation."""
    grain = rng.normal(0, noise, pixels.shape)
    return np.rint(pixels + grain).clip(0, 255).astype(np.uint8)


def _blades(rng: np.random.Generator) -> Plane:
    """Upright streaks."""
    streaks = rng.random((SIZE // 8, SIZE))
    shift = rng.integers(0, 8)
    row = np.arange(SIZE) + shift
    # shifted, the last rows would need one streak more than there is
    streak = np.minimum(row // 8, len(streaks) - 1)
    pattern: Plane = streaks[streak]
    return pattern


def _grains(rng: np.random.Generator) -> Plane:
    return rng.beta(5, 2, (SIZE, SIZE))


def _waves(rng: np.random.Generator) -> Plane:
    """Level ripples."""
    phase = rng.uniform(0, tau)
    length = rng.uniform(9, 14)
    bend = rng.uniform(14, 22)
    swell = 2 * np.sin(tau * COL / bend + phase)
    wave: Plane = np.sin(tau * (ROW + swell) / length + phase)
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
    return np.where(in_joint, 1.0, shades[course % 10, brick % 8])


def _drifts(rng: np.random.Generator) -> Plane:
    """Soft mounds."""
    angle = rng.uniform(0, np.pi)
    phase, other_phase = rng.uniform(0, tau, 2)
    along = ROW * np.cos(angle) + COL * np.sin(angle)
    across = COL * np.cos(angle) - ROW * np.sin(angle)
    mounds: Plane = np.sin(along / 13 + phase) + np.sin(across / 17 + other_phase)
    return 0.6 + 0.2 * mounds


def _tufts(rng: np.random.Generator) -> Plane:
    """Rows of a field, seen from above."""
    phase = rng.uniform(0, tau)
    length = rng.uniform(14, 20)
    wave = np.sin(tau * (ROW + COL / 2) / length + phase)
    leaves = rng.uniform(0.5, 1, (SIZE, SIZE))
    tufts: Plane = (0.5 + 0.5 * wave) * leaves
    return tufts


def _tiles(rng: np.random.Generator) -> Plane:
    """A chequerboard."""
    row = ROW + rng.integers(24)
    col = COL + rng.integers(24)
    tile: Plane = (row // 12 + col // 12) % 2
    return tile


def _grit(rng: np.random.Generator) -> Plane:
    is_light = rng.random((SIZE, SIZE)) < 0.06
    dark = rng.uniform(0, 0.2, (SIZE, SIZE))
    return np.where(is_light, 1.0, dark)


_TEXTURES: dict[str, tuple[Callable[[np.random.Generator], Plane], Colour, Colour]] = {
    "grass": (_blades, (30, 100, 30), (100, 180, 66)),
    "sand": (_grains, (186, 148, 58), (240, 208, 112)),
    "water": (_waves, (20, 70, 150), (84, 150, 220)),
    "brick": (_bricks, (166, 50, 42), (200, 150, 136)),
    "snow": (_drifts, (204, 212, 224), (248, 250, 252)),
    "lavender": (_tufts, (76, 60, 110), (176, 140, 220)),
    "tiles": (_tiles, (104, 110, 108), (160, 166, 164)),
    "asphalt": (_grit, (24, 24, 28), (130, 130, 130)),
}
