"""Three things that some frames of a shore may show, whatever stands there.

A boat of folded paper anywhere on the water; light that leaked into the camera, at either side;
duckweed on the water. Each is drawn before the camera's noise; `rng` is the clip's, so that
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
LEAKED = 0.9  # how bright light on the film is
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


def leak(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Light that reached the film from one side, red and then yellow towards the edge."""
    is_right = rng.random() < 0.5
    reach = SIDE * (
        rng.uniform(0.2, 0.26) + 0.04 * np.sin(ROW / 15 + rng.uniform(0, 6))
    )
    depth = (SIDE - COL if is_right else COL) / reach
    red = np.exp(-(depth**2))[..., None] * np.array([1.0, 0.25, 0.05])
    yellow = np.exp(-((2 * depth) ** 2))[..., None] * np.array([0.2, 0.5, 0.1])
    return np.asarray(picture + LEAKED * (red + yellow))


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
    "leak": leak,
    "weed": weed,
}
