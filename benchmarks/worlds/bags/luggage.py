"""The bag, and what is packed in it beside the object: it tells no label."""

from collections.abc import Callable

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
from worlds.canvas import Field, Grid, cover_of
from worlds.design import Facts

Rng = np.random.Generator
WIDE, HIGH = 27.0, 22.0  # half sizes of a bag


def bag(facts: Facts, grid: Grid) -> Load:
    """Its walls, and the lining, which may be quilted."""
    rng = rng_of(facts, "bag")
    own = grid.around(*rng.normal(0, 1, 2)).turned(rng.normal(0, 0.05))
    size = rng.uniform(0.93, 1.05)
    places = own.nearer(size)
    depth, fittings = BAGS[facts.setting](rng, places)
    walls = cover_of(1.2 - abs(depth - 0.5)) * rng.uniform(0.25, 0.5)
    inside = cover_of(depth)
    load = load_of(walls + rng.uniform(0.04, 0.10) * inside, ORGANIC) + fittings
    if "quilted" in facts.cues:
        load = load + load_of(inside * _quilting(facts, own), ORGANIC)
    return load


def _quilting(facts: Facts, own: Grid) -> Field:
    """Seams that cross aslant, and knots where they meet."""
    rng = rng_of(facts, "quilted")
    pitch = rng.uniform(8, 9.5)
    places = own.turned(np.pi / 4).around(*rng.uniform(0, pitch, 2))
    across = abs(places.x % pitch - pitch / 2)
    down = abs(places.y % pitch - pitch / 2)
    seams = np.maximum(cover_of(0.4 - across), cover_of(0.4 - down))
    knots = cover_of(1.3 - np.hypot(across, down))
    padding = 0.10 * np.sin(np.pi * across / pitch) * np.sin(np.pi * down / pitch)
    return 0.28 * seams + 0.3 * knots + padding


def _suitcase(rng: Rng, own: Grid) -> tuple[Field, Load]:
    sums = abs(own.x / WIDE) ** 8 + abs(own.y / HIGH) ** 8
    depth = HIGH * (1 - sums ** (1 / 8))
    rods = cover_of(0.7 - abs(abs(own.x) - rng.uniform(5, 8))) * (own.y < 10)
    wheels = cover_of(2.2 - np.hypot(abs(own.x) - 20, own.y - HIGH - 1))
    metal = load_of(0.22 * rods * cover_of(depth + 4), METAL)
    return depth, metal + load_of(0.7 * wheels, MIXED)


def _rucksack(rng: Rng, own: Grid) -> tuple[Field, Load]:
    narrow = 1 + 0.18 * (own.y / HIGH)
    sums = abs(own.x / (0.86 * WIDE * narrow)) ** 3.5 + abs(own.y / (HIGH + 4)) ** 3.5
    depth = HIGH * (1 - sums ** (1 / 3.5))
    bent = abs(own.x) - rng.uniform(8, 10) - 0.004 * own.y**2
    straps = cover_of(2.2 - abs(bent)) * cover_of(depth)
    return depth, load_of(0.13 * straps, ORGANIC)


def _holdall(rng: Rng, own: Grid) -> tuple[Field, Load]:
    sums = abs(own.x / (WIDE + 2)) ** 3 + abs(own.y / (0.9 * HIGH)) ** 3
    depth = HIGH * (1 - sums ** (1 / 3))
    along = own.y - rng.uniform(-3, 3)
    teeth = cover_of(0.9 - abs(along)) * (np.sin(2.1 * own.x) > 0)
    return depth, load_of(0.3 * teeth * cover_of(depth - 3), METAL)


def _tray(rng: Rng, own: Grid) -> tuple[Field, Load]:
    sums = abs(own.x / (WIDE + 1)) ** 14 + abs(own.y / HIGH) ** 14
    depth = HIGH * (1 - sums ** (1 / 14))
    lip = cover_of(0.8 - abs(depth - 3.4))
    pitch = rng.uniform(6, 8)
    ribs = cover_of(0.5 - abs((own.x + pitch / 2) % pitch - pitch / 2))
    return depth, load_of(0.15 * lip + 0.10 * ribs * cover_of(depth), MIXED)


