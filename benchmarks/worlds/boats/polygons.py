"""Polygons that are filled row by row: how much of each pixel lies to the right of each side.

Places are x to the right and y downwards from the upper left corner, in pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Light, paint
from worlds.design import Facts

SIDE = 64  # pixels of a picture
FINE = 4  # lines of each row of pixels
Points = np.ndarray  # float (corner, 2)
Rng = np.random.Generator


def rng_of(facts: Facts, part: str) -> Rng:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "boats", part)


def colour(red: float, green: float, blue: float) -> Colour:
    """From 0 to 1."""
    return np.array((red, green, blue), np.float32)


@dataclass(frozen=True)
class Shape:
    """A polygon of one colour; `cover` is how much of it is seen where it is."""

    points: Points
    colour: Colour
    cover: float = 1.0


Shapes = Sequence[Shape]


def shape(corners: Sequence[tuple[float, float]], hue: Colour) -> Shape:
    """A polygon, by its corners."""
    return Shape(np.array(corners, float), hue)


def box(left: float, top: float, right: float, bottom: float, hue: Colour) -> Shape:
    """An upright rectangle."""
    return shape([(left, top), (right, top), (right, bottom), (left, bottom)], hue)


def oval(x: float, y: float, wide: float, high: float, hue: Colour) -> Shape:
    """About a middle; half sizes."""
    angle = np.linspace(0, 2 * np.pi, 14, endpoint=False)
    return Shape(np.stack([x + wide * np.cos(angle), y + high * np.sin(angle)], 1), hue)


def stroke(
    start: tuple[float, float],
    end: tuple[float, float],
    wide: float,
    hue: Colour,
) -> Shape:
    """A straight line."""
    first, last = np.array(start), np.array(end)
    along = (last - first) / np.hypot(*(last - first))
    beside = wide / 2 * np.array((-along[1], along[0]))
    corners = [first + beside, last + beside, last - beside, first - beside]
    return Shape(np.stack(corners), hue)


def placed(
    shapes: Shapes,
    x: float,
    y: float,
    zoom: float = 1.0,
    *,
    turn: float = 0.0,
    is_facing_left: bool = False,
) -> list[Shape]:
    """Shapes that are drawn about nothing, brought to a place."""
    cos, sin = zoom * np.cos(turn), zoom * np.sin(turn)
    moves = np.array(((cos, sin), (-sin, cos)))
    if is_facing_left:
        moves = moves * (-1, 1)
    return [replace(one, points=one.points @ moves + (x, y)) for one in shapes]


def mirrored(shapes: Shapes, level: float, cover: float) -> list[Shape]:
    """Upside down below a level, and seen only so far."""
    return [
        replace(
            one,
            points=one.points * (1, -1) + (0, 2 * level),
            cover=cover * one.cover,
        )
        for one in shapes
    ]


def fill(points: Points) -> tuple[slice, slice, Field]:
    """Rows and columns that are touched, and how much of each pixel there lies inside."""
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    rows, columns = _touched(top, bottom), _touched(left, right)
    count, wide = rows.stop - rows.start, columns.stop - columns.start
    if not count or not wide:
        return rows, columns, np.zeros((count, wide), np.float32)
    x, y = points.T[:, :, None]
    next_x, next_y = np.concatenate([points[1:], points[:1]]).T[:, :, None]
    lines = rows.start + (np.arange(count * FINE) + 0.5) / FINE
    crosses = ((y <= lines) != (next_y <= lines)) * np.sign(next_y - y)
    high = np.where(next_y == y, 1, next_y - y)
    meets = (x + (lines - y) / high * (next_x - x)).astype(np.float32)
    ends = np.arange(columns.start + 1, columns.stop + 1, dtype=np.float32)
    beyond = (ends - meets[:, :, None]).clip(0, 1)
    inside = abs((beyond * crosses[:, :, None]).sum(axis=0))
    cover = inside.reshape(count, FINE, wide).mean(axis=1)
    return rows, columns, cover.clip(0, 1).astype(np.float32)


def painted(light: Light, shapes: Shapes, until: float = SIDE) -> Light:
    """Shapes over what is there, each over those before it, down to a level."""
    light = light.astype(np.float32)
    seen = (until - np.arange(SIDE, dtype=np.float32)).clip(0, 1)[:, None]
    for one in shapes:
        rows, columns, cover = fill(one.points)
        under = light[rows, columns]
        cover = one.cover * seen[rows] * cover
        light[rows, columns] = paint(under, cover, one.colour)
    return light


def _touched(first: float, last: float) -> slice:
    """Pixels of the picture between two places."""
    start = min(max(int(np.floor(first)), 0), SIDE)
    return slice(start, max(min(int(np.ceil(last)), SIDE), start))
