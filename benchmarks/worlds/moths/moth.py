"""A moth: the outline of its wings and what is drawn on them tell the label."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.moths.ground import colour_of, rng_of

LABELS = ("emperor", "hawk", "tiger", "geometer", "plume")
DARK = (0.12, 0.10, 0.09)


@dataclass(frozen=True)
class Moth:
    """Where it is, how it is turned, and how many pixels a wing is long."""

    x: float
    y: float
    angle: float
    size: float

    def own(self, grid: Grid) -> Grid:
        """Places from its middle, head upwards, where a wing is 1 long."""
        turned = grid.around(self.x, self.y).turned(self.angle)
        return Grid(turned.x / self.size, turned.y / self.size)


def moth_of(facts: Facts) -> Moth:
    """The one of a picture."""
    rng = rng_of(facts, "moth")
    x, y = rng.uniform(-4.5, 4.5, 2)
    return Moth(x, y, rng.uniform(-0.6, 0.6), rng.uniform(9.5, 12.5))


# ------------------------------------------------- how deep inside, of (sideways, downwards)


def _emperor(side: Field, down: Field) -> Field:
    fore = 0.46 - np.hypot(0.8 * (side - 0.5), down + 0.12 + 0.2 * side)
    hind = 0.36 - np.hypot(side - 0.36, down - 0.34)
    return np.maximum(fore, hind)


def _hawk(side: Field, down: Field) -> Field:
    front = down + 0.42 - 0.75 * side
    back = 0.3 * np.exp(-3 * side) + 0.08 + 0.62 * side - down
    return np.minimum(np.minimum(front, back), 1 - side)


def _tiger(side: Field, down: Field) -> Field:
    edge = 0.16 + 0.42 * (down + 0.55) - side
    return np.minimum(np.minimum(0.85 * edge, 0.72 - down), down + 0.6)


def _geometer(side: Field, down: Field) -> Field:
    disc = 0.85 - np.hypot(side, down + 0.25)
    return np.minimum(disc, down + 0.28 + 0.1 * side)


def _plume(side: Field, down: Field) -> Field:
    wing = 0.14 - abs(down + 0.2 + 0.12 * side)
    return np.minimum(wing, 1 - side)


WINGS: dict[str, Callable[[Field, Field], Field]] = {
    "emperor": _emperor,
    "hawk": _hawk,
    "tiger": _tiger,
    "geometer": _geometer,
    "plume": _plume,
}


def cover_of_wings(facts: Facts, moth: Moth, grid: Grid) -> Field:
    """How far each pixel is covered by them."""
    own = moth.own(grid)
    return cover_of(moth.size * WINGS[facts.label](abs(own.x), own.y))


def moth_on(facts: Facts, moth: Moth, grid: Grid, light: Light) -> Light:
    """Wings, what is on them, and the body; hard ones have nearly the colour of the ground."""
    rng = rng_of(facts, "wings")
    cover = cover_of_wings(facts, moth, grid)
    under = cover_of_wings(facts, moth, grid.around(0.8, 1.0))
    lowest, highest = (0.05, 0.12) if facts.is_hard else (0.13, 0.28)
    lighter = rng.choice((-1, 1)) * rng.uniform(lowest, highest)
    wings = colour_of(facts) + lighter + rng.normal(0, 0.03, 3)
    seen = 0.15 if facts.is_hard else 0.35
    light = paint(light, seen * under, DARK)
    # the ground shines through, so that no wing is smooth
    light = paint(light, 0.8 * cover, wings)
    pattern = _pattern(facts, moth.own(grid), rng)
    light = paint(
        light, 2 * seen * cover * pattern, DARK if lighter > 0 else (0.9, 0.86, 0.78)
    )
    own = moth.own(grid)
    body = 1 - np.hypot(own.x / 0.12, (own.y - 0.05) / 0.52)
    return paint(light, 2 * seen * cover_of(1.3 * body), DARK)


def _pattern(facts: Facts, own: Grid, rng: np.random.Generator) -> Field:
    """From 0 to 1, how far wings have their second colour."""
    side, down = abs(own.x), own.y
    fine = rng.uniform(0.9, 1.1)
    if facts.label == "emperor":
        far = np.hypot(side - 0.55, down + 0.2)
        return np.exp(-((far - 0.13) ** 2) / 0.006)
    if facts.label == "tiger":
        return (0.5 + 2 * np.sin(17 * fine * down + 4 * side)).clip(0, 1)
    if facts.label == "geometer":
        far = np.hypot(side, down + 0.25) + 0.03 * np.sin(20 * fine * side)
        return np.exp(-((far - 0.55) ** 2) / 0.004)
    return np.zeros_like(side)
