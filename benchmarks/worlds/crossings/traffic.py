"""Cars: a red one, whose way tells the label, and others of dull colours that come and go.

A way is seen from the arm that a car comes from: it drives upwards, to the right of the middle.
"""

from dataclasses import dataclass

import numpy as np

from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.crossings.streets import HALF, LINE, rng_of
from worlds.design import Facts

LENGTH = 8  # frames
LABELS = ("goes on", "turns left", "turns right", "halts")
NUMBERS = np.arange(LENGTH, dtype=np.float32)[:, None, None]
LANE = HALF / 2  # from the middle of the street to that of a lane
TURNS = {"turns left": (-1, 6.0), "turns right": (1, 3.2)}  # a side, and a radius
LONG, WIDE = 2.9, 1.6  # half of a car, in pixels
GLASS = (0.10, 0.12, 0.16)
RED = np.array((0.86, 0.10, 0.08), np.float32)
DULL = ((0.75, 0.76, 0.78), (0.20, 0.22, 0.26), (0.24, 0.34, 0.50), (0.55, 0.54, 0.50))


@dataclass(frozen=True)
class Way:
    """Where a car is in each frame, float (frame, 1, 1); its heading is clockwise from upwards."""

    x: Field
    y: Field
    heading: Field

    def seen_from(self, grid: Grid) -> Grid:
        """The places around the car, which drives upwards."""
        return grid.around(self.x, self.y).turned(self.heading)


@dataclass(frozen=True)
class RedCar:
    """The arm that it comes from, how it goes, and what it looks like."""

    arm: float  # clockwise from below, in radians
    start: float
    speed: float
    until: float  # where it halts, if it does
    label: str
    colour: Colour
    half: tuple[float, float]

    def around(self, grid: Grid, late: float = 0.0) -> Grid:
        """The places around it, so many frames after it was there."""
        return self._way(late).seen_from(grid.turned(self.arm))

    def around_place(self, grid: Grid) -> Grid:
        """The places around where it is, however it stands there."""
        way = self._way()
        return grid.turned(self.arm).around(way.x, way.y)

    def _way(self, late: float = 0.0) -> Way:
        gone = self.speed * (NUMBERS - late)
        return way_of(self.label, self.start, self.until, gone)


def red_car(facts: Facts) -> RedCar:
    """What is hard is slow, so that less of the way is seen, and not as red."""
    rng = rng_of(facts, "red car")
    grey = rng.uniform(0.45, 0.6)
    pale = rng.uniform(0.25, 0.5) if facts.is_hard else rng.uniform(0, 0.3)
    long, wide = (1.75, 1.2) if "lorry" in facts.cues else (1, 1)
    return RedCar(
        arm=rng.integers(4) * np.pi / 2,
        start=rng.uniform(14, 17),
        speed=rng.uniform(1.6, 2.4) if facts.is_hard else rng.uniform(2.0, 3.1),
        until=LINE + LONG + rng.uniform(-7, 0.5),
        label=facts.label,
        colour=RED + pale * (grey - RED),
        half=(LONG * long, WIDE * wide),
    )


def way_of(label: str, start: float, until: float, gone: Field) -> Way:
    """Where it is after it has gone so far."""
    lane = np.full_like(gone, LANE)
    if label == "halts":
        reach = start - until
        braked = np.where(gone > 0, reach * np.tanh(gone / reach), gone)
        return Way(lane, start - braked, np.zeros_like(gone))
    if label not in TURNS:
        return Way(lane, start - gone, np.zeros_like(gone))
    side, radius = TURNS[label]
    before = start - side * LANE - radius
    turned = ((gone - before) / radius).clip(0, np.pi / 2)
    after = (gone - before - radius * np.pi / 2).clip(0)
    x = LANE + side * (radius * (1 - np.cos(turned)) + after)
    y = start - np.minimum(gone, before) - radius * np.sin(turned)
    return Way(x, y, side * turned)


def cars(facts: Facts, grid: Grid, light: Light) -> Light:
    """All that drives; what is hard has more traffic."""
    rng = rng_of(facts, "others")
    red = red_car(facts)
    count = rng.integers(2, 5) if facts.is_hard else rng.integers(0, 3)
    arms = red.arm + np.pi / 2 * rng.permutation((1, 2, 3, 4))
    for arm in arms[:count]:
        is_behind = arm > red.arm + 1.9 * np.pi
        own = _other(rng, grid.turned(arm), is_leaving=is_behind or rng.random() < 0.5)
        light = _car(own, light, DULL[rng.integers(len(DULL))], (LONG, WIDE))
    return _car(red.around(grid), light, red.colour, red.half)


def _other(rng: np.random.Generator, grid: Grid, *, is_leaving: bool) -> Grid:
    """The places around a car that drives off, or one that comes and waits."""
    gone = rng.uniform(1.2, 3.2) * NUMBERS
    start = rng.uniform(9, 20)
    if is_leaving:
        return grid.turned(np.pi).around(LANE, -gone - start + 9)
    way = way_of("halts", start + 2.5, LINE + LONG, gone)
    return way.seen_from(grid)


def _car(own: Grid, light: Light, colour: Colour | tuple, half: tuple) -> Light:
    long, wide = half
    under = np.minimum(long - abs(own.y - 0.5), wide - abs(own.x - 0.5))
    light = paint(light, 0.45 * cover_of(under), (0.05, 0.05, 0.06))
    body = np.minimum(long - abs(own.y), wide - abs(own.x))
    rounded = np.minimum(body, long + wide - 0.9 - abs(own.x) - abs(own.y))
    light = paint(light, cover_of(rounded), colour)
    front = np.minimum(0.5 - abs(own.y + long - 2.0), wide - 0.4 - abs(own.x))
    back = np.minimum(0.3 - abs(own.y - long + 0.9), wide - 0.5 - abs(own.x))
    return paint(light, 0.9 * cover_of(np.maximum(front, back)), GLASS)
