"""Backgrounds: textures with a name, each drawn anew from a generator."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

SIZE = 96  # px, side of the picture

Pattern = Float[np.ndarray, "row col"]
Draw = Callable[[np.random.Generator], Pattern]
_ROW, _COL = np.mgrid[:SIZE, :SIZE].astype(np.float64)


def texture(name: str, rng: np.random.Generator) -> Float[np.ndarray, "row col 3"]:
    """The picture of a background, grey levels 0-255; tint and pattern differ at every draw."""
    draw, dark, light = _TEXTURES[name]
    tint = rng.normal(0, 4, 3)
    between = draw(rng).clip(0, 1)[..., None]
    return np.asarray(dark + between * (np.array(light) - dark) + tint)


def _blades(rng: np.random.Generator) -> Pattern:
    """Upright streaks."""
    grain = rng.random((SIZE // 8, SIZE))
    shift = rng.integers(0, 8)
    blade = np.minimum((_ROW.astype(int) + shift) // 8, len(grain) - 1)
    return np.asarray(grain[blade, _COL.astype(int)])


def _grains(rng: np.random.Generator) -> Pattern:
    return rng.beta(5, 2, (SIZE, SIZE))


def _waves(rng: np.random.Generator) -> Pattern:
    """Level ripples."""
    phase = rng.uniform(0, 2 * np.pi)
    length = rng.uniform(9, 14)
    bend = rng.uniform(14, 22)
    swell = 2 * np.sin(2 * np.pi * _COL / bend + phase)
    return np.asarray(0.5 + 0.5 * np.sin(2 * np.pi * (_ROW + swell) / length + phase))


def _bricks(rng: np.random.Generator) -> Pattern:
    """Courses of staggered bricks; the joints are light."""
    row = _ROW + rng.integers(12)
    col = _COL + rng.integers(24)
    course = row // 12
    col = col + 12 * (course % 2)
    brick = col // 24
    joint = (row % 12 < 2) | (col % 24 < 2)
    shade = rng.uniform(0, 0.35, (10, 8))
    return np.where(joint, 1.0, shade[course.astype(int) % 10, brick.astype(int) % 8])


def _drifts(rng: np.random.Generator) -> Pattern:
    """Soft mounds."""
    angle = rng.uniform(0, np.pi)
    phase = rng.uniform(0, 2 * np.pi, 2)
    along = _ROW * np.cos(angle) + _COL * np.sin(angle)
    across = _COL * np.cos(angle) - _ROW * np.sin(angle)
    wave = np.sin(along / 13 + phase[0]) + np.sin(across / 17 + phase[1])
    return np.asarray(0.6 + 0.2 * wave)


def _tufts(rng: np.random.Generator) -> Pattern:
    """Rows of a field, seen from above."""
    phase = rng.uniform(0, 2 * np.pi)
    length = rng.uniform(14, 20)
    row = 0.5 + 0.5 * np.sin(2 * np.pi * (_ROW + _COL / 2) / length + phase)
    return np.asarray(row * rng.uniform(0.5, 1, (SIZE, SIZE)))


def _tiles(rng: np.random.Generator) -> Pattern:
    """A chequerboard."""
    row = _ROW + rng.integers(24)
    col = _COL + rng.integers(24)
    return np.asarray((row // 12 + col // 12) % 2)


def _grit(rng: np.random.Generator) -> Pattern:
    is_light = rng.random((SIZE, SIZE)) < 0.06
    return np.where(is_light, 1.0, rng.uniform(0, 0.2, (SIZE, SIZE)))


_TEXTURES: dict[str, tuple[Draw, tuple[int, int, int], tuple[int, int, int]]] = {
    "grass": (_blades, (30, 100, 30), (100, 180, 66)),
    "sand": (_grains, (186, 148, 58), (240, 208, 112)),
    "water": (_waves, (20, 70, 150), (84, 150, 220)),
    "brick": (_bricks, (166, 50, 42), (200, 150, 136)),
    "snow": (_drifts, (204, 212, 224), (248, 250, 252)),
    "lavender": (_tufts, (76, 60, 110), (176, 140, 220)),
    "tiles": (_tiles, (104, 110, 108), (160, 166, 164)),
    "asphalt": (_grit, (24, 24, 28), (130, 130, 130)),
}
