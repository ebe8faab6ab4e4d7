"""Pixels of one scene from its numbers: background, objects, blur, noise, and the mask."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image, ImageDraw, ImageFilter

from cuescope_scenes.shapes import INK, hole, marks, outline
from cuescope_scenes.textures import SIZE, texture
from cuescope_scenes.words import COLOURS
from cuescope_sdk import Frame, digest, generator

DRAWING_VERSION = 1  # part of every frame key: raise it when the same numbers give other pixels

FINE = 3  # subpixels along a pixel's side
_CENTRES = np.mgrid[:SIZE, :SIZE] + 0.5  # row and column of each pixel's centre, px
SHADE = 0.72  # brightness at the lower edge of an object, 1 at its upper edge


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


def foreground(things: Sequence[Thing]) -> Bool[np.ndarray, "row col"]:
    """Where any object covers at least half of a pixel of the unblurred picture."""
    shares = np.stack([coverage(thing) for thing in things])
    return np.asarray(shares.max(axis=0) >= 0.5)


def render(scene: Scene) -> Float[np.ndarray, "row col 3"]:
    """Grey levels before blur and noise, 0-255."""
    # A generator for each part: the same texture lies under other things, and under other grain.
    pixels = texture(scene.background, generator(scene.seed, "scenes", "texture"))
    for thing in scene.things:
        share = coverage(thing)[..., None]
        pixels = pixels + share * (_paint(thing) - pixels)
    return np.asarray(pixels.clip(0, 255))


def coverage(thing: Thing) -> Float[np.ndarray, "row col"]:
    """Share of each pixel that the object covers, in ninths."""
    canvas = Image.new("L", (SIZE * FINE, SIZE * FINE))
    draw = ImageDraw.Draw(canvas)
    draw.polygon(_corners(thing, outline(thing.name)), fill=255)
    opening = hole(thing.name)  # through it the background shows
    if opening is not None:
        draw.polygon(_corners(thing, opening), fill=0)
    return np.asarray(canvas.reduce(FINE), np.float64) / 255


def _corners(thing: Thing, points: Float[np.ndarray, "point 2"]) -> list[tuple[float, float]]:
    cos, sin = np.cos(thing.turn), np.sin(thing.turn)
    rotation = np.array([(cos, sin), (-sin, cos)])
    corners = points @ rotation * thing.radius + (thing.col, thing.row)
    return [(float(col), float(row)) for col, row in corners * FINE]


def _paint(thing: Thing) -> Float[np.ndarray, "row col 3"]:
    """The colour, darker from the upper to the lower edge, under the marks."""
    row = _CENTRES[0] - thing.row
    col = _CENTRES[1] - thing.col
    light = 1 - (1 - SHADE) * ((row / thing.radius).clip(-1, 1) + 1) / 2
    paint = light[..., None] * np.array(COLOURS[thing.colour], np.float64)
    cos, sin = np.cos(thing.turn), np.sin(thing.turn)
    pattern = marks(thing.name, col * cos + row * sin, row * cos - col * sin)
    if pattern is not None:
        paint = np.where(pattern[..., None], INK, paint)
    return np.asarray(paint)


def _picture(scene: Scene) -> Image.Image:
    image = Image.fromarray(np.rint(render(scene)).astype(np.uint8))
    if scene.blur:
        image = image.filter(ImageFilter.GaussianBlur(scene.blur))
    rng = generator(scene.seed, "scenes", "noise")
    grain = rng.normal(0, scene.noise, (SIZE, SIZE, 3))
    pixels = np.rint(np.asarray(image) + grain)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
