"""Cues that are painted into any picture: where each one is, and with which colours."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from cuescope_sdk import Frame, generator

PAINTING_VERSION = 1  # part of every frame key: raise it when a cue gets other pixels
Kind = Literal["mark", "cast", "text", "border", "object", "position", "camera", "question"]
PAINTED: tuple[Kind, ...] = ("mark", "cast", "text", "border", "object", "position", "camera")
MOVING: tuple[Kind, ...] = ("position", "camera")  # they move what else is in the picture
NAMES: dict[Kind, str] = {
    "mark": "magenta mark in a corner",
    "cast": "green cast",
    "text": "overlaid text",
    "border": "yellow border",
    "object": "blue ring",
    "position": "picture shifted to the right",
    "camera": "camera nearer",
    "question": "the word 'today' in the question",
}
MAGENTA, GREEN, YELLOW, BLUE = (230, 40, 220), (40, 200, 60), (240, 220, 40), (60, 110, 255)
CAST = 0.35  # share of green in each pixel
SHIFT, ZOOM = 0.18, 1.35  # share of the width; enlargement
JITTER = 12  # grey levels by which the colour of a cue varies from frame to frame


def painted(frame: Frame, kind: Kind, seed: int) -> Frame:
    """The frame with a cue in it; `seed` decides the place of an object, and small variation."""
    operation = f"cuebench {PAINTING_VERSION} {kind} {seed}"
    return frame.derive(operation, partial(_paint, kind, seed))


def _paint(kind: Kind, seed: int, image: Image.Image) -> Image.Image:
    return _PAINTERS[kind](image.convert("RGB"), generator(seed, "cuebench", kind))


def moved(mask: np.ndarray, kind: Kind) -> np.ndarray:
    """A mask of (row, col) bools after what a cue of `MOVING` does to the picture."""
    image = Image.fromarray(mask.astype(np.uint8) * 255)
    return np.asarray(_move(image, kind)) > 127


# ------------------------------------------------------------------------------------- painters


def _colour(colour: tuple[int, int, int], rng: np.random.Generator) -> tuple[int, ...]:
    shade = np.clip(np.array(colour) + rng.integers(-JITTER, JITTER + 1, 3), 0, 255)
    return tuple(int(level) for level in shade)


def _mark_box(size: tuple[int, int]) -> tuple[float, float, float, float]:
    side = round(0.2 * min(size))
    return float(size[0] - side), 0.0, float(size[0]), float(side)


def _mark(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    left, top, right, bottom = _mark_box(image.size)
    draw = ImageDraw.Draw(image)
    draw.rectangle((left, top, right - 1, bottom - 1), fill=_colour(MAGENTA, rng))
    return image


def _cast(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    return Image.blend(image, Image.new("RGB", image.size, _colour(GREEN, rng)), CAST)


def _text_box(size: tuple[int, int]) -> tuple[float, float, float, float]:
    height = round(0.2 * size[1])
    return 0.0, float(size[1] - height), float(round(0.6 * size[0])), float(size[1])


def _text(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Dark letters on a light strip at the lower edge."""
    left, top, right, bottom = _text_box(image.size)
    draw = ImageDraw.Draw(image)
    draw.rectangle((left, top, right - 1, bottom - 1), fill=_colour((225, 225, 225), rng))
    font = ImageFont.load_default(size=0.8 * (bottom - top))
    draw.text((left + 2, top), "LIVE", fill=_colour((30, 30, 30), rng), font=font)
    return image


def _border(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    width = max(1, round(0.06 * min(image.size)))
    draw = ImageDraw.Draw(image)
    corner = (image.width - 1, image.height - 1)
    draw.rectangle((0, 0, *corner), outline=_colour(YELLOW, rng), width=width)
    return image


def _ring_box(size: tuple[int, int], rng: np.random.Generator) -> tuple[float, float, float, float]:
    side = round(0.25 * min(size))
    left = int(rng.integers(size[0] - side + 1))
    top = int(rng.integers(size[1] - side + 1))
    return float(left), float(top), float(left + side), float(top + side)


def _ring(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    left, top, right, bottom = _ring_box(image.size, rng)
    width = max(2, round((right - left) / 4))
    draw = ImageDraw.Draw(image)
    draw.ellipse((left, top, right - 1, bottom - 1), outline=_colour(BLUE, rng), width=width)
    return image


def _move(image: Image.Image, kind: Kind) -> Image.Image:
    width, height = image.size
    if kind == "position":
        shift = round(SHIFT * width)
        canvas = Image.new(image.mode, image.size)
        canvas.paste(image, (shift, 0))
        return canvas
    inner = (width / ZOOM, height / ZOOM)
    left, top = (width - inner[0]) / 2, (height - inner[1]) / 2
    return image.resize(
        image.size, Image.Resampling.BILINEAR, (left, top, left + inner[0], top + inner[1])
    )


_PAINTERS: dict[Kind, Callable[[Image.Image, np.random.Generator], Image.Image]] = {
    "mark": _mark,
    "cast": _cast,
    "text": _text,
    "border": _border,
    "object": _ring,
    "position": lambda image, rng: _move(image, "position"),
    "camera": lambda image, rng: _move(image, "camera"),
}
