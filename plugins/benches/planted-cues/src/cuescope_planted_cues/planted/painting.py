"""Cues that are painted into any picture: where each one is, and with which colours."""

from functools import partial
from typing import Literal

import numpy as np
from numpy.random import Generator
from PIL import Image, ImageDraw, ImageFont

from cuescope_sdk import Frame, generator

PAINTING_VERSION = 1  # part of every frame key: raise it when a cue gets other pixels
Kind = Literal[
    "mark",
    "cast",
    "text",
    "border",
    "position",
    "question",
]
NAMES: dict[Kind, str] = {
    "mark": "magenta mark in a corner",
    "cast": "green cast",
    "text": "overlaid text",
    "border": "yellow border",
    "position": "picture shifted to the right",
    "question": "the word 'today' in the question",
}
MAGENTA = (230, 40, 220)
GREEN = (40, 200, 60)
YELLOW = (240, 220, 40)
PAPER = (225, 225, 225)
INK = (30, 30, 30)
CAST = 0.35  # share of green in each pixel
SHIFT = 0.18  # share of the width
JITTER = 12  # grey levels by which the colour of a cue varies from frame to frame


def paint(frame: Frame, kind: Kind, seed: int) -> Frame:
    """The frame with a cue in it; `seed` decides the place of an object, and small variation."""
    # keys and seeds keep the bench's first name: another one would draw other cues
    operation = f"cuebench {PAINTING_VERSION} {kind} {seed}"
    return frame.derive(operation, partial(_paint, kind, seed))


def _paint(kind: Kind, seed: int, image: Image.Image) -> Image.Image:
    # pictures may be grey or of a palette, which has no such colours
    image = image.convert("RGB")
    rng = generator(seed, "cuebench", kind)
    match kind:
        case "mark":
            return _mark(image, rng)
        case "cast":
            green = Image.new("RGB", image.size, _colour(GREEN, rng))
            return Image.blend(image, green, CAST)
        case "text":
            return _text(image, rng)
        case "border":
            return _border(image, rng)
        case _:
            return _shift(image)


def move_mask(mask: np.ndarray) -> np.ndarray:
    """A mask of (row, col) bools in a picture that is shifted."""
    return np.asarray(_shift(Image.fromarray(mask.astype(np.uint8) * 255))) > 127


# ------------------------------------------------------------------------------------- painters


def _colour(colour: tuple[int, int, int], rng: Generator) -> tuple[int, ...]:
    shade = colour + rng.integers(-JITTER, JITTER + 1, 3)
    return tuple(shade.clip(0, 255).tolist())


def _mark(image: Image.Image, rng: Generator) -> Image.Image:
    side = round(0.2 * min(image.size))
    left = image.width - side
    draw = ImageDraw.Draw(image)
    # Pillow draws the last row and column too, hence the -1
    draw.rectangle((left, 0, image.width - 1, side - 1), fill=_colour(MAGENTA, rng))
    return image


def _text(image: Image.Image, rng: Generator) -> Image.Image:
    """Dark letters on a light strip at the lower edge."""
    height = round(0.2 * image.height)
    top = image.height - height
    right = round(0.6 * image.width)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, top, right - 1, image.height - 1), fill=_colour(PAPER, rng))
    # Pillow's own: which fonts a system has must not decide the pixels
    font = ImageFont.load_default(size=0.8 * height)
    draw.text((2, top), "LIVE", fill=_colour(INK, rng), font=font)
    return image


def _border(image: Image.Image, rng: Generator) -> Image.Image:
    # a tiny picture must show it too
    width = max(1, round(0.06 * min(image.size)))
    draw = ImageDraw.Draw(image)
    corner = (image.width - 1, image.height - 1)
    draw.rectangle((0, 0, *corner), outline=_colour(YELLOW, rng), width=width)
    return image


def _shift(image: Image.Image) -> Image.Image:
    canvas = Image.new(image.mode, image.size)
    canvas.paste(image, (round(SHIFT * image.width), 0))
    return canvas
