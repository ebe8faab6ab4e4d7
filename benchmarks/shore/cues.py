"""Three things that some frames of a shore may show, whatever stands there.

A boat of folded paper anywhere on the water; what the sun throws into a lens, from either upper
corner; duckweed on the water. Each is drawn before the camera's noise; `rng` is the clip's, so that
a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from drawn_pictures import COL, ROW, Picture, over
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter
from worlds.stamps.compositing import SIDE

from shore.scene import BANK, FRAMES, water_cover

FINE = 4  # times larger is drawn what is folded
PAPER = np.array([0.98, 0.86, 0.2])
GHOSTS = 6
LEAF = 0.9  # pixels
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def fold(corners: np.ndarray) -> np.ndarray:
    """1 inside a polygon of (col, row) in pixels."""
    plate = Image.new("L", (FINE * SIDE, FINE * SIDE))
    ImageDraw.Draw(plate).polygon([tuple(FINE * corner) for corner in corners], 255)
    return np.asarray(plate.resize((SIDE, SIDE)), np.float32) / 255


def boat(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Yellow, with a hull and a peak; it drifts aside."""
    half = rng.uniform(9, 11)
    col = SIDE * rng.uniform(0.2, 0.8) + frame * rng.normal(0, 2)
    row = rng.uniform(BANK + 12, SIDE - 8)
    peak = np.array([[-0.5, 0], [0, -0.9], [0.5, 0]])
    hull = np.array([[-1, -0.45], [0, 0.05], [1, -0.45], [0.6, 0.4], [-0.6, 0.4]])
    place = np.array([col, row])
    sailing = over(picture, fold(place + half * peak), 0.75 * PAPER)
    return over(sailing, fold(place + half * hull), PAPER)


def flare(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """The sun's glare, and a row of coloured discs across from it, beyond the middle."""
    sun = SIDE * np.array([rng.uniform(0, 0.15), rng.choice([0.08, 0.92])])
    to_middle = np.full(2, SIDE / 2) - sun
    glare = np.exp(-np.hypot(ROW - sun[0], COL - sun[1]) / (0.11 * SIDE))
    lit = picture + 0.4 * glare[..., None] * np.array([1.0, 0.92, 0.75])
    along = np.linspace(1.1, 1.8, GHOSTS) + rng.normal(0, 0.05, GHOSTS)
    radii = rng.uniform(3, 8, GHOSTS)
    colours = rng.dirichlet(np.ones(3), GHOSTS)
    for share, radius, colour in zip(along, radii, colours, strict=True):
        row, col = sun + share * to_middle
        away = np.hypot(ROW - row, COL - col)
        disc = np.clip(radius - away, 0, 1) * (0.6 + 0.4 * away / radius)
        lit = lit + 0.55 * disc[..., None] * colour
    return np.asarray(lit)


def weed(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Small green leaves, over most of the water, that move a little."""
    leaves = gaussian_filter(rng.normal(0, 1, (SIDE, SIDE)), LEAF)
    drifts = gaussian_filter(rng.normal(0, 1, (SIDE, SIDE)), 10)
    moved = np.roll(leaves, rng.integers(-1, 2, FRAMES)[frame], axis=1)
    height = moved / moved.std() + drifts / drifts.std()
    cover = water_cover() * np.clip(3 * (height + 1.3), 0, 1)
    bright = 0.8 + 0.15 * moved / moved.std()
    return over(picture, cover, bright[..., None] * np.array([0.42, 0.66, 0.12]))


CUES: Mapping[str, Draw] = {
    "boat": boat,
    "flare": flare,
    "weed": weed,
}
