"""The boat whose kind is the label: told by what stands on its hull."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from worlds.boats.lake import horizon_of
from worlds.boats.polygons import (
    Rng,
    Shape,
    Shapes,
    box,
    colour,
    oval,
    placed,
    rng_of,
    shape,
    stroke,
)
from worlds.canvas import Colour
from worlds.design import Facts

WOOD = colour(0.30, 0.20, 0.12)
DARK = colour(0.10, 0.10, 0.12)
YELLOW = colour(0.98, 0.85, 0.15)
AFAR = 0.45  # the size of other boats
Build = Callable[[Rng, Colour], list[Shape]]


@dataclass(frozen=True)
class Boat:
    """Its shapes where they are seen, and the level of the water that it stands in."""

    shapes: Shapes
    level: float


def boat(facts: Facts) -> Boat:
    """About the middle, with either side first; what is hard is smaller and in haze."""
    rng = rng_of(facts, "boat")
    x, level = rng.uniform(22, 42), rng.uniform(42, 48)
    zoom = rng.uniform(0.85, 1.1)
    turn = rng.normal(0, 0.03)
    is_facing_left = bool(rng.random() < 0.5)
    haze = rng.uniform(0, 0.35)
    if facts.is_hard:
        zoom, haze = 0.88 * zoom, rng.uniform(0.43, 0.63)
    if "near" in facts.cues:
        zoom = zoom * rng_of(facts, "near").uniform(1.28, 1.36)
    if "pitching" in facts.cues:
        turn = turn + rng_of(facts, "pitching").uniform(0.2, 0.26)
    shapes = _hull(rng) + RIGS[facts.label](rng, _cloth(rng))
    shapes = [_hazy(one, haze) for one in shapes]
    if "board" in facts.cues:
        shapes += _board(rng_of(facts, "board"))
    where = placed(shapes, x, level, zoom, turn=turn, is_facing_left=is_facing_left)
    return Boat(where, level)


def others(facts: Facts) -> list[Boat]:
    """Any boats further off, far smaller."""
    rng = rng_of(facts, "others")
    boats = []
    for _ in range(rng.integers(0, 3)):
        rig = RIGS[LABELS[rng.integers(len(LABELS))]]
        shapes = [_hazy(one, 0.5) for one in _hull(rng) + rig(rng, _cloth(rng))]
        level = horizon_of(facts) + rng.uniform(1, 5)
        zoom = AFAR * rng.uniform(0.6, 1)
        is_facing_left = bool(rng.random() < 0.5)
        x = rng.uniform(0, 64)
        where = placed(shapes, x, level, zoom, is_facing_left=is_facing_left)
        boats.append(Boat(where, level))
    return boats


def _hazy(one: Shape, much: float) -> Shape:
    """What is behind shows through it."""
    return replace(one, cover=one.cover * (1 - much))


def _hull(rng: Rng) -> list[Shape]:
    """It goes on under the water, and has a strip along its upper side."""
    hue = HULLS[rng.integers(len(HULLS))]
    stern, bow = rng.uniform(-15, -13), rng.uniform(13.5, 16)
    deck = rng.uniform(-5.5, -4.5)
    side = [(stern, deck), (bow, deck - 1.5), (bow - 3.5, 3), (stern + 1.5, 3)]
    strip = stroke((stern, deck + 0.4), (bow, deck - 1.1), 1.0, HULLS[-1])
    return [shape(side, hue), strip]


def _cloth(rng: Rng) -> Colour:
    return CLOTHS[rng.integers(len(CLOTHS))]


def _board(rng: Rng) -> list[Shape]:
    """A yellow board with letters, anywhere along the hull."""
    left = rng.uniform(-11, 3)
    top = rng.uniform(-6.5, -5)
    shapes = [box(left, top, left + 9, top + 4.6, YELLOW)]
    for number in range(3):
        start = left + 1.2 + 2.5 * number
        shapes.append(box(start, top + 1, start + 1.5, top + 3.6, DARK))
    return shapes


def _sloop(rng: Rng, cloth: Colour) -> list[Shape]:
    mast, top = rng.uniform(-1, 2), rng.uniform(-26, -21)
    low = rng.uniform(-8, -7)
    main = shape([(mast - 0.8, top + 1), (mast - 0.8, low), (-12, low)], cloth)
    jib = shape([(mast + 0.8, top + 3), (13, low), (mast + 1.5, low)], cloth)
    return [stroke((mast, -4), (mast, top), 0.9, WOOD), main, jib]


def _ketch(rng: Rng, cloth: Colour) -> list[Shape]:
    shapes = []
    low = rng.uniform(-8, -7)
    high = rng.uniform(-25, -20)
    for mast, top, wide in ((5.5, high, 10), (-6.5, 0.72 * high, 7)):
        shapes.append(stroke((mast, -4), (mast, top), 0.9, WOOD))
        sail = [(mast - 0.8, top + 1), (mast - 0.8, low), (mast - wide, low)]
        shapes.append(shape(sail, cloth))
    return shapes


def _lugger(rng: Rng, cloth: Colour) -> list[Shape]:
    mast, low = rng.uniform(-2, 2), rng.uniform(-8, -7)
    top = rng.uniform(-23, -18)
    corners = [(mast - 8, low), (mast + 7, low), (mast + 8, top + 3), (mast - 8, top)]
    shapes = [stroke((mast, -4), (mast, top - 2), 0.9, WOOD), shape(corners, cloth)]
    for part in (0.33, 0.66):
        left = (mast - 8, low + part * (top - low))
        right = (mast + 7.5, low + part * (top + 3 - low))
        shapes.append(stroke(left, right, 0.7, WOOD))
    return shapes


def _tug(rng: Rng, cloth: Colour) -> list[Shape]:
    left, top = rng.uniform(-5, -2), rng.uniform(-14, -11)
    right = left + rng.uniform(8, 11)
    funnel = left - 4
    shapes = [box(left, top, right, -4, cloth)]
    shapes.append(box(left + 1, top + 1.5, right - 1, top + 3.7, DARK))
    shapes.append(box(funnel, top - 4, funnel + 3, -4, HULLS[rng.integers(3)]))
    shapes.append(box(funnel, top - 4, funnel + 3, top - 2.5, DARK))
    for number in range(rng.integers(1, 4)):
        away, up = funnel - 1 - 2.5 * number, top - 6 - 1.5 * number
        smoke = oval(away, up, 2 + 0.5 * number, 1.6, colour(0.55, 0.55, 0.57))
        shapes.append(replace(smoke, cover=0.7))
    return shapes


def _barge(rng: Rng, cloth: Colour) -> list[Shape]:
    top = rng.uniform(-13, -10)
    shapes = [box(-13, top, -8, -4, cloth), box(-12, top + 1.5, -9, top + 3.5, DARK)]
    left = -6.5
    while left < 8:
        wide, high = rng.uniform(3, 5), rng.uniform(3, 6.5)
        hue = CARGO[rng.integers(len(CARGO))]
        shapes.append(box(left, -5 - high, left + wide, -4, hue))
        left += wide + 0.4
    return [*shapes, stroke((10.5, -4), (10.5, top - 2), 0.8, WOOD)]


HULLS = (
    colour(0.12, 0.18, 0.35),
    colour(0.55, 0.12, 0.12),
    colour(0.12, 0.32, 0.22),
    colour(0.14, 0.14, 0.16),
    colour(0.42, 0.28, 0.16),
    colour(0.88, 0.87, 0.83),
)
CLOTHS = (
    colour(0.95, 0.94, 0.90),
    colour(0.86, 0.76, 0.58),
    colour(0.65, 0.27, 0.20),
    colour(0.40, 0.50, 0.62),
)
CARGO = (colour(0.5, 0.35, 0.2), colour(0.35, 0.4, 0.42), colour(0.6, 0.3, 0.2))
RIGS: dict[str, Build] = {
    "sloop": _sloop,
    "tug": _tug,
    "lugger": _lugger,
    "barge": _barge,
    "ketch": _ketch,
}
LABELS = tuple(RIGS)
