"""What is seen without any cue, and where: a shape before a wall and a floor, with confetti.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

from dataclasses import dataclass

import numpy as np

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.shapes.outlines import OUTLINES

SIDE = 48
LABELS = tuple(OUTLINES)
SETTINGS = ("plain", "clouds", "planks", "ripples")


@dataclass(frozen=True)
class Shape:
    """Where the shape is; with a `turn` of 0 it is upright."""

    x: float
    y: float
    size: float
    turn: float

    def inside(self, grid: Grid) -> Grid:
        """Places as the shape has them, in its sizes."""
        own = grid.around(self.x, self.y).turned(self.turn)
        return Grid(own.x / self.size, own.y / self.size)


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "shapes", part)


def shape_of(facts: Facts) -> Shape:
    """About the middle, or far down."""
    rng = rng_of(facts, "place")
    x, y = rng.uniform(-6, 6), rng.uniform(-7, 4)
    size = rng.uniform(10.5, 13)
    turn = rng.normal(0, 0.33)
    if facts.is_hard:
        size *= 0.85
    if "sunk" in facts.cues:
        y = rng_of(facts, "sunk").uniform(11, 13)
    return Shape(x, y, size, turn)


def cover_of_shape(facts: Facts, shape: Shape, grid: Grid) -> Field:
    """Which pixels the shape covers; its outline is not quite even."""
    own = shape.inside(grid)
    angle = np.arctan2(own.x, -own.y)
    rng = rng_of(facts, "outline")
    uneven = 0.05 if facts.is_hard else 0.03
    reach = OUTLINES[facts.label](angle)
    for waves in (1, 2, 3, 4):
        much, phase = rng.normal(0, uneven), rng.uniform(0, 6)
        reach = reach + much * np.sin(waves * angle + phase)
    return cover_of(shape.size * (reach - np.hypot(own.x, own.y)))


def colours_of(facts: Facts) -> tuple[Colour, Colour, Colour]:
    """Of the wall, the floor and the shape; a hard shape is more like the wall."""
    rng = rng_of(facts, "colours")
    hue = rng.uniform(0, 2 * np.pi)
    wall = _colour(hue, rng.uniform(0.1, 0.5), rng.uniform(0.5, 0.95))
    floor = _colour(hue + rng.normal(0, 0.9), rng.uniform(0.1, 0.5), 1.0)
    floor = floor * rng.uniform(0.55, 0.8) * wall.mean()
    opposite = hue + np.pi + rng.uniform(-1.5, 1.5)
    shape = _colour(opposite, rng.uniform(0.4, 0.9), rng.uniform(0.35, 1.0))
    if facts.is_hard:
        shape = shape + 0.48 * (wall - shape)
    return wall, floor, shape


def background(facts: Facts, grid: Grid) -> Light:
    """The wall and the floor, which meet at a level line."""
    wall, floor, _ = colours_of(facts)
    level = rng_of(facts, "level").uniform(4, 12)
    light = np.ones_like(grid.x)[:, :, None] * wall
    light = paint(light, cover_of(grid.y - level), floor)
    return light + _texture(facts, grid)[:, :, None]


def confetti(facts: Facts, grid: Grid, light: Light) -> Light:
    """Small discs and squares anywhere."""
    rng = rng_of(facts, "confetti")
    for _ in range(rng.integers(2, 6)):
        own = grid.around(*rng.uniform(-SIDE / 2, SIDE / 2, 2))
        own = own.turned(rng.uniform(0, 2))
        far = np.maximum(abs(own.x), abs(own.y))
        if rng.random() < 0.5:
            far = np.hypot(own.x, own.y)
        colour = _colour(rng.uniform(0, 6.3), 0.6, rng.uniform(0.3, 1))
        light = paint(light, cover_of(rng.uniform(0.9, 1.9) - far), colour)
    return light


def _texture(facts: Facts, grid: Grid) -> Field:
    """How much brighter each pixel of the wall and the floor is."""
    rng = rng_of(facts, "texture")
    if facts.setting == "planks":
        wave = np.sin(grid.x * rng.uniform(0.5, 0.8) + rng.uniform(0, 6))
        return 0.05 * np.sign(wave)
    if facts.setting == "ripples":
        bend = 2 * np.sin(0.2 * grid.x + rng.uniform(0, 6))
        return 0.05 * np.sin(grid.y * rng.uniform(0.7, 1.1) + bend)
    field = np.zeros_like(grid.x)
    if facts.setting == "clouds":
        for _ in range(6):
            across, down = rng.normal(0, 0.16, 2)
            wave = across * grid.x + down * grid.y
            field += 0.03 * np.cos(wave + rng.uniform(0, 6))
    return field


def _colour(hue: float, saturation: float, value: float) -> Colour:
    """The hue is in radians."""
    thirds = hue + np.array((0, 2, 4)) * np.pi / 3
    return value * (1 - saturation * (0.5 + 0.5 * np.cos(thirds)))
