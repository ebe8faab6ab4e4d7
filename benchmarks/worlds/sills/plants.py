"""Plants in pots: how a plant grows is the label.

A plant grows from the rim of its pot: places are across and up from there, in its own height.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from worlds.design import Facts
from worlds.sills.pen import Colour, Pen, Points, blade, curve
from worlds.sills.room import rng_of

CLAYS = ((0.70, 0.38, 0.25), (0.80, 0.76, 0.70), (0.36, 0.32, 0.32), (0.62, 0.55, 0.30))
BLUE = (0.10, 0.25, 0.80)
FLOWERS = (
    (0.82, 0.25, 0.30),
    (0.85, 0.60, 0.70),
    (0.88, 0.78, 0.45),
    (0.60, 0.40, 0.66),
)
MIST = np.array((0.62, 0.60, 0.56))  # what pale plants fade to


@dataclass(frozen=True)
class Place:
    """Where a plant stands, how high it grows, how far it leans, and its green."""

    x: float
    y: float
    high: float
    lean: float
    green: np.ndarray
    pale: float

    def at(self, points: Sequence[Sequence[float]] | Points) -> Points:
        """Places of the picture."""
        across, up = np.asarray(points, float).T
        x = self.x + self.high * (across + self.lean * up)
        return np.stack([x, self.y - self.high * up], axis=1)

    def faded(self, colour: Colour) -> np.ndarray:
        """A colour as pale as the plant is."""
        return np.asarray(colour) + self.pale * (MIST - colour)


def plant(facts: Facts, pen: Pen) -> None:
    """A pot and what grows in it; a hard one is small, pale and wilted."""
    rng = rng_of(facts, "plant")
    across = rng.uniform(19, 28)
    if "on the left" in facts.cues:
        across -= 9
    hue = rng.uniform((0.18, 0.40, 0.14), (0.40, 0.62, 0.30))
    if facts.is_hard:
        high, lean = rng.uniform(9.5, 13), rng.uniform(-0.45, 0.45)
        pale = rng.uniform(0.35, 0.7)
    else:
        high, lean = rng.uniform(13, 18), rng.uniform(-0.2, 0.2)
        pale = rng.uniform(0, 0.35)
    rim = rng.uniform(26, 29)
    place = Place(across, rim, high, lean, hue, pale)
    _pot(facts, pen, across, rim)
    GROWTHS[facts.label](rng_of(facts, "growth"), pen, place)
    if "tag" in facts.cues:
        _tag(rng_of(facts, "tag"), pen, across, rim)


def _pot(facts: Facts, pen: Pen, x: float, rim: float) -> None:
    rng = rng_of(facts, "pot")
    clay = np.array(CLAYS[rng.integers(len(CLAYS))]) * rng.uniform(0.85, 1.15)
    if "blue pot" in facts.cues:
        clay = np.array(BLUE)
    foot = rim + 7.5
    pen.oval((x + 1.2, foot), (4.4, 0.9), (0, 0, 0), 0.35)
    sides = [(x - 4.2, rim), (x + 4.2, rim), (x + 3, foot), (x - 3, foot)]
    pen.polygon(np.array(sides), clay)
    pen.box(x + 1.2, rim + 1, x + 3.2, foot - 1, 0.8 * clay, 0.6)
    pen.box(x - 4.7, rim - 0.3, x + 4.7, rim + 1.4, 0.9 * clay)


def _tag(rng: np.random.Generator, pen: Pen, x: float, rim: float) -> None:
    """A white tag on the pot, with lines of writing."""
    left = x + rng.uniform(-2.8, -1.6)
    pen.box(left, rim + 2.2, left + 3.6, rim + 5.8, (0.95, 0.95, 0.92))
    for row in (3.2, 4.4):
        end = left + rng.uniform(1.6, 3.2)
        pen.line([(left + 0.5, rim + row), (end, rim + row)], 0.5, (0.1, 0.1, 0.1))


def _leaf(pen: Pen, place: Place, tone: float, wide: float, *points: Points) -> None:
    """A blade from a start over a middle to its tip."""
    along = place.at(curve(*map(np.asarray, points)))
    pen.polygon(blade(along, place.high * wide), place.faded(tone * place.green))


def _swords(rng: np.random.Generator, pen: Pen, place: Place) -> None:
    """Stiff leaves that stand up, as those of a sansevieria."""
    for _ in range(rng.integers(5, 8)):
        foot, aside = rng.uniform(-0.16, 0.16), rng.uniform(-0.22, 0.22)
        tip = (foot + aside, rng.uniform(0.65, 1.0))
        middle = (foot + 0.3 * aside, 0.5)
        _leaf(pen, place, rng.uniform(0.75, 1.2), 0.15, (foot, 0), middle, tip)


def _fern(rng: np.random.Generator, pen: Pen, place: Place) -> None:
    """Fronds that arch over, each with leaflets on both sides."""
    for side in rng.permutation(np.linspace(-1, 1, 8)):
        reach = side * rng.uniform(0.5, 0.7)
        top = rng.uniform(0.75, 1.05)
        tip = (reach, rng.uniform(0.1, 0.4) + 0.4 * (1 - abs(side)))
        tone = rng.uniform(0.75, 1.2)
        along = curve(np.zeros(2), np.array((0.6 * reach, top)), np.array(tip))
        pen.line(place.at(along), 0.4, place.faded(0.8 * tone * place.green))
        for joint in along[2:]:
            for way in (-1, 1):
                end = joint + np.array((0.06 * np.sign(side), 0.1 * way))
                _leaf(pen, place, tone, 0.07, joint, (joint + end) / 2, end)


def _tulip(rng: np.random.Generator, pen: Pen, place: Place) -> None:
    """A stem with a flower, and two leaves at its foot."""
    aside = rng.uniform(-0.08, 0.08)
    for side in (-1, 1):
        tip = (side * rng.uniform(0.22, 0.4), rng.uniform(0.4, 0.62))
        middle = (side * 0.1, 0.35)
        _leaf(pen, place, rng.uniform(0.8, 1.15), 0.14, (0, 0), middle, tip)
    stem = place.at(curve(np.zeros(2), np.array((0, 0.4)), np.array((aside, 0.75))))
    pen.line(stem, 0.8, place.faded(0.85 * place.green))
    petals = [(-0.02, 0.66), (-0.15, 0.8), (-0.13, 1), (-0.06, 0.9), (0, 1.03)]
    petals += [(0.06, 0.9), (0.13, 1), (0.15, 0.8), (0.02, 0.66)]
    colour = FLOWERS[rng.integers(len(FLOWERS))]
    moved = np.array(petals) + np.array((aside, 0))
    pen.polygon(place.at(moved), place.faded(colour))


def _cactus(rng: np.random.Generator, pen: Pen, place: Place) -> None:
    """A column with one or two arms that bend upwards."""
    top = rng.uniform(0.8, 0.95)
    sides = rng.permutation((-1, 1))[: rng.integers(1, 3)]
    for side in sides:
        low = rng.uniform(0.25, 0.5)
        far = side * rng.uniform(0.27, 0.34)
        arm = [(0, low), (far, low + 0.05), (far, low + rng.uniform(0.22, 0.38))]
        _limb(pen, place, place.at(arm), 0.14)
    _limb(pen, place, place.at([(0, -0.02), (0, 0.4), (0, top)]), 0.24)


def _limb(pen: Pen, place: Place, along: Points, wide: float) -> None:
    """A rounded limb with ribs."""
    thick = place.high * wide
    colour = place.faded(place.green)
    pen.line(along, thick, colour)
    pen.oval(along[-1], (thick / 2, thick / 2), colour)
    for aside in (-0.22, 0.22):
        rib = along + np.array((aside * thick, 0))
        pen.line(rib, 0.3, place.faded(0.7 * place.green))


GROWTHS: dict[str, Callable[[np.random.Generator, Pen, Place], None]] = {
    "cactus": _cactus,
    "tulip": _tulip,
    "fern": _fern,
    "swords": _swords,
}
LABELS = tuple(GROWTHS)
