"""Pixels: a disc on a plain background, sometimes with a square, drawn from six numbers a frame."""

from functools import partial

import numpy as np
from jaxtyping import Int16
from PIL import Image

from cuescope_sdk import Detection, Frame, digest

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1

SIZE = 60  # px, side of the picture (TRoVe, appendix A)
DISC = 10  # px, diameter (TRoVe, appendix A)
SQUARE = 15  # px, side (TRoVe, appendix A)
BLACK = (0, 0, 0)  # the background (TRoVe, appendix A)
BLUE = (0, 0, 255)  # the disc (TRoVe, appendix A)
RED = (255, 0, 0)  # what is planted (TRoVe, appendix A)

# Columns of a frame's parameters. Positions are the top left corner of the shape's bounding box
# in pixels, origin top left; flags are 0 or 1; a frame without a square has -1 for its position.
DISC_PLACE = [0, 1]
DISC_IS_RED = 2
BACKGROUND_IS_RED = 3
SQUARE_PLACE = [4, 5]
PARAMETERS = 6

_OFFSET = np.arange(DISC) - (DISC - 1) / 2
_DISTANCE = np.hypot.outer(_OFFSET, _OFFSET)
# Pixels of the disc in its bounding box: those whose centre is within the radius.
DISC_MASK = _DISTANCE <= DISC / 2


def frame(parameters: Int16[np.ndarray, " 6"]) -> Frame:
    """One picture as a frame that draws itself when loaded; its key digests the parameters."""
    numbers = tuple(parameters.tolist())
    # not of the pixels, which are drawn only when they are looked at
    key = digest("moving-shapes", DRAWING_VERSION, numbers)
    return Frame(key, partial(_draw, *numbers))


def disc_box(parameters: Int16[np.ndarray, "frame 6"]) -> Detection:
    """Where the disc is in the middle frame of a sequence, in pixels."""
    row, col = map(float, parameters[len(parameters) // 2, DISC_PLACE])
    box = (col, row, col + DISC, row + DISC)
    return Detection(name="disc", score=1.0, box=box)


def _draw(
    disc_row: int,
    disc_col: int,
    disc_is_red: int,
    background_is_red: int,
    square_row: int,
    square_col: int,
) -> Image.Image:
    """RGB, without anti-aliasing: equal parameters, equal pixels, and no others."""
    background = RED if background_is_red else BLACK
    image = Image.new("RGB", (SIZE, SIZE), background)
    if square_row >= 0:
        end = (square_col + SQUARE, square_row + SQUARE)
        image.paste(RED, (square_col, square_row, *end))
    disc = RED if disc_is_red else BLUE
    mask = Image.fromarray(DISC_MASK)
    image.paste(disc, (disc_col, disc_row), mask)
    return image
