"""Pixels: a disc on a plain background, sometimes with a square, drawn from six numbers a frame."""

from functools import partial

import numpy as np
from jaxtyping import Int16, UInt8
from PIL import Image

from cuescope_sdk import Frame, digest

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1

SIZE = 60  # px, side of the picture
DISC = 10  # px, diameter
SQUARE = 15  # px, side
PALETTE = np.array([(0, 0, 0), (0, 0, 255), (255, 0, 0)], np.uint8)
BLACK, BLUE, RED = range(3)  # rows of PALETTE

# Columns of a frame's parameters. Positions are the top left corner of the shape's bounding box
# in pixels, origin top left; flags are 0 or 1; a frame without a square has -1 for its position.
DISC_ROW, DISC_COL, DISC_IS_RED, BACKGROUND_IS_RED, SQUARE_ROW, SQUARE_COL = range(6)
PARAMETERS = 6

_OFFSET = np.arange(DISC) - (DISC - 1) / 2
# Pixels of the disc in its bounding box: those whose centre is within the radius.
DISC_MASK = _OFFSET[:, None] ** 2 + _OFFSET**2 <= (DISC / 2) ** 2
# Distance from the pixel at a shape's corner to each of its pixels, in a flattened picture.
_DISC_PIXELS = np.flatnonzero(np.pad(DISC_MASK, ((0, 0), (0, SIZE - DISC))))
_SQUARE_PIXELS = np.flatnonzero(np.arange(SQUARE * SIZE) % SIZE < SQUARE)


def render(
    parameters: Int16[np.ndarray, "frame 6"],
) -> UInt8[np.ndarray, "frame 60 60 3"]:
    """The pictures, RGB, without anti-aliasing: equal parameters, equal pixels, and no others."""
    count = len(parameters)
    colour = np.zeros((count, SIZE * SIZE), np.uint8)
    colour[parameters[:, BACKGROUND_IS_RED] == 1] = RED
    corner = parameters[:, [SQUARE_ROW]] * SIZE + parameters[:, [SQUARE_COL]]
    marked = np.flatnonzero(parameters[:, SQUARE_ROW] >= 0)
    colour[marked[:, None], corner[marked] + _SQUARE_PIXELS] = RED
    corner = parameters[:, [DISC_ROW]] * SIZE + parameters[:, [DISC_COL]]
    disc = np.where(parameters[:, [DISC_IS_RED]] == 1, RED, BLUE)
    colour[np.arange(count)[:, None], corner + _DISC_PIXELS] = disc
    return PALETTE.take(colour, axis=0).reshape(count, SIZE, SIZE, 3)


def frame(parameters: Int16[np.ndarray, " 6"]) -> Frame:
    """One picture as a frame that draws itself when loaded; its key digests the parameters."""
    numbers = tuple(parameters.tolist())
    key = digest("moving-shapes", DRAWING_VERSION, numbers)
    return Frame(key, partial(_draw, numbers))


def _draw(numbers: tuple[int, ...]) -> Image.Image:
    return Image.fromarray(render(np.array([numbers], np.int16))[0])
