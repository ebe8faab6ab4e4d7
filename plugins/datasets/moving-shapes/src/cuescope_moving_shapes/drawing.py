"""Pixels: a disc on a plain background, sometimes with a square, drawn from six numbers a frame."""

from functools import partial

import numpy as np
from cuescope_sdk import Frame, digest
from jaxtyping import Int16, UInt8
from PIL import Image

DRAWING_VERSION = 1  # part of every frame key: raise it when the same numbers give other pixels

SIZE = 60  # px, side of the picture
DISC = 10  # px, diameter
SQUARE = 15  # px, side
BLACK, BLUE, RED = (0, 0, 0), (0, 0, 255), (255, 0, 0)

# Columns of a frame's parameters. Positions are the top left corner of the shape's bounding box
# in pixels, origin top left; flags are 0 or 1; a frame without a square has -1 for its position.
DISC_ROW, DISC_COL, DISC_IS_RED, BACKGROUND_IS_RED, SQUARE_ROW, SQUARE_COL = range(6)
PARAMETERS = 6

_OFFSET = np.arange(DISC) - (DISC - 1) / 2
# Pixels of the disc relative to its corner: those whose centre is within the radius.
DISC_ROWS, DISC_COLS = np.nonzero(_OFFSET[:, None] ** 2 + _OFFSET**2 <= (DISC / 2) ** 2)
_SQUARE_ROWS, _SQUARE_COLS = np.divmod(np.arange(SQUARE**2), SQUARE)


def render(parameters: Int16[np.ndarray, "frame 6"]) -> UInt8[np.ndarray, "frame 60 60 3"]:
    """The pictures, RGB, without anti-aliasing: equal parameters, equal pixels, and no others."""
    backgrounds = np.array([BLACK, RED], np.uint8)[parameters[:, BACKGROUND_IS_RED]]
    pixels = np.empty((len(parameters), SIZE, SIZE, 3), np.uint8)
    pixels[:] = backgrounds[:, None, None]
    marked = np.flatnonzero(parameters[:, SQUARE_ROW] >= 0)
    if len(marked):
        rows = parameters[marked, SQUARE_ROW, None] + _SQUARE_ROWS
        cols = parameters[marked, SQUARE_COL, None] + _SQUARE_COLS
        pixels[marked[:, None], rows, cols] = RED
    discs = np.array([BLUE, RED], np.uint8)[parameters[:, DISC_IS_RED]]
    rows = parameters[:, DISC_ROW, None] + DISC_ROWS
    cols = parameters[:, DISC_COL, None] + DISC_COLS
    pixels[np.arange(len(parameters))[:, None], rows, cols] = discs[:, None]
    return pixels


def frame(parameters: Int16[np.ndarray, " 6"]) -> Frame:
    """One picture as a frame that draws itself when loaded; its key digests the parameters."""
    numbers = tuple(int(number) for number in parameters)
    return Frame(digest("moving-shapes", DRAWING_VERSION, numbers), partial(_draw, numbers))


def _draw(numbers: tuple[int, ...]) -> Image.Image:
    return Image.fromarray(render(np.array([numbers], np.int16))[0])