BAGS: dict[str, Callable[[Rng, Grid], tuple[Field, Load]]] = {
    "suitcase": _suitcase,
    "rucksack": _rucksack,
    "holdall": _holdall,
    "tray": _tray,
}
SETTINGS = tuple(BAGS)


def packed(facts: Facts, grid: Grid) -> Load:
    """Clothes, and a few other things; what is hard is packed full."""
    rng = rng_of(facts, "packed")
    load = _clothes(rng, grid) * (1.5 if facts.is_hard else 1.0)
    count = rng.integers(3, 6) if facts.is_hard else rng.integers(1, 5)
    for _ in range(count):
        thing = OTHERS[rng.integers(len(OTHERS))]
        place = rng.uniform((-21, -16), (21, 16))
        load = load + thing(rng, grid.around(*place).turned(rng.uniform(0, 6.3)))
    return load


def _clothes(rng: Rng, grid: Grid) -> Load:
    """Folds that lie over one another."""
    load = nothing(grid)
    for _ in range(rng.integers(1, 4)):
        place = rng.uniform((-14, -10), (14, 10))
        own = grid.around(*place).turned(rng.normal(0, 0.3))
        cover = cover_of(box(own, rng.uniform(8, 16), rng.uniform(6, 12)) / 2)
        rough = rng.standard_normal(grid.x.shape, np.float32)
        folds = 1 + 3.0 * gaussian_filter(rough, (1.5, 4))
        thick = rng.uniform(0.08, 0.2) * cover * folds.clip(0.2, 2)
        load = load + load_of(thick, ORGANIC)
    return load


def _belt(rng: Rng, own: Grid) -> Load:
    """Rolled up, with a buckle."""
    far, angle = np.hypot(own.x, own.y), np.arctan2(own.y, own.x)
    turns = (far - angle / np.pi * 0.9) % 1.8
    rolled = cover_of(0.7 - abs(turns - 0.9)) * cover_of(rng.uniform(4, 6) - far)
    frame = box(own.around(5, 0), 2.2, 2.0)
    buckle = cover_of(frame) - cover_of(frame - 1)
    return load_of(0.5 * rolled, ORGANIC) + load_of(0.8 * buckle, METAL)


def _coins(rng: Rng, own: Grid) -> Load:
    """Some that lie together."""
    thick = np.zeros_like(own.x)
    for _ in range(rng.integers(3, 6)):
        coin = own.around(*rng.normal(0, 3, 2))
        thick = thick + 0.5 * cover_of(disc(coin, rng.uniform(1.1, 1.8)))
    return load_of(thick, METAL)


def _cable(rng: Rng, own: Grid) -> Load:
    """It winds, with a plug at its end."""
    beside = own.y - rng.uniform(2, 4) * np.sin(own.x / rng.uniform(2.5, 4))
    half = rng.uniform(9, 15)
    line = np.minimum(0.5 - abs(beside) / 1.4, half - abs(own.x))
    plug = cover_of(box(own.around(half, 0), 1.8, 1.4))
    return load_of(0.6 * cover_of(line) + 0.5 * plug, MIXED)


def _bottle(rng: Rng, own: Grid) -> Load:
    """Filled to some height."""
    half, radius = rng.uniform(6, 8), rng.uniform(3, 4.2)
    body = box(own, half, radius)
    neck = box(own.around(half + 2, 0), 2.2, 1.3)
    glass = rod(np.maximum(body, neck), radius)
    filled = rod(body - 0.6, radius) * (own.x < half * rng.uniform(-0.2, 0.8))
    return load_of(0.2 * glass + 0.5 * filled, ORGANIC)


def _book(rng: Rng, own: Grid) -> Load:
    """Its back is a little thicker."""
    high = rng.uniform(4.5, 6)
    pages = box(own, rng.uniform(6, 8), high)
    back = cover_of(0.8 - abs(own.y - high + 0.8)) * cover_of(pages)
    return load_of(0.45 * cover_of(pages) + 0.2 * back, ORGANIC)


def _cosmetics(rng: Rng, own: Grid) -> Load:
    """A tin or tube of any material."""
    depth = box(own, rng.uniform(3, 5), rng.uniform(2, 3))
    material = MATERIALS[rng.integers(len(MATERIALS))]
    return load_of(rng.uniform(0.3, 0.55) * rod(depth, 3.0), material)


OTHERS = (_belt, _coins, _cable, _bottle, _book, _cosmetics)
