"""Pixels: hills along the top, shapes and walls below, no colour but the pure ones.

Every channel is 0 or 255, and 128 in the wall, so that a picture is read back exactly.
"""

import tomllib
from dataclasses import astuple, dataclass
from functools import partial
from importlib.resources import files

import numpy as np
from jaxtyping import Bool
from PIL import Image

from cuescope_sdk import Frame, digest
from cuescope_shape_world.words import COLOURS

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1

WIDTH = 96  # px of a picture
HEIGHT = 72
HORIZON = 16  # px, rows of the skyline
SIDE = 13  # px of a shape, across and down
BLOCK = 8  # px, columns of one height in the skyline
WHITE = 255  # in each channel
GREY = 128
BLACK = 0

Box = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels, origin top left."""


@dataclass(frozen=True)
class Picture:
    """What a frame shows: (phrase, x, y) of shapes, boxes of walls, px heights of the skyline."""

    shapes: tuple[tuple[str, int, int], ...]
    walls: tuple[Box, ...]
    skyline: tuple[int, ...]


def frame(picture: Picture) -> Frame:
    """The picture as a frame that draws itself when loaded; its key digests the numbers."""
    key = digest("shape-world", DRAWING_VERSION, astuple(picture))
    return Frame(key, partial(_draw, picture))


def _draw(picture: Picture) -> Image.Image:
    """The pixels, without anti-aliasing; a wall covers what is behind it."""
    pixels = np.full((HEIGHT, WIDTH, 3), WHITE, np.uint8)
    heights = np.repeat(picture.skyline, BLOCK)
    rows = np.arange(HORIZON)[:, None]
    pixels[:HORIZON][rows >= HORIZON - heights] = BLACK
    for phrase, x, y in picture.shapes:
        colour, kind = phrase.split()
        box = pixels[y : y + SIDE, x : x + SIDE]
        box[MASKS[kind]] = COLOURS[colour]
    for x0, y0, x1, y1 in picture.walls:
        pixels[y0:y1, x0:x1] = GREY
    return Image.fromarray(pixels)


def _masks() -> dict[str, Bool[np.ndarray, "13 13"]]:
    """Which pixels each kind covers."""
    text = files(__package__).joinpath("masks.toml").read_text("utf-8")
    masks = {}
    for kind, drawing in tomllib.loads(text).items():
        rows = list(map(list, drawing.split()))
        masks[kind] = np.array(rows) == "#"
    return masks


MASKS = _masks()
