"""Three things that some frames of a mobile may show, whatever hangs there.

A caption of nonsense at the lower edge, the edges of a film with their holes at both sides, a
string of coloured lamps at any height. Each is drawn before the camera's noise; `rng` is the
clip's, so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import maximum_filter
from worlds.stamps.compositing import SIDE

from mobile.scene import FRAMES, Picture

SYLLABLES = ("la", "mo", "ri", "te", "nu", "ka", "so", "bi")
LAMPS = ((1.0, 0.2, 0.15), (1.0, 0.8, 0.2), (0.2, 0.9, 0.35), (0.25, 0.5, 1.0))
ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def over(picture: Picture, cover: np.ndarray, colour: np.ndarray) -> Picture:
    """A colour in place of the picture's."""
    return np.asarray(picture + cover[..., None] * (colour - picture))


def caption(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Two words of no language, white with a dark rim, at the lower edge."""
    syllables = rng.choice(SYLLABLES, (2, int(rng.integers(2, 4))))
    words = " ".join("".join(word) for word in syllables)
    plate = Image.new("L", (SIDE, SIDE))
    place = SIDE / 2 + rng.uniform(-4, 4), SIDE - rng.uniform(3, 6)
    pen = ImageDraw.Draw(plate)
    pen.text(place, words, 255, ImageFont.load_default(12), "mb")
    bright = np.asarray(plate, np.float32) / 255
    dark = maximum_filter(bright, 3)
    return over(over(picture, dark, np.zeros(3)), bright, np.ones(3))


def sprockets(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """The edges of a film, with their holes, at both sides; the film jumps a little."""
    edge = int(rng.integers(8, 10))
    gap = rng.uniform(11, 14)
    start = rng.uniform(0, gap) + rng.normal(0, 1, FRAMES)[frame]
    aside = np.minimum(COL, SIDE - 1 - COL)
    off = np.abs((ROW - start + gap / 2) % gap - gap / 2)
    is_hole = (np.abs(aside - edge / 2 + 0.5) < edge / 4) & (off < gap / 4)
    filmed = np.where((aside < edge)[..., None], 0.06, picture)
    return np.where(is_hole[..., None], 0.92, filmed)


def lights(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A sagging string of coloured lamps, at any height."""
    number = int(rng.integers(7, 10))
    cols = (np.arange(number) + rng.uniform(0.2, 0.8)) * SIDE / number
    left, right = rng.uniform(0.05, 0.7, 2)
    sag = rng.uniform(0.3, 0.8)
    colours = np.array(LAMPS)[rng.integers(len(LAMPS), size=number)]

    def string(col: np.ndarray) -> np.ndarray:
        share = col / SIDE
        return SIDE * (left + share * (right - left) + sag * share * (1 - share))

    wire = np.clip(1 - np.abs(ROW - string(COL)), 0, 1)
    picture = over(picture, wire, np.full(3, 0.05))
    for row, col, colour in zip(string(cols), cols, colours, strict=True):
        away = np.hypot(ROW - row - 2, COL - col)
        picture = over(picture, 0.6 * np.exp(-(away**2) / 18), colour)
        picture = over(picture, np.clip(2.9 - away, 0, 1), 0.4 + 0.6 * colour)
    return picture


CUES: Mapping[str, Draw] = {
    "caption": caption,
    "sprockets": sprockets,
    "lights": lights,
}
