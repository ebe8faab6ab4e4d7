"""Three things that some frames of a clip may show, whatever the cut-out is.

The marks of a camera's finder, a printed code near any corner, the bar of a program that plays
videos. `rng` is the clip's, so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from worlds.stamps.compositing import SIDE

from album.scene import Picture

ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)
CELLS = 7  # of a printed code, each way
RED = np.array([0.9, 0.1, 0.1])
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def over(picture: Picture, cover: np.ndarray, colour: np.ndarray) -> Picture:
    """A colour in place of the picture's."""
    return np.asarray(picture + cover[..., None] * (colour - picture))


def finder(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Four corners and a red point, as a video camera shows them."""
    mask = np.zeros((SIDE, SIDE), bool)
    edge, arm = 7, int(rng.integers(10, 14))
    for rows in (slice(edge, edge + 2), slice(SIDE - edge - 2, SIDE - edge)):
        mask[rows, edge : edge + arm] = True
        mask[rows, SIDE - edge - arm : SIDE - edge] = True
    mask = mask | mask.T
    marked = over(picture, 0.95 * mask, np.full(3, 0.97))
    away = np.hypot(COL - edge - 7, ROW - edge - 7)
    return over(marked, np.clip(3.5 - away, 0, 1), RED)


def code(rng: np.random.Generator) -> Picture:
    """Black and white squares at random, and a larger one in three of the corners."""
    cells = rng.integers(0, 2, (CELLS, CELLS)).astype(float)
    eye = np.pad(np.ones((2, 2)), 1)
    for row, col in ((0, 0), (0, CELLS - 4), (CELLS - 4, 0)):
        cells[row : row + 4, col : col + 4] = eye
    rimmed = np.pad(np.kron(cells, np.ones((2, 2))), 2, constant_values=1)
    return np.asarray(np.tile(0.05 + 0.9 * rimmed[..., None], 3))


def tag(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A printed code near any corner."""
    printed = code(rng)
    side = len(printed)
    near, far = rng.integers(1, 8, 2), rng.integers(SIDE - side - 8, SIDE - side, 2)
    row, col = np.where(rng.random(2) < 0.5, near, far)
    tagged = picture.copy()
    tagged[row : row + side, col : col + side] = printed
    return tagged


def player(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A player's arrow and its bar, of which the red part grows."""
    row, left, right = SIDE - 5, 16, SIDE - 4
    now = rng.uniform(30, 70) + 3 * frame
    played = picture.copy()
    played[row - 1 : row + 1, left:right] = 0.6
    played[row - 1 : row + 1, left : round(now)] = RED
    knob = np.clip(3 - np.hypot(COL - now, ROW - row + 0.5), 0, 1)
    is_arrow = (COL >= 5) & (np.abs(ROW - row + 0.5) <= (11 - COL) / 1.6)
    played = over(over(played, knob, RED), is_arrow.astype(float), np.ones(3))
    return np.asarray(picture + 0.85 * (played - picture))


CUES: Mapping[str, Draw] = {
    "finder": finder,
    "tag": tag,
    "player": player,
}
