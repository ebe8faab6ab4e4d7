"""Pixels of one scene from its numbers: background, objects, blur, noise, and the mask."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image, ImageDraw, ImageFilter

from cuescope_scenes.shapes import INK, Points, hole, marks, outline
from cuescope_scenes.textures import (
    COL,
    ROW,
    SIZE,
    Pixels,
    Plane,
    grainy_image,
    texture,
)
from cuescope_scenes.words import COLOURS
from cuescope_sdk import Frame, digest, generator

# part of every frame key: raise it when the same numbers give other pixels
DRAWING_VERSION = 1

FINE = 3  # subpixels along a pixel's side
SHADE = 0.72  # brightness at the lower edge of an object, 1 at its upper edge
Mask = Bool[np.ndarray, "row col"]
Ink = int | tuple[int, ...]  # grey, or red, green and blue, 0-255


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
    covers = [coverage(item) >= 0.5 for item in things]
    return np.asarray(np.stack(covers).any(axis=0))


def render(scene: Scene) -> Pixels:
    """Grey levels before blur and noise, 0-255."""
    # A generator for each part: the same texture lies under other things, and under other grain.
    rng = generator(scene.seed, "scenes", "texture")
    pixels = texture(scene.background, rng)
    for item in scene.things:
        share = coverage(item)[..., None]
        pixels = pixels + share * (_paint(item) - pixels)
    return pixels.clip(0, 255)


def coverage(thing: Thing) -> Plane:
    """Share of each pixel that the object covers, in ninths."""
    edge = _corners(thing, outline(thing.name))
    polygons: list[tuple[Points, Ink]] = [(edge, 255)]
    opening = hole(thing.name)  # through it the background shows
    if opening is not None:
        edge = _corners(thing, opening)
        polygons.append((edge, 0))
    return draw_polygons("L", polygons) / 255


def draw_polygons(
    mode: str, polygons: Iterable[tuple[Points, Ink]]
) -> Float[np.ndarray, "row col *channel"]:
    """Each filled with its ink, over those before it, on black; columns and rows are px.

    Of a pixel the mean of its `FINE` x `FINE` subpixels, 0-255.
    """
    side = SIZE * FINE
    canvas = Image.new(mode, (side, side))
    draw = ImageDraw.Draw(canvas)
    for corners, ink in polygons:
        fine = corners * FINE
        draw.polygon(fine.ravel().tolist(), fill=ink)
    return np.asarray(canvas.reduce(FINE), np.float64)


def rotation_matrix(angle: float) -> Float[np.ndarray, "2 2"]:
    """For rows of column and row, clockwise to whoever looks; radians."""
    cos = np.cos(angle)
    sin = np.sin(angle)
    return np.array([(cos, sin), (-sin, cos)])


def _corners(thing: Thing, points: Points) -> Points:
    turned = points @ rotation_matrix(thing.turn)
    centre = np.array([thing.col, thing.row])
    return np.asarray(turned * thing.radius + centre)


def _paint(thing: Thing) -> Pixels:
    """The colour, darker from the upper to the lower edge, under the marks."""
    # 0.5: the middle of the pixel
    row = ROW + 0.5 - thing.row
    col = COL + 0.5 - thing.col
    height = (row / thing.radius).clip(-1, 1)
    light = 1 - (1 - SHADE) * (height + 1) / 2
    colour = np.array(COLOURS[thing.colour])
    paint: Pixels = light[..., None] * colour
    cos = np.cos(thing.turn)
    sin = np.sin(thing.turn)
    across = col * cos + row * sin
    down = row * cos - col * sin
    pattern = marks(thing.name, across, down)
    if pattern is None:
        return paint
    return np.where(pattern[..., None], INK, paint)


def _picture(scene: Scene) -> Image.Image:
    levels = np.rint(render(scene))
    image = Image.fromarray(levels.astype(np.uint8))
    if scene.blur:
        lens = ImageFilter.GaussianBlur(scene.blur)
        image = image.filter(lens)
    rng = generator(scene.seed, "scenes", "noise")
    pixels = np.asarray(image, np.float64)
    return grainy_image(pixels, scene.noise, rng)
