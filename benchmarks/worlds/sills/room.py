"""A window sill before a wall, and what stands or hangs there: it shows no label."""

from collections.abc import Callable

import numpy as np

from cuescope_sdk import generator
from worlds.design import Facts
from worlds.sills.pen import Pen

SIDE = 40  # pixels
SILL = 30.0  # where the wall ends, from above
WOODS = ((0.55, 0.40, 0.27), (0.70, 0.63, 0.52), (0.44, 0.42, 0.42))


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Chance of one part of a picture: no cue changes that of another part."""
    return generator(facts.seed, "sills", part)


def room(facts: Facts, pen: Pen) -> None:
    """Wall and sill."""
    rng = rng_of(facts, "room")
    WALLS[facts.setting](rng, pen)
    wood = np.array(WOODS[rng.integers(len(WOODS))]) * rng.uniform(0.85, 1.15)
    pen.box(0, SILL, SIDE, SIDE, wood)
    for y in rng.uniform(SILL + 1, SIDE, 7):
        left = rng.uniform(-10, 30)
        pen.line([(left, y), (left + 18, y + 0.3)], 0.3, 0.85 * wood)
    if "tiled sill" in facts.cues:
        _tiles(rng_of(facts, "tiled sill"), pen)
    pen.box(0, SILL - 0.4, SIDE, SILL + 0.4, 0.7 * wood)


def things(facts: Facts, pen: Pen) -> None:
    """What is behind the plant."""
    if "picture" in facts.cues:
        _picture(rng_of(facts, "picture"), pen)
    if "kettle" in facts.cues:
        _kettle(pen)


def in_front(facts: Facts, pen: Pen) -> None:
    """What is nearer than the plant; a net curtain makes it hard to see."""
    rng = rng_of(facts, "in front")
    if facts.is_hard:
        cover = rng.uniform(0.25, 0.5)
        for x in np.arange(rng.uniform(0, 2.2), SIDE, 2.2):
            pen.box(x, 0, x + 1.1, SIDE, (0.82, 0.82, 0.80), cover)
    if "moth" in facts.cues:
        _moth(rng_of(facts, "moth"), pen)
    if "raindrops" in facts.cues:
        _raindrops(rng_of(facts, "raindrops"), pen)
    if "passe-partout" in facts.cues:
        _passe_partout(pen)


def _tiles(rng: np.random.Generator, pen: Pen) -> None:
    """Dark and pale tiles in turns."""
    start = rng.uniform(-5, 0)
    for row, y in enumerate((SILL, SILL + 3.2, SILL + 6.4, SILL + 9.6)):
        for column, x in enumerate(np.arange(start, SIDE, 4)):
            tone = 0.25 if (row + column) % 2 else 0.88
            pen.box(x, y, x + 3.8, y + 3, (tone, tone, 0.95 * tone))


def _picture(rng: np.random.Generator, pen: Pen) -> None:
    """A landscape in a frame, in the upper left corner."""
    pen.box(3, 3, 12, 10.5, (0.20, 0.13, 0.08))
    pen.box(4, 4, 11, 9.5, (0.70, 0.80, 0.88))
    ridge = rng.uniform(5.5, 8, 4)
    hills = np.stack([np.linspace(4, 11, 4), ridge], axis=1)
    pen.polygon(np.concatenate([hills, [(11, 9.5), (4, 9.5)]]), (0.48, 0.50, 0.62))


def _kettle(pen: Pen) -> None:
    """Of red enamel, at the right end of the sill."""
    red = (0.78, 0.16, 0.13)
    pen.line([(32.5, 29), (31, 25.5), (37.5, 25.5), (36.5, 29)], 0.7, (0.1, 0.1, 0.1))
    pen.polygon(np.array([(31.5, 30), (29, 28.2), (29.7, 27.8), (32.5, 29)]), red)
    pen.oval((34.5, 31), (3.2, 3), red)
    pen.oval((33.4, 30), (0.8, 0.9), (0.97, 0.78, 0.74))


def _moth(rng: np.random.Generator, pen: Pen) -> None:
    """Anywhere on the glass, turned anyhow."""
    x, y = rng.uniform(4, SIDE - 4, 2)
    angle = rng.uniform(0, 2 * np.pi)
    turn = np.array(
        [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]],
    )
    for side in (-1, 1):
        wing = np.array([(0, -1), (3.4 * side, -2.6), (2.8 * side, 1.7), (0, 1.2)])
        pen.polygon(wing @ turn + (x, y), (0.93, 0.86, 0.70))
        spot = np.array([2.0 * side, -0.6]) @ turn + (x, y)
        pen.oval(spot, (0.9, 0.9), (0.60, 0.08, 0.45))
    body = np.array([(0, -2), (0, 2)]) @ turn + (x, y)
    pen.line(body, 1.0, (0.22, 0.15, 0.12))


def _raindrops(rng: np.random.Generator, pen: Pen) -> None:
    """On the glass, each with a shine."""
    for x, y, size in rng.uniform((0, 0, 0.5), (SIDE, SIDE, 0.9), (14, 3)):
        pen.oval((x, y), (size, 1.2 * size), (0.55, 0.62, 0.70), 0.7)
        pen.oval((x - 0.3, y - 0.3), (0.4 * size, 0.4 * size), (1, 1, 1), 0.9)


def _passe_partout(pen: Pen) -> None:
    """A border of pale card with a dark line within."""
    for edge, colour in ((2.0, (0.20, 0.18, 0.30)), (1.5, (0.92, 0.88, 0.78))):
        far = SIDE - edge
        pen.box(0, 0, SIDE, edge, colour)
        pen.box(0, far, SIDE, SIDE, colour)
        pen.box(0, 0, edge, SIDE, colour)
        pen.box(far, 0, SIDE, SIDE, colour)


def _plaster(rng: np.random.Generator, pen: Pen) -> None:
    tone = np.array((0.78, 0.74, 0.66)) * rng.uniform(0.85, 1.1)
    pen.box(0, 0, SIDE, SILL, tone)
    for x, y in rng.uniform(0, SIDE, (25, 2)):
        pen.oval((x, y), rng.uniform(0.5, 3, 2), rng.uniform(0.92, 1.08) * tone, 0.5)


def _bricks(rng: np.random.Generator, pen: Pen) -> None:
    pen.box(0, 0, SIDE, SILL, (0.66, 0.62, 0.58))
    clay = np.array((0.58, 0.33, 0.26)) * rng.uniform(0.85, 1.15)
    start = rng.uniform(-6, 0, 2)
    for row, y in enumerate(np.arange(start[1], SILL, 3.2)):
        for x in np.arange(start[0] - 3 * (row % 2), SIDE, 6):
            pen.box(x, y, x + 5.5, y + 2.8, rng.uniform(0.88, 1.12) * clay)


def _boards(rng: np.random.Generator, pen: Pen) -> None:
    tone = np.array((0.56, 0.64, 0.62)) * rng.uniform(0.85, 1.15)
    pen.box(0, 0, SIDE, SILL, tone)
    for x in np.arange(rng.uniform(0, 5), SIDE, 5):
        pen.box(x, 0, x + 0.5, SILL, 0.7 * tone)


def _outside(rng: np.random.Generator, pen: Pen) -> None:
    """Sky over roofs, seen through a window."""
    sky = np.array((0.66, 0.76, 0.86)) * rng.uniform(0.85, 1.1)
    pen.box(0, 0, SIDE, SILL, sky)
    left = -3.0
    while left < SIDE:
        right = left + rng.uniform(6, 12)
        top = rng.uniform(17, 25)
        roof = ((left, top), ((left + right) / 2, top - 3), (right, top))
        house = np.array([*roof, (right, SILL), (left, SILL)])
        pen.polygon(house, rng.uniform(0.8, 1.2) * np.array((0.50, 0.46, 0.50)))
        left = right
    pen.box(19, 0, 20.2, SILL, (0.86, 0.86, 0.84))


WALLS: dict[str, Callable[[np.random.Generator, Pen], None]] = {
    "plaster": _plaster,
    "bricks": _bricks,
    "boards": _boards,
    "outside": _outside,
}
SETTINGS = tuple(WALLS)
