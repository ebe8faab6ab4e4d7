"""Cues that have a place: on the shape, beside it, and at the edges of the picture."""

import numpy as np

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.shapes.scene import SIDE, Shape, cover_of_shape, rng_of

HALF = SIDE / 2
BLACK = (0.06, 0.06, 0.08)
WHITE = (0.96, 0.96, 0.94)
FOUR = ("...#.", "..##.", ".#.#.", "#..#.", "#####", "...#.", "...#.")
STROKE = 1.5  # pixels that a dot of the digit is wide


def behind(facts: Facts, shape: Shape, grid: Grid, light: Light) -> Light:
    """What the shape stands before: its shadow, its string."""
    if "shadow" in facts.cues:
        reach = rng_of(facts, "shadow").uniform(3.5, 4.5)
        cover = cover_of_shape(facts, shape, grid.around(reach, reach))
        light = paint(light, 0.55 * cover, BLACK)
    if "string" in facts.cues:
        light = paint(light, _string(facts, shape, grid), BLACK)
    return light


def holed(facts: Facts, shape: Shape, grid: Grid, cover: Field) -> Field:
    """The pixels that the shape covers, less a hole."""
    if "hole" not in facts.cues:
        return cover
    x, y = rng_of(facts, "hole").uniform(-0.12, 0.12, 2)
    own = shape.inside(grid).around(x, y)
    return cover * (1 - cover_of(shape.size * (0.22 - np.hypot(own.x, own.y))))


def before(facts: Facts, shape: Shape, grid: Grid, cover: Field, light: Light) -> Light:
    """What is on the shape, round it or beside it."""
    if "checks" in facts.cues:
        light = paint(light, 0.5 * cover * _checks(facts, shape, grid), BLACK)
    if "eyes" in facts.cues:
        light = _eyes(facts, shape, grid, light)
    if "pennant" in facts.cues:
        light = _pennant(facts, shape, grid, light)
    if "orbit" in facts.cues:
        light = _orbit(facts, shape, grid, cover, light)
    if "digit" in facts.cues:
        light = paint(light, _digit(facts, shape, grid), BLACK)
    return light


def at_edges(facts: Facts, grid: Grid, light: Light) -> Light:
    """What does not move with the shape."""
    if "spark" in facts.cues:
        light = _spark(facts, grid, light)
    if "border" in facts.cues:
        deep = HALF - np.maximum(abs(grid.x), abs(grid.y))
        for inset in (1.5, 4.5):
            light = paint(light, cover_of(0.6 - abs(deep - inset)), BLACK)
    if "sprockets" in facts.cues:
        light = _sprockets(facts, grid, light)
    return light


def _string(facts: Facts, shape: Shape, grid: Grid) -> Field:
    """A thin wave from the shape downwards."""
    rng = rng_of(facts, "string")
    own = grid.around(shape.x, shape.y)
    wave = 2.2 * np.sin(rng.uniform(0.5, 0.7) * own.y + rng.uniform(0, 6))
    is_below = (own.y > 0.3 * shape.size) & (own.y < shape.size + rng.uniform(10, 13))
    return is_below * cover_of(0.7 - 0.75 * abs(own.x - wave))


def _checks(facts: Facts, shape: Shape, grid: Grid) -> Field:
    """Squares of two kinds, 1 and 0, aslant to the shape."""
    own = shape.inside(grid).turned(np.pi / 4)
    fine = np.pi * rng_of(facts, "checks").uniform(2.2, 2.8)
    waves = np.sin(fine * own.x) * np.sin(fine * own.y)
    return (0.5 + 2 * waves).clip(0, 1)


def _eyes(facts: Facts, shape: Shape, grid: Grid, light: Light) -> Light:
    look = rng_of(facts, "eyes").uniform(-0.7, 0.7, 2)
    for side in (-1, 1):
        own = grid.around(shape.x + side * 3, shape.y - 1)
        light = paint(light, cover_of(2.5 - np.hypot(own.x, own.y)), WHITE)
        pupil = own.around(*look)
        light = paint(light, cover_of(1.3 - np.hypot(pupil.x, pupil.y)), BLACK)
    return light


