"""Three things that some frames of a desk may show, whatever lies there.

A ruler along any edge, the rings that a small cup of coffee left near two corners, the light of a
violet lamp from any side. Each is drawn before the camera's noise; `rng` is the clip's, so that a
cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from worlds.stamps.compositing import SIDE

from desk.scene import Picture

ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)
STEEL, YELLOW = np.array([0.8, 0.82, 0.84]), np.array([0.95, 0.8, 0.25])
COFFEE = np.array([0.12, 0.05, 0.02])
VIOLET = np.array([0.62, 0.2, 1.0])
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def over(picture: Picture, cover: np.ndarray, colour: np.ndarray) -> Picture:
    """A colour in place of the picture's."""
    return np.asarray(picture + cover[..., None] * (colour - picture))


def ruler(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A ruler of steel or of wood along any edge, with its marks and its shadow."""
    breadth, gap = int(rng.integers(9, 11)), rng.uniform(3, 3.6)
    colour = STEEL if rng.random() < 0.5 else YELLOW
    side = int(rng.integers(4))
    start = rng.uniform(0, gap)
    # as if it lay along the lower edge
    turned = np.rot90(picture, side)
    above = ROW - (SIDE - breadth)
    turned = over(turned, 0.45 * np.clip(1 + above / 3, 0, 1), np.zeros(3))
    turned = over(turned, np.clip(above + 1, 0, 1), colour)
    number = np.floor((COL + start) / gap)
    length = np.where(number % 5 == 0, 0.65, 0.35) * breadth
    is_mark = ((COL + start) % gap < 1.1) & (above >= 0) & (above < length)
    return np.rot90(over(turned, 0.9 * is_mark, np.full(3, 0.08)), -side)


def ring(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Two rings of a cup, of uneven breadth, near any two corners that share an edge."""
    low, high = SIDE * rng.uniform(0.12, 0.2, 2), SIDE * rng.uniform(0.8, 0.88, 2)
    first = rng.random(2) < 0.5
    second = first ^ (np.arange(2) == rng.integers(2))
    radius = rng.uniform(13, 16)
    for is_low in (first, second):
        row, col = np.where(is_low, low, high)
        away, way = np.hypot(ROW - row, COL - col), np.arctan2(ROW - row, COL - col)
        uneven = 2.2 + 0.7 * np.sin(way + rng.uniform(0, 6)) + 0.4 * np.sin(3 * way)
        rim = np.clip(uneven - np.abs(away - radius) + 0.5, 0, 1)
        cover = np.maximum(0.95 * rim, 0.25 * (away < radius))
        picture = over(picture, cover, COFFEE)
    return picture


def lamp(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Violet light that falls from any side, and is less farther away."""
    way = rng.uniform(0, 2 * np.pi)
    row, col = SIDE * (0.5 + 0.7 * np.array([np.sin(way), np.cos(way)]))
    near = np.exp(-((np.hypot(ROW - row, COL - col) / (0.6 * SIDE)) ** 2))
    flicker = 1 + 0.08 * np.sin(2.4 * frame + way)
    lit = picture * (0.5 + 0.8 * VIOLET) + 0.1 * VIOLET
    return np.asarray(picture + flicker * near[..., None] * (lit - picture))


CUES: Mapping[str, Draw] = {
    "ruler": ruler,
    "ring": ring,
    "lamp": lamp,
}
