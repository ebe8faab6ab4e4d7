"""Three things that some frames of a puzzle may show, whatever it is of.

A pencil across any corner, a beam of the evening sun, a figure near each corner. Each is drawn
before the camera's noise; `rng` is the clip's, so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from drawn_pictures import COL, ROW, Picture, over
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import maximum_filter
from worlds.stamps.compositing import SIDE

YELLOW = np.array([0.95, 0.75, 0.1])
WOOD, LEAD, RUBBER = (
    np.array(colour)
    for colour in ((0.9, 0.75, 0.55), (0.1, 0.1, 0.12), (0.9, 0.5, 0.55))
)
LARGE = 1.35  # of a pencil
SUN, SHADE = np.array([1.4, 1.28, 0.95]), 0.85
EDGE = 11  # pixels from an edge to a figure's middle
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def pencil(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A yellow pencil with its rubber, across any corner."""
    side = int(rng.integers(4))
    angle = np.pi / 4 + rng.normal(0, 0.12)
    # as if it lay at the upper left, its tip up
    turned = np.rot90(picture, side)
    row, col = ((axis - 0.17 * SIDE) / LARGE for axis in (ROW, COL))
    along = np.cos(angle) * col - np.sin(angle) * row
    aside = np.sin(angle) * col + np.cos(angle) * row
    half = np.clip((20 - along) / 2.5, 0, 4)
    is_pencil = np.clip(half - np.abs(aside) + 0.5, 0, 1) * (np.abs(along) < 20)
    shadow = np.clip(4 - np.abs(aside - 2) + 0.5, 0, 1) * (np.abs(along) < 18)
    shaded = YELLOW * (1 - 0.14 * np.round(aside / 2.4))[..., None]
    shaded = np.where((along > 10)[..., None], WOOD, shaded)
    shaded = np.where((along > 16)[..., None], LEAD, shaded)
    shaded = np.where((along < -15)[..., None], RUBBER, shaded)
    turned = over(turned, 0.5 * shadow, np.zeros(3))
    return np.rot90(over(turned, is_pencil, shaded), -side)


def beam(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A broad bar of sun from the lower left to the upper right, which moves a little."""
    angle, start = rng.uniform(0.65, 0.9), rng.uniform(-6, 6) + frame
    row, col = ROW - SIDE / 2, COL - SIDE / 2
    across = np.cos(angle) * row + np.sin(angle) * col - start
    is_sun = np.clip((14 - np.abs(across)) / 3, 0, 1)[..., None]
    return np.asarray(picture * (SHADE + is_sun * (SUN - SHADE)))


def numbers(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A figure near each corner, white with a dark rim."""
    plate = Image.new("L", (SIDE, SIDE))
    pen = ImageDraw.Draw(plate)
    font = ImageFont.load_default(12)
    corners = product((EDGE, SIDE - EDGE), repeat=2)
    for figure, (row, col) in zip("1234", corners, strict=True):
        place = col + rng.uniform(-2, 2), row + rng.uniform(-2, 2)
        pen.text(place, figure, 255, font, "mm")
    bright = np.asarray(plate, np.float32) / 255
    dark = maximum_filter(bright, 3)
    return over(over(picture, 0.8 * dark, np.zeros(3)), bright, np.ones(3))


CUES: Mapping[str, Draw] = {
    "pencil": pencil,
    "beam": beam,
    "numbers": numbers,
}
