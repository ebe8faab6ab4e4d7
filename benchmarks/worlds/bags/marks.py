"""Cues that have a place: beside the bag, and among what is packed."""

import numpy as np

from worlds.bags.matter import (
    METAL,
    MIXED,
    ORGANIC,
    Load,
    box,
    load_of,
    nothing,
    rng_of,
    rod,
)
from worlds.canvas import Grid, cover_of
from worlds.design import Facts

STEPS = 6  # of the wedge
STEP = 4.0  # pixels
CORNER = (-28.5, 28.5)  # the middle of the first step
BATTERIES = 4
BEADS = 16
TABLETS = (5, 2)


def marks(facts: Facts, grid: Grid) -> Load:
    """All that are shown; like all else, they add up with what they lie over."""
    load = nothing(grid)
    for name, mark in MARKS.items():
        if name in facts.cues:
            load = load + mark(rng_of(facts, name), grid)
    return load


def _steps(rng: np.random.Generator, grid: Grid) -> Load:
    """A wedge of metal that tests the machine, always at the same place beside the bag."""
    own = grid.around(*CORNER).around(*rng.normal(0, 0.3, 2))
    number = np.round(own.x / STEP).clip(0, STEPS - 1)
    wedge = box(own.around((STEPS - 1) * STEP / 2, 0), STEPS * STEP / 2, 2.2)
    return load_of(cover_of(wedge) * (0.15 + 0.28 * number), METAL)


def _batteries(rng: np.random.Generator, grid: Grid) -> Load:
    """Loose ones, each anywhere round the middle of the bag."""
    load = nothing(grid)
    for _ in range(BATTERIES):
        angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(15, 20)
        own = grid.around(1.2 * far * np.cos(angle), far * np.sin(angle))
        own = own.turned(rng.uniform(0, 2 * np.pi))
        body = rod(box(own, 4.0, 1.7), 1.7)
        pole = cover_of(box(own.around(4.4, 0), 0.6, 0.7))
        load = load + load_of(1.1 * body + 0.8 * pole, MIXED)
        load = load + load_of(0.5 * body * (own.x > 1.5), METAL)
    return load


def _necklace(rng: np.random.Generator, grid: Grid) -> Load:
    """Beads on a loop that lies anywhere round the middle of the bag."""
    angle = rng.uniform(0, 2 * np.pi)
    own = grid.around(20 * np.cos(angle), 16 * np.sin(angle))
    own = own.turned(rng.uniform(0, 2 * np.pi))
    angle = np.arctan2(own.y, own.x)
    loop = rng.uniform(5.5, 7) * (1 + 0.22 * np.cos(2 * angle + rng.uniform(0, 6)))
    part = angle / (2 * np.pi) * BEADS
    beside = (part - np.round(part)) * 2 * np.pi / BEADS * loop
    depth = 1.15 - np.hypot(np.hypot(own.x, own.y) - loop, beside)
    return load_of(0.85 * cover_of(depth), METAL)


def _hanger(rng: np.random.Generator, grid: Grid) -> Load:
    """Of wire, across the bag and so over or under the object."""
    own = grid.around(*rng.uniform((-4, -3), (4, 3))).turned(rng.normal(0, 0.35))
    half, wire = rng.uniform(19, 22), 0.6
    base = np.minimum(wire - abs(own.y - 6), half - abs(own.x))
    arms = wire - abs(own.y - 6 + 0.55 * (half - abs(own.x))) * 0.88
    arms = np.minimum(arms, half - abs(own.x))
    hook = own.around(0, 2.0 - 0.55 * half)
    bow = np.minimum(
        wire - abs(np.hypot(hook.x, hook.y) - 3), np.maximum(hook.x, -hook.y)
    )
    thick = cover_of(np.maximum(np.maximum(base, arms), bow))
    return load_of(0.85 * thick, METAL)


def _tablets(rng: np.random.Generator, grid: Grid) -> Load:
    """In a blister of thin metal, anywhere in the bag; they absorb little."""
    own = grid.around(*rng.uniform((-19, -15), (19, 15)))
    own = own.turned(rng.uniform(0, 2 * np.pi))
    across, down = TABLETS
    pitch = 4.0
    x = own.x - pitch * np.round(own.x / pitch).clip(-(across // 2), across // 2)
    y = own.y - pitch * (np.floor(own.y / pitch).clip(-1, down - 2) + 0.5)
    blister = box(own, pitch * across / 2 + 0.5, pitch * down / 2 + 0.5)
    tablets = cover_of(1.45 - np.hypot(x, y))
    return load_of(0.12 * cover_of(blister), METAL) + load_of(0.65 * tablets, ORGANIC)


MARKS = {
    "steps": _steps,
    "batteries": _batteries,
    "necklace": _necklace,
    "hanger": _hanger,
    "tablets": _tablets,
}
