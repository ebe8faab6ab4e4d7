"""Cues that have a place: on the lake, in the sky, and on the print of the photo."""

import numpy as np

from worlds.boats.lake import horizon_of
from worlds.boats.polygons import (
    SIDE,
    Rng,
    Shape,
    box,
    colour,
    oval,
    placed,
    rng_of,
    shape,
    stroke,
)
from worlds.design import Facts

WHITE = colour(0.97, 0.97, 0.95)
BLACK = colour(0.05, 0.05, 0.06)
RED = colour(0.85, 0.10, 0.08)
BROWN = colour(0.36, 0.24, 0.14)
ORANGE = colour(1.0, 0.55, 0.10)
GREEN = colour(0.25, 0.85, 0.25)
FEW, MANY = (0, 3), (7, 10)  # ducks, from and below
# of seven strokes of a digit: from, to, on a field of 2 by 4
STROKES = (
    ((0, 0), (2, 0)),
    ((0, 0), (0, 2)),
    ((2, 0), (2, 2)),
    ((0, 2), (2, 2)),
    ((0, 2), (0, 4)),
    ((2, 2), (2, 4)),
    ((0, 4), (2, 4)),
)
DIGITS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011")


def moon(facts: Facts) -> list[Shape]:
    """A full one, always in the same corner of the sky."""
    x, y = 9 + rng_of(facts, "moon").normal(0, 0.3, 2)
    shade = colour(0.80, 0.80, 0.72)
    return [
        oval(x, y, 5, 5, colour(1.0, 0.98, 0.86)),
        oval(x - 1.5, y - 1, 1.2, 1, shade),
        oval(x + 1.6, y + 1.4, 1.4, 1.1, shade),
    ]


def ducks(facts: Facts) -> list[tuple[list[Shape], float]]:
    """Each with its level: a few as a rule, and many where that is the cue."""
    is_many = "ducks" in facts.cues
    rng = rng_of(facts, "many ducks" if is_many else "few ducks")
    found = []
    for _ in range(rng.integers(*(MANY if is_many else FEW))):
        x, level = rng.uniform(3, SIDE - 3), rng.uniform(46, SIDE - 3)
        body = shape([(-2.6, -1.7), (0, -1.2), (1.8, -1.6), (1.2, 0), (-1.8, 0)], BROWN)
        head = oval(1.7, -2.4, 1.1, 1.1, colour(0.05, 0.38, 0.22))
        bill = stroke((2.6, -2.3), (3.8, -2.1), 0.7, ORANGE)
        is_facing_left = bool(rng.random() < 0.5)
        shapes = [body, head, bill]
        duck = placed(shapes, x, level, is_facing_left=is_facing_left)
        found.append((duck, level))
    return sorted(found, key=lambda duck: duck[1])


def buoy(facts: Facts) -> tuple[list[Shape], float]:
    """With its level: red with a white band, anywhere in the nearer water."""
    rng = rng_of(facts, "buoy")
    x, level = rng.uniform(5, SIDE - 5), rng.uniform(horizon_of(facts) + 14, SIDE - 3)
    shapes = [
        shape([(-2.8, 0), (-1.2, -8), (1.2, -8), (2.8, 0)], RED),
        shape([(-2.2, -2.8), (-1.7, -5.3), (1.7, -5.3), (2.2, -2.8)], WHITE),
        oval(0, -9, 1.4, 1.4, RED),
    ]
    return placed(shapes, x, level, turn=rng.normal(0, 0.15)), level


def gull(facts: Facts) -> list[Shape]:
    """On the wing, anywhere in the sky."""
    rng = rng_of(facts, "gull")
    x, y = rng.uniform(7, SIDE - 7), rng.uniform(5, horizon_of(facts) - 7)
    up = rng.uniform(2, 4)
    shapes = []
    for side in (-1, 1):
        bend, tip = (side * 3.6, -up), (side * 7.5, -up + 2.2)
        inner = [(0, 0), bend, (side * 3.9, -up + 1.7), (side * 0.5, 1.6)]
        outer = [bend, tip, (side * 3.9, -up + 1.7)]
        shapes += [shape(inner, WHITE), shape(outer, BLACK)]
    shapes.append(oval(0, 0.8, 1.1, 1.8, BLACK))
    return placed(shapes, x, y, turn=rng.normal(0, 0.25))


def hole(facts: Facts) -> list[Shape]:
    """Torn in the print, anywhere; white paper shows round it, and black below."""
    rng = rng_of(facts, "hole")
    x, y = rng.uniform(7, SIDE - 7, 2)
    angle = np.linspace(0, 2 * np.pi, 11, endpoint=False)
    around = np.stack([np.cos(angle), np.sin(angle)], 1)
    outer = around * rng.uniform(3.4, 5.2, (11, 1))
    inner = around * rng.uniform(1.8, 3.0, (11, 1))
    middle = np.array([x, y])
    return [Shape(outer + middle, WHITE), Shape(inner + middle, BLACK)]


def sticker(facts: Facts) -> list[Shape]:
    """A round one with a star, anywhere on the print."""
    rng = rng_of(facts, "sticker")
    x, y = rng.uniform(6, SIDE - 6, 2)
    angle = np.arange(10) * np.pi / 5 + rng.uniform(0, 6.3)
    far = np.where(np.arange(10) % 2, 1.3, 3.2)
    star = np.stack([x + far * np.cos(angle), y + far * np.sin(angle)], 1)
    return [oval(x, y, 4.4, 4.4, GREEN), Shape(star, WHITE)]


def date(facts: Facts) -> list[Shape]:
    """Digits that a camera wrote, always in the same corner."""
    rng = rng_of(facts, "date")
    shapes = []
    for number in range(4):
        left, top = 40 + 5.5 * number + (number > 1), 55
        digit = DIGITS[rng.integers(len(DIGITS))]
        for is_on, (start, end) in zip(digit, STROKES, strict=True):
            if is_on == "1":
                first = (left + 1.4 * start[0], top + 1.3 * start[1])
                last = (left + 1.4 * end[0], top + 1.3 * end[1])
                shapes.append(stroke(first, last, 0.9, ORANGE))
    return shapes


def strip(facts: Facts) -> list[Shape]:
    """The holed edge of a film, all along the left side."""
    rng = rng_of(facts, "strip")
    wide, first = rng.uniform(4.6, 5.4), rng.uniform(-6, 0)
    tops = np.arange(first, SIDE, 6.5)
    holes = [box(1.2, top, wide - 1.2, top + 3.2, WHITE) for top in tops]
    return [box(0, 0, wide, SIDE, BLACK), *holes]


def grain(rng: Rng, much: float) -> np.ndarray:
    """Noise of the film, float (row, col, 3)."""
    rough = rng.standard_normal((SIDE, SIDE, 3), np.float32)
    return np.asarray(much * rough, np.float32)
