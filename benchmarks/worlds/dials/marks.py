"""Cues that have a place: on the panel, at the case of the dial, and before it."""

import numpy as np

from worlds.canvas import Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.dials.gauge import Dial
from worlds.dials.panel import BLACK, rng_of

AMBER = (1.0, 0.62, 0.12)
YELLOW = (0.97, 0.80, 0.08)
GOLD = (0.90, 0.70, 0.25)
CRIMSON = (0.65, 0.05, 0.18)
STEEL = (0.82, 0.85, 0.88)
BLUE = (0.10, 0.28, 0.75)
CORNER = (-23.5, -23.5)  # where the lamp is
EDGE = 28.5  # how far out the middle of the tape is


def on_panel(facts: Facts, grid: Grid, light: Light) -> Light:
    """What is fixed to the panel; the dial may hide a part of it."""
    if "tape" in facts.cues:
        light = _tape(facts, grid, light)
    if "lamp" in facts.cues:
        light = _lamp(facts, grid, light)
    return light


def before_all(facts: Facts, dial: Dial, grid: Grid, light: Light) -> Light:
    """A seal that hangs from the case, and a tool that somebody left."""
    if "seal" in facts.cues:
        light = _seal(facts, dial, grid, light)
    if "spanner" in facts.cues:
        light = _spanner(facts, grid, light)
    return light


def _tape(facts: Facts, grid: Grid, light: Light) -> Light:
    """Yellow and black, along one of the edges."""
    rng = rng_of(facts, "tape")
    own = grid.turned(rng.integers(4) * np.pi / 2 + rng.normal(0, 0.03))
    beside = own.y - EDGE
    band = 3.4 - abs(beside)
    stripes = (own.x + beside) / rng.uniform(7, 8.5) + rng.random()
    dark = cover_of(8 * (abs(stripes % 1 - 0.5) - 0.25))
    light = paint(light, cover_of(band), YELLOW)
    return paint(light, cover_of(band) * dark, BLACK)


def _lamp(facts: Facts, grid: Grid, light: Light) -> Light:
    """It shines, always in the same corner."""
    rng = rng_of(facts, "lamp")
    x, y = CORNER + rng.normal(0, 0.7, 2)
    own = grid.around(x, y)
    far = np.hypot(own.x, own.y)
    light = paint(light, cover_of(5.6 - far), BLACK)
    light = paint(light, cover_of(4.4 - far), AMBER)
    light = paint(light, cover_of(1.8 - np.hypot(own.x + 1, own.y + 1)), (1, 0.95, 0.8))
    halo = 0.4 * np.exp(-(far - 4).clip(0) / 3.5) * (far > 4)
    return light + halo[:, :, None] * np.array(AMBER, np.float32)


def _seal(facts: Facts, dial: Dial, grid: Grid, light: Light) -> Light:
    """A golden seal on two tails of ribbon, somewhere at the lower half of the case."""
    rng = rng_of(facts, "seal")
    turn = np.pi / 2 + rng.uniform(-1.0, 1.0)
    far = dial.face + dial.rim + 1.0
    own = grid.around(dial.x + far * np.cos(turn), dial.y + far * np.sin(turn))
    own = own.turned(rng.normal(0, 0.1))
    for side in (-1, 1):
        tail = own.turned(side * 0.35)
        end = 9 - 0.7 * abs(tail.x)
        depth = np.minimum(1.5 - abs(tail.x), np.minimum(tail.y, end - tail.y))
        light = paint(light, 0.4 * cover_of(depth + 0.7), BLACK)
        light = paint(light, cover_of(depth), CRIMSON)
    middle = np.hypot(own.x, own.y)
    light = paint(light, 0.5 * cover_of(4.6 - middle), BLACK)
    tone = 1 - 0.06 * (own.x + own.y)
    light = paint(light, cover_of(3.8 - middle), tone[:, :, None] * np.array(GOLD))
    return paint(light, 0.7 * cover_of(0.4 - abs(middle - 2.2)), (0.4, 0.25, 0.05))


def _spanner(facts: Facts, grid: Grid, light: Light) -> Light:
    """In any of the corners, turned any way."""
    rng = rng_of(facts, "spanner")
    place = rng.choice((-1, 1), 2) * rng.uniform(21, 25, 2)
    own = grid.around(*place).turned(rng.uniform(0, 2 * np.pi))
    along, aside = abs(own.x), abs(own.y)
    grip = np.minimum(8 - along, 1.7 - aside)
    head = 3.9 - np.hypot(along - 9, own.y)
    jaw = np.minimum(along - 8.5, 1.4 - aside)
    metal = np.minimum(np.maximum(grip, head), -jaw)
    light = paint(light, 0.55 * cover_of(metal + 1), BLACK)
    tone = 1 - 0.12 * own.y
    light = paint(light, cover_of(metal), tone[:, :, None] * np.array(STEEL))
    handle = np.minimum(5 - along, 1.9 - aside)
    return paint(light, cover_of(handle), BLUE)
