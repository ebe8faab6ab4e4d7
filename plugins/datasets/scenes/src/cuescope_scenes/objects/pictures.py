"""Pixels, boxes and masks of one object scene from its numbers."""

from dataclasses import astuple, dataclass
from functools import lru_cache, partial

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cuescope_scenes.objects.shapes import sprite
from cuescope_scenes.textures import SIZE, Pixels, grainy_image, texture
from cuescope_sdk import Detection, Frame, digest, generator

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1

CONTRAST = 0.35  # backgrounds are paler than the objects
MIDDLE = 150.0  # grey level


@dataclass(frozen=True)
class Thing:
    """An object: what, the upper left corner of its square and the side (px), and how it shows.

    `opacity` 1 hides the background, 0 would not be there.
    """

    name: str
    row: int
    col: int
    side: int
    mirrored: bool
    opacity: float

    @property
    def square(self) -> tuple[slice, slice]:
        """The rows and columns of its square."""
        rows = slice(self.row, self.row + self.side)
        cols = slice(self.col, self.col + self.side)
        return rows, cols


@dataclass(frozen=True)
class Picture:
    """All that an image shows; `noise` in grey levels."""

    background: str
    things: tuple[Thing, ...]
    noise: float
    seed: int


@lru_cache(maxsize=64)  # the questions about an image follow each other
def frame(picture: Picture) -> Frame:
    """The image as a frame that draws itself when loaded; its key digests the numbers."""
    key = digest("object-scenes", DRAWING_VERSION, astuple(picture))
    return Frame(key, partial(draw, picture))


def draw(picture: Picture) -> Image.Image:
    """The image, with its grain."""
    rng = generator(picture.seed, "object-scenes", "noise")
    return grainy_image(render(picture), picture.noise, rng)


def render(picture: Picture) -> Pixels:
    """Grey levels without grain, 0-255."""
    rng = generator(picture.seed, "object-scenes", "texture")
    background = texture(picture.background, rng)
    pixels = MIDDLE + CONTRAST * (background - MIDDLE)
    for item in picture.things:
        looks = _looks(item).astype(np.float64)
        share = item.opacity * looks[..., 3:] / 255
        # A view: what is added to it is painted into the picture.
        under = pixels[item.square]
        under += share * (looks[..., :3] - under)
    return pixels.clip(0, 255)


def _looks(thing: Thing) -> UInt8[np.ndarray, "row col 4"]:
    """Red, green, blue and the share of each pixel that it covers."""
    return np.asarray(sprite(thing.name, thing.side, thing.mirrored))


def footprint(thing: Thing) -> Bool[np.ndarray, "row col"]:
    """The pixels of which it covers at least half, however faint it is."""
    mask = np.zeros((SIZE, SIZE), bool)
    alpha = _looks(thing)[..., 3]
    # half: what is fainter at the rim is background
    mask[thing.square] = alpha >= 128
    return mask


def detection(thing: Thing) -> Detection:
    """The smallest box around the footprint."""
    place = np.argwhere(footprint(thing))
    top, left = place.min(axis=0).tolist()
    # + 1: a box ends behind its last pixel
    bottom, right = (place.max(axis=0) + 1).tolist()
    box = (left, top, right, bottom)
    return Detection(name=thing.name, score=1.0, box=box)


def mask(thing: Thing) -> Frame:
    """The footprint, white on black."""
    key = digest("object-scenes", "mask", DRAWING_VERSION, astuple(thing))
    return Frame(key, partial(_black_and_white, thing))


def _black_and_white(thing: Thing) -> Image.Image:
    pixels = footprint(thing).astype(np.uint8) * 255
    return Image.fromarray(pixels).convert("RGB")
