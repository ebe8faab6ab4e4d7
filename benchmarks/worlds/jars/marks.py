"""Cues that have a place: on the wall, behind the jar, on its glass or lid, and on the shelf."""

import numpy as np
from scipy.ndimage import distance_transform_edt

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.jars.scene import HALF, LID, Jar, edge_of, rng_of

BLACK = (0.06, 0.06, 0.07)
WHITE = (0.97, 0.97, 0.95)
RED = (0.78, 0.10, 0.12)
BLUE = (0.12, 0.25, 0.62)
TWINE = (0.72, 0.55, 0.32)
CARD = (0.93, 0.88, 0.74)
DROPS = 38
THREADS = np.radians((4, 25, 46, 67, 86))  # of a web, from the ceiling


def on_wall(facts: Facts, grid: Grid, light: Light) -> Light:
    """What hangs or sits on the wall; the jar may hide a part of it."""
    if "plate" in facts.cues:
        light = _plate(facts, grid, light)
    if "web" in facts.cues:
        light = _web(facts, grid, light)
    return light


def behind(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """A lamp that is hidden by the jar."""
    if "glow" not in facts.cues:
        return light
    rng = rng_of(facts, "glow")
    far = distance_transform_edt(jar.depth(grid) < 0)
    bright = rng.uniform(0.5, 0.7) * np.exp(-far / rng.uniform(3, 4))
    return light + bright[:, :, None] * np.array((1.0, 0.85, 0.5))


def on_jar(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """What became of the glass, and what somebody put on the jar."""
    if "crack" in facts.cues:
        light = _crack(facts, jar, grid, light)
    if "dew" in facts.cues:
        light = _dew(facts, jar, grid, light)
    if "gingham" in facts.cues:
        light = _gingham(facts, jar, grid, light)
    if "twine" in facts.cues:
        light = _twine(facts, jar, grid, light)
    return light


def before_all(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """A price on the front of the shelf, and a moth."""
    if "price" in facts.cues:
        light = _price(facts, jar, grid, light)
    if "moth" in facts.cues:
        light = _moth(facts, grid, light)
    return light


def _plate(facts: Facts, grid: Grid, light: Light) -> Light:
    """China with a blue rim, to the left or to the right."""
    rng = rng_of(facts, "plate")
    own = grid.around(rng.choice((-1, 1)) * rng.uniform(14, 20), rng.uniform(-19, -13))
    radius = rng.uniform(9.5, 11)
    far, angle = np.hypot(own.x, own.y), np.arctan2(own.y, own.x)
    light = paint(
        light, 0.4 * cover_of(radius - np.hypot(own.x - 1, own.y - 1.5)), BLACK
    )
    light = paint(light, cover_of(radius - far), WHITE)
    light = paint(light, cover_of(0.7 - abs(far - radius + 1.2)), BLUE)
    flower = cover_of(3.3 + 1.3 * np.cos(6 * angle + rng.uniform(0, 6)) - far)
    return paint(light, 0.9 * flower, BLUE)


def _web(facts: Facts, grid: Grid, light: Light) -> Light:
    """Threads in an upper corner."""
    rng = rng_of(facts, "web")
    side = rng.choice((-1, 1))
    size = rng.uniform(18, 23)
    x, y = side * grid.x + HALF, grid.y + HALF
    far, angle = np.hypot(x, y), np.arctan2(y, x)
    beside = np.full_like(far, 9)
    for thread in THREADS + rng.normal(0, 0.04, len(THREADS)):
        beside = np.minimum(beside, far * abs(np.sin(angle - thread)))
    spread = 1 - 0.12 * abs(np.sin(angle * np.pi / np.radians(21)))
    rings = far / spread % 5
    beside = np.minimum(beside, np.minimum(rings, 5 - rings) + 0.1)
    within = cover_of(size - far)
    light = paint(light, 0.35 * within * cover_of(1.3 - beside), BLACK)
    return paint(light, 0.95 * within * cover_of(0.4 - beside), WHITE)


def _crack(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """Branches from where something hit the glass."""
    rng = rng_of(facts, "crack")
    x = jar.x + rng.uniform(-0.5, 0.5) * jar.wide
    y = jar.foot - rng.uniform(0.3, 0.7) * jar.high
    inside = cover_of(jar.glass(grid) - 0.5)
    own = grid.around(x, y)
    first = rng.uniform(0, 2 * np.pi)
    for branch in range(5):
        ray = own.turned(first + 1.26 * branch + rng.normal(0, 0.25))
        bent = rng.uniform(0.6, 1.1) * np.sin(rng.uniform(0.5, 0.8) * ray.x)
        beside = abs(ray.y - bent)
        along = np.minimum(ray.x, rng.uniform(9, 17) - ray.x)
        dark = np.minimum(1.0 - abs(beside - 0.8), along)
        light = paint(light, 0.45 * inside * cover_of(dark), BLACK)
        bright = np.minimum(0.35 - beside, along)
        light = paint(light, 0.95 * inside * cover_of(bright), WHITE)
    return light


def _dew(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """Drops on cold glass, bright below and dark above."""
    rng = rng_of(facts, "dew")
    inside = cover_of(jar.glass(grid) - 0.5)
    across = jar.x + jar.wide * rng.uniform(-0.9, 0.9, DROPS)
    down = jar.foot - jar.high * rng.uniform(0.03, 0.95, DROPS)
    sizes = rng.uniform(0.9, 1.7, DROPS)
    for x, y, size in zip(across, down, sizes, strict=True):
        own = grid.around(x, y)
        tone = (0.6 + 0.45 * own.y / size)[:, :, None] * np.ones(3)
        cover = cover_of(size - np.hypot(own.x, own.y))
        light = paint(light, 0.75 * inside * cover, tone.clip(0.1, 1))
    return light


def _gingham(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """A cloth with checks over the lid, whose rim hangs down in folds."""
    rng = rng_of(facts, "gingham")
    own = grid.around(jar.x, jar.neck - LID)
    part = own.x / jar.wide
    hem = LID + 3.2 + 0.9 * np.sin(rng.uniform(7, 9) * part + rng.uniform(0, 6))
    top = 2.2 * (part**2) - 1.2
    half = jar.wide * (0.86 + 0.03 * own.y.clip(0, 8))
    depth = np.minimum(np.minimum(hem - own.y, own.y - top), half - abs(own.x))
    across = np.sin(np.pi * (own.x - 0.5) / 2.4) > 0
    down = np.sin(np.pi * own.y / 2.4) > 0
    dark = 0.5 * across + 0.5 * down
    light = paint(light, 0.4 * cover_of(depth + 1), BLACK)
    light = paint(light, cover_of(depth), WHITE)
    return paint(light, cover_of(depth) * dark, RED)


def _twine(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """Wound about the neck, with a card that hangs from it."""
    rng = rng_of(facts, "twine")
    own = grid.around(jar.x, jar.neck + 2.2)
    band = np.minimum(0.86 * jar.wide - abs(own.x), 1.3 - abs(own.y))
    light = paint(light, 0.5 * cover_of(band + 0.8), BLACK)
    tone = 0.85 + 0.3 * np.sin(2.4 * own.x + 2 * own.y)
    light = paint(light, cover_of(band), tone[:, :, None] * TWINE)
    card = own.around(rng.uniform(-0.5, 0.5) * jar.wide, 6).turned(rng.normal(0, 0.2))
    depth = np.minimum(3.2 - abs(card.x), 4.2 - abs(card.y))
    light = paint(light, 0.5 * cover_of(depth + 0.8), BLACK)
    light = paint(light, cover_of(depth), CARD)
    hole = cover_of(0.8 - np.hypot(card.x, card.y + 2.8))
    lines = np.minimum(2.0 - abs(card.x), 0.3 - abs(abs(card.y - 0.7) - 1.1))
    return paint(light, np.maximum(hole, 0.7 * cover_of(lines)), BLACK)


def _price(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """A label in a rail, anywhere along the shelf."""
    rng = rng_of(facts, "price")
    own = grid.around(rng.uniform(-22, 22), edge_of(jar) + 3.6)
    label = np.minimum(6.5 - abs(own.x), 3.3 - abs(own.y))
    light = paint(light, 0.5 * cover_of(label + 0.8), BLACK)
    light = paint(light, cover_of(label), (1.0, 0.90, 0.25))
    digits = rng.random((3, 5)) < 0.6
    cols = np.floor((own.x + 5) / 2).astype(int)
    rows = np.floor((own.y + 2.25) / 1.5).astype(int)
    is_inside = (cols >= 0) & (cols < 5) & (rows >= 0) & (rows < 3)
    return paint(
        light, 1.0 * (is_inside & digits[rows.clip(0, 2), cols.clip(0, 4)]), RED
    )


def _moth(facts: Facts, grid: Grid, light: Light) -> Light:
    """Its wings spread, anywhere in the upper part of the picture."""
    rng = rng_of(facts, "moth")
    own = grid.around(rng.uniform(-24, 24), rng.uniform(-25, 2)).turned(
        rng.uniform(-0.9, 0.9)
    )
    size = rng.uniform(0.95, 1.15)
    x, y = abs(own.x) / size, own.y / size
    fore = 3.4 - np.hypot(0.72 * (x - 3.6), 1.5 * (y + 1.2 + 0.25 * x))
    hind = 2.4 - np.hypot(x - 2.2, y - 1.9)
    wings = np.maximum(fore, hind)
    body = 0.9 - np.hypot(x, 0.28 * y)
    light = paint(light, 0.4 * cover_of(wings + 0.9), BLACK)
    tone = 1 - 0.3 * _ringed(x, y)
    light = paint(
        light, cover_of(wings), tone[:, :, None] * np.array((0.80, 0.68, 0.46))
    )
    spot = cover_of(1.0 - np.hypot(x - 4.2, y + 2))
    return paint(light, np.maximum(cover_of(body), spot), (0.2, 0.13, 0.08))


def _ringed(x: Field, y: Field) -> Field:
    return (np.sin(2.2 * np.hypot(x, y)) > 0.2).astype(float)