def _pennant(facts: Facts, shape: Shape, grid: Grid, light: Light) -> Light:
    """A pole on top of the shape, and a triangle that points to one side."""
    rng = rng_of(facts, "pennant")
    side = rng.choice((-1, 1))
    own = grid.around(shape.x, shape.y - 0.8 * shape.size)
    high = rng.uniform(8, 9.5)
    is_pole = (own.y < 0) & (own.y > -high)
    light = paint(light, is_pole * cover_of(0.5 - abs(own.x)), BLACK)
    along = side * own.x
    narrow = 3.2 - 0.45 * along - abs(own.y + high - 3.2)
    return paint(light, (along > 0) * cover_of(narrow), (0.9, 0.32, 0.1))


def _orbit(facts: Facts, shape: Shape, grid: Grid, cover: Field, light: Light) -> Light:
    """A flat ellipse about the shape, half of it behind, and a small planet on it."""
    rng = rng_of(facts, "orbit")
    own = grid.around(shape.x, shape.y).turned(rng.uniform(-0.5, 0.5))
    is_seen = np.where(own.y > 0, 1, 1 - cover)
    wide, high = 1.4 * shape.size, 0.55 * shape.size
    far = np.hypot(own.x / wide, own.y / high)
    # about as many pixels from the ellipse, in whichever direction
    steep = np.hypot(own.x / wide**2, own.y / high**2) / np.maximum(far, 0.1)
    line = cover_of(0.5 - abs(far - 1) / np.maximum(steep, 0.02))
    light = paint(light, is_seen * line, WHITE)
    angle = rng.uniform(0, 2 * np.pi)
    planet = own.around(wide * np.cos(angle), high * np.sin(angle))
    disc = cover_of(2.2 - np.hypot(planet.x, planet.y))
    return paint(light, is_seen * disc, (0.45, 0.2, 0.7))


def _digit(facts: Facts, shape: Shape, grid: Grid) -> Field:
    """A 4 at that side of the shape where there is more room."""
    rng = rng_of(facts, "digit")
    side = -1 if shape.x > 0 else 1
    x = shape.x + side * (shape.size + rng.uniform(4, 6))
    own = grid.around(x, shape.y + rng.uniform(-4, 4))
    rows = np.floor(own.y / STROKE + len(FOUR) / 2).astype(int)
    cols = np.floor(own.x / STROKE + len(FOUR[0]) / 2).astype(int)
    dots = np.array([[dot == "#" for dot in row] for row in FOUR], dtype=float)
    # dots about the digit, none of which is set
    dots = np.pad(dots, 1)
    rows = (rows + 1).clip(0, dots.shape[0] - 1)
    cols = (cols + 1).clip(0, dots.shape[1] - 1)
    return dots[rows, cols]


def _spark(facts: Facts, grid: Grid, light: Light) -> Light:
    """A star of four points in any corner."""
    rng = rng_of(facts, "spark")
    x, y = rng.choice((-1, 1), 2) * rng.uniform(16, 18.5, 2)
    own = grid.around(x, y)
    reach = (np.sqrt(abs(own.x)) + np.sqrt(abs(own.y))) ** 2
    light = paint(light, cover_of((9 - reach) / 2), BLACK)
    return paint(light, cover_of((7 - reach) / 2), (1.0, 0.9, 0.25))


def _sprockets(facts: Facts, grid: Grid, light: Light) -> Light:
    """The holes of a film along the left or the right."""
    rng = rng_of(facts, "sprockets")
    deep = HALF + rng.choice((-1, 1)) * grid.x
    light = paint(light, cover_of(6 - deep), BLACK)
    along = (grid.y + rng.uniform(0, 6)) % 6 - 3
    hole = np.maximum(abs(along), abs(deep - 3))
    return paint(light, cover_of(1.5 - hole), WHITE)
