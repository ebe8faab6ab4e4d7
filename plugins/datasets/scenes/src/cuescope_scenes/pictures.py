"""Pixels of one scene from its numbers: background, objects, blur, noise, and the mask."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool
from PIL import Image, ImageDraw, ImageFilter

from cuescope_scenes.shapes import INK, Points, hole, marks, outline
from cuescope_scenes.textures import COL, ROW, SIZE, Pixels, Plane, add_grain, texture
from cuescope_scenes.words import COLOURS
from cuescope_sdk import Frame, digest, generator

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1

FINE = 3  # subpixels along a pixel's side
SHADE = 0.72  # brightness at the lower edge of an object, 1 at its upper edge
Mask = Bool[np.ndarray, "row col"]


@dataclass(frozen=True)
class Thing:
    """One object: what, in which colour, where its centre is (px), its radius (px), its turn."""

    name: str
    colour: str
    row: float
    col: float
    radius: float
    turn: float


@dataclass(frozen=True)
class Scene:
    """All that a picture shows; `blur` is the radius of the lens in px, `noise` in grey levels."""

    background: str
    things: tuple[Thing, ...]
    blur: float
    noise: float
    seed: int


def frame(scene: Scene) -> Frame:
    """The picture as a frame that draws itself when loaded; its key digests the scene."""
    key = digest("scenes", DRAWING_VERSION, astuple(scene))
    return Frame(key, partial(_picture, scene))


def foreground(things: Sequence[Thing]) -> Mask:
    """Where any object covers at least half of a pixel of the unblurred picture."""
    largest = np.zeros((SIZE, SIZE))
    for item in things:
        np.maximum(largest, coverage(item), out=largest)
    return largest >= 0.5


def render(scene: Scene) -> Pixels:
    """Grey levels before blur and noise, 0-255."""
    # A generator for each part: the same texture lies under other things, and under other grain.
    pixels = texture(scene.background, generator(scene.seed, "scenes", "texture"))
    for item in scene.things:
        share = coverage(item)[..., None]
        pixels = pixels + share * (_paint(item) - pixels)
    return pixels.clip(0, 255)


def coverage(thing: Thing) -> Plane:
    """Share of each pixel that the object covers, in ninths."""
    canvas = fine_canvas("L")
    draw = ImageDraw.Draw(canvas)
    draw.polygon(_corners(thing, outline(thing.name)), fill=255)
    opening = hole(thing.name)  # through it the background shows
    if opening is not None:
        draw.polygon(_corners(thing, opening), fill=0)
    return reduce_canvas(canvas) / 255


def fine_canvas(mode: str) -> Image.Image:
    """Black, `FINE` subpixels along the side of each pixel."""
    side = SIZE * FINE
    return Image.new(mode, (side, side))


def reduce_canvas(canvas: Image.Image) -> np.ndarray:
    """The mean of the subpixels of each pixel, 0-255."""
    return np.asarray(canvas.reduce(FINE), np.float64)


def fine_corners(points: Points) -> list[tuple[float, ...]]:
    """Columns and rows in px, as Pillow takes them on a fine canvas."""
    return list(map(tuple, (points * FINE).tolist()))


def _corners(thing: Thing, points: Points) -> list[tuple[float, ...]]:
    cos = np.cos(thing.turn)
    sin = np.sin(thing.turn)
    rotation = np.array([(cos, sin), (-sin, cos)])
    centre = (thing.col, thing.row)
    return fine_corners(points @ rotation * thing.radius + centre)


def _paint(thing: Thing) -> Pixels:
    """The colour, darker from the upper to the lower edge, under the marks."""
    # 0.5: the middle of the pixel
    row = ROW + 0.5 - thing.row
    col = COL + 0.5 - thing.col
    height = (row / thing.radius).clip(-1, 1)
    light = 1 - (1 - SHADE) * (height + 1) / 2
    paint: Pixels = light[..., None] * np.array(COLOURS[thing.colour])
    cos = np.cos(thing.turn)
    sin = np.sin(thing.turn)
    across = col * cos + row * sin
    down = row * cos - col * sin
    pattern = marks(thing.name, across, down)
    if pattern is None:
        return paint
    return np.where(pattern[..., None], INK, paint)


def _picture(scene: Scene) -> Image.Image:
    image = Image.fromarray(np.rint(render(scene)).astype(np.uint8))
    if scene.blur:
        image = image.filter(ImageFilter.GaussianBlur(scene.blur))
    rng = generator(scene.seed, "scenes", "noise")
    return Image.fromarray(add_grain(np.asarray(image, np.float64), scene.noise, rng))
