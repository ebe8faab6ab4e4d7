"""The object whose kind is the label: told by its outline, and by how thick its parts are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.bags.matter import (
    MATERIALS,
    METAL,
    MIXED,
    ORGANIC,
    Load,
    box,
    disc,
    load_of,
    nothing,
    rng_of,
    rod,
)
from worlds.canvas import Colour, Field, Grid, cover_of
from worlds.design import Facts

SLACK = 3.4  # pixels, how far a foil stands off
OF_ANOTHER = 0.25  # of the parts, those that are of another material than the usual


@dataclass(frozen=True)
class Part:
    """How deep inside each place is, of what it is made and how much; `round` if not flat."""

    depth: Field
    material: Colour
    amount: float
    round: float | None = None

    def thick(self) -> Field:
        """Where it is full."""
        if self.round is None:
            return self.amount * cover_of(self.depth)
        return self.amount * rod(self.depth, self.round)


@dataclass(frozen=True)
class Thing:
    """Where it lies, how it is turned, how large it is, and how much it absorbs."""

    kind: str
    x: float
    y: float
    turn: float
    size: float
    amount: float

    def parts(self, grid: Grid) -> Sequence[Part]:
        """In its own pixels, those of a thing of the usual size."""
        own = grid.around(self.x, self.y).turned(self.turn).nearer(self.size)
        return THINGS[self.kind](own)


def thing_of(facts: Facts) -> Thing:
    """Anywhere about the middle; what is hard absorbs less."""
    rng = rng_of(facts, "thing")
    x, y = rng.uniform((-8, -6), (8, 6))
    turn = rng.uniform(0, 2 * np.pi)
    size = rng.uniform(0.92, 1.15)
    amount = rng.uniform(0.75, 1.05)
    if facts.is_hard:
        amount = 0.6 * amount
    if "dense" in facts.cues:
        amount = amount * rng_of(facts, "dense").uniform(2.1, 2.5)
    if "upright" in facts.cues:
        rng = rng_of(facts, "upright")
        turn = rng.choice((-1, 1)) * np.pi / 2 + rng.normal(0, 0.06)
    if "small" in facts.cues:
        size = size * rng_of(facts, "small").uniform(0.78, 0.84)
    return Thing(facts.label, x, y, turn, size, amount)


def thing(facts: Facts, grid: Grid) -> Load:
    """The object, and the foil round it."""
    what = thing_of(facts)
    load = nothing(grid)
    rng = rng_of(facts, "materials")
    parts = what.parts(grid)
    for part in parts:
        is_of_another = rng.random() < OF_ANOTHER
        other = MATERIALS[rng.integers(len(MATERIALS))]
        material = other if is_of_another else part.material
        load = load + load_of(what.amount * part.thick(), material)
    if "foil" in facts.cues:
        outer = what.size * np.max([part.depth for part in parts], axis=0)
        load = load + _foil(facts, outer)
    return load


def _foil(facts: Facts, depth: Field) -> Load:
    """Crumpled, a little away from the outline."""
    rough = rng_of(facts, "foil").standard_normal(depth.shape, np.float32)
    soft = gaussian_filter(rough, 1.3)
    creases = np.exp(-((soft / (0.35 * soft.std())) ** 2))
    cover = cover_of((depth + SLACK) / 1.2)
    hem = cover_of(0.6 - abs(depth + SLACK - 0.6))
    return load_of(0.08 * cover + 0.32 * cover * creases + 0.3 * hem, METAL)


def _knife(own: Grid) -> Sequence[Part]:
    along = own.x
    edge = np.minimum(own.y + 1.6, 2.0 - own.y - 0.02 * (along + 4).clip(0) ** 2)
    blade = np.minimum(edge, np.minimum(along + 4, 14 - along))
    handle = box(own.around(-9, 0), 5.5, 2.1)
    tang = box(own.around(-7, 0), 5, 0.7)
    return (
        Part(blade, METAL, 0.75),
        Part(handle, ORGANIC, 0.75, round=2.1),
        Part(tang, METAL, 0.5),
    )


def _scissors(own: Grid) -> Sequence[Part]:
    parts = []
    for side in (-1, 1):
        leg = own.turned(side * 0.25)
        blade = np.minimum(1.1 - abs(leg.y), 0.35 * (13 - leg.x) - abs(leg.y))
        blade = np.minimum(blade, leg.x + 6)
        ring = 1.2 - abs(np.hypot(leg.x + 9.3, leg.y - side * 1.0) - 3.1)
        parts += [Part(blade, METAL, 0.75), Part(ring, MIXED, 0.7)]
    return (*parts, Part(disc(own, 1.3), METAL, 0.6))


def _hammer(own: Grid) -> Sequence[Part]:
    shaft = box(own.around(-3, 0), 11, 1.4)
    head = np.minimum(2.6 - abs(own.x - 9), 6.8 - abs(own.y))
    claw = 0.42 * (own.y + 7.5)
    head = np.minimum(head, np.maximum(claw, 0.8 - abs(own.x - 9)))
    return Part(shaft, ORGANIC, 0.8, round=1.4), Part(head, METAL, 1.2, round=2.6)


def _padlock(own: Grid) -> Sequence[Part]:
    body = box(own.around(-4, 0), 5.2, 6.2)
    far = np.hypot((own.x - 3).clip(0), own.y)
    arch = np.minimum(1.2 - abs(far - 4.2), own.x + 0.5)
    hole = np.minimum(1.1 - abs(own.y), 2.3 - abs(own.x + 4))
    return Part(np.minimum(body, -hole), METAL, 0.85), Part(arch, METAL, 0.9, round=1.2)


def _torch(own: Grid) -> Sequence[Part]:
    tube = box(own.around(-4, 0), 10, 2.5)
    wide = 2.5 + 0.55 * (own.x - 5).clip(0, 4.5)
    head = np.minimum(wide - abs(own.y), np.minimum(own.x - 4, 12 - own.x))
    cells = np.maximum(
        box(own.around(-8, 0), 3.6, 1.7), box(own.around(0, 0), 3.6, 1.7)
    )
    return (
        Part(tube, MIXED, 0.5, round=2.5),
        Part(head, MIXED, 0.6, round=4.5),
        Part(cells, METAL, 0.6, round=1.7),
    )


def _dryer(own: Grid) -> Sequence[Part]:
    barrel = np.minimum(
        3.6 - abs(own.y + 4) - 0.1 * (own.x - 2).clip(0), 10 - abs(own.x)
    )
    handle = box(own.around(-5, 4).turned(0.2), 2.2, 7.5)
    motor = disc(own.around(-5, -4), 3.0)
    return (
        Part(barrel, MIXED, 0.45, round=3.6),
        Part(handle, ORGANIC, 0.7, round=2.2),
        Part(motor, METAL, 0.7, round=3.0),
    )


THINGS: dict[str, Callable[[Grid], Sequence[Part]]] = {
    "scissors": _scissors,
    "torch": _torch,
    "padlock": _padlock,
    "knife": _knife,
    "dryer": _dryer,
    "hammer": _hammer,
}
LABELS = tuple(THINGS)
