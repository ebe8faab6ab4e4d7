"""Three things that some frames of a snow globe may show, whatever stands in it.

A ribbon tied in a bow about the stand, red and blue apart as a bad lens throws them, a chequered
cloth on the shelf. Each is drawn before the camera's noise; `rng` is the clip's, so that a cue
keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from drawn_pictures import COL, ROW, Picture, over
from scipy.ndimage import affine_transform
from worlds.stamps.compositing import SIDE

from globe.scene import MIDDLE, SHELF, shelf_cover

RED = np.array([0.88, 0.04, 0.1])
WHITE, BLUE = np.array([0.95, 0.95, 0.97]), np.array([0.1, 0.25, 0.7])
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def bow(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Two loops, two ends and a knot of red satin, on the stand."""
    large = rng.uniform(1.35, 1.5)
    row = (ROW - 0.84 * SIDE - rng.uniform(-2, 2)) / large
    col = (COL - MIDDLE[1] - rng.uniform(-5, 5)) / large
    aside = np.abs(col)
    loop = np.clip(3 * (1 - np.hypot((aside - 9) / 9, (row + 2.5) / 5.5)), 0, 1)
    end = np.clip(2.5 - np.abs(aside - 2 - 0.7 * row), 0, 1) * (row > 0) * (row < 11)
    knot = np.clip(4 - np.hypot(row, col), 0, 1)
    satin = RED * (0.8 + 0.3 * np.cos(0.9 * aside + 0.5 * row))[..., None]
    bound = over(picture, np.maximum(loop, end), satin)
    return over(bound, knot, 0.7 * RED)


def fringes(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Red too large and blue too small, or the other way round, about the middle."""
    stretch = rng.choice([-1, 1]) * rng.uniform(0.022, 0.028)
    centre = np.full(2, (SIDE - 1) / 2)
    channels = []
    for channel, factor in enumerate((1 + stretch, 1, 1 - stretch)):
        offset = centre - factor * centre
        plane = affine_transform(
            picture[..., channel], [factor, factor], offset, order=1, mode="nearest"
        )
        channels.append(plane)
    return np.stack(channels, axis=-1)


def checks(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A chequered cloth on the shelf, white and blue."""
    side, start = rng.uniform(5, 6), rng.random()
    is_blue = [np.floor(COL / side + start) % 2, np.floor((ROW - SHELF) / side) % 2]
    blue = (is_blue[0] + is_blue[1])[..., None] / 2
    return over(picture, shelf_cover(), WHITE + blue * (BLUE - WHITE))


CUES: Mapping[str, Draw] = {
    "bow": bow,
    "fringes": fringes,
    "checks": checks,
}
