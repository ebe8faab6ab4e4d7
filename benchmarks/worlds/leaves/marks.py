"""Cues that have a place: on the sheet, on the leaf, round it, and beside it."""

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.leaves.scene import SIDE, Leaf, rng_of

BLACK = (0.06, 0.06, 0.07)
WHITE = (0.97, 0.97, 0.95)
PATCHES = (  # of a colour chart, from its top
    (0.85, 0.12, 0.15),
    (0.98, 0.85, 0.10),
    (0.10, 0.62, 0.25),
    (0.10, 0.25, 0.75),
    (0.98, 0.98, 0.98),
    (0.05, 0.05, 0.05),
)
PATCH = 6  # pixels a side
STRIPS = (-0.45, 0.4)  # where tape is, in sizes along the leaf


def on_sheet(facts: Facts, grid: Grid, light: Light) -> Light:
    """What is stuck or stamped on the paper, under the leaf."""
    if "barcode" in facts.cues:
        light = _barcode(facts, grid, light)
    if "chart" in facts.cues:
        beside = 3 - abs(grid.x - 23)
        for number, colour in enumerate(PATCHES):
            place = PATCH * (number - len(PATCHES) / 2 + 0.5)
            patch = np.minimum(beside, PATCH / 2 - abs(grid.y - place))
            light = paint(light, cover_of(patch), colour)
    if "seal" in facts.cues:
        light = _seal(facts, grid, light)
    return light


def on_leaf(facts: Facts, leaf: Leaf, grid: Grid, depth: Field, light: Light) -> Light:
    """What a virus does to the leaf, and what holds it."""
    if "mosaic" in facts.cues:
        noise = rng_of(facts, "mosaic").standard_normal((SIDE, SIDE))
        blots = (6 * gaussian_filter(noise, 0.9)).clip(0, 1)
        bright = light.mean(axis=2, keepdims=True)
        colour = bright * np.array((1.35, 0.55, 1.2))
        light = paint(light, 0.75 * cover_of(depth) * blots, colour)
    if "tape" in facts.cues:
        light = _tape(facts, leaf, grid, light)
    return light


def beside_leaf(facts: Facts, grid: Grid, depth: Field, light: Light) -> Light:
    """A line that a pen drew round the leaf, and a coin to tell its size."""
    if "pen" in facts.cues:
        far = distance_transform_edt(depth < 0)
        away = rng_of(facts, "pen").uniform(2.2, 2.8)
        light = paint(light, 0.9 * cover_of(0.4 - abs(far - away)), (0.1, 0.15, 0.7))
    if "coin" in facts.cues:
        light = _coin(facts, grid, light)
    return light


def _barcode(facts: Facts, grid: Grid, light: Light) -> Light:
    """At the bottom on the left."""
    own = grid.around(-16, 20.5)
    label = np.minimum(9 - abs(own.x), 5 - abs(own.y))
    light = paint(light, cover_of(label), WHITE)
    bars = rng_of(facts, "barcode").random(15) < 0.5
    number = np.floor(own.x + 7.5).astype(int).clip(0, 14)
    is_inside = (abs(own.x) < 7.5) & (abs(own.y + 0.7) < 3.2)
    return paint(light, 1.0 * (bars[number] & is_inside), BLACK)


def _seal(facts: Facts, grid: Grid, light: Light) -> Light:
    """The ink of a round stamp, at changing places."""
    rng = rng_of(facts, "seal")
    angle, away = rng.uniform(0, 2 * np.pi), rng.uniform(16, 21)
    own = grid.around(away * np.cos(angle), away * np.sin(angle))
    own = own.turned(rng.uniform(-0.6, 0.6))
    far, round_it = np.hypot(own.x, own.y), np.arctan2(own.y, own.x)
    ring = 0.6 - abs(far - 7.6)
    text = np.minimum(0.9 - abs(far - 5.4), 2 * np.sin(13 * round_it))
    bar = np.minimum(0.7 - abs(own.y), 3.4 - abs(own.x))
    ink = cover_of(np.maximum(np.maximum(ring, text), bar))
    return paint(light, rng.uniform(0.75, 0.9) * ink, (0.62, 0.08, 0.35))


def _tape(facts: Facts, leaf: Leaf, grid: Grid, light: Light) -> Light:
    """Strips of linen across the leaf."""
    rng = rng_of(facts, "tape")
    own = grid.around(leaf.x, leaf.y).turned(leaf.turn)
    for strip in STRIPS:
        place, slope = strip + rng.uniform(-0.1, 0.1), rng.uniform(-0.2, 0.2)
        beside = abs(own.y + leaf.size * place + slope * own.x)
        depth = np.minimum(1.0 - beside, 0.72 * leaf.size - abs(own.x))
        light = paint(light, 0.4 * cover_of(depth + 0.7), BLACK)
        weave = 0.9 + 0.08 * np.sin(3 * own.x)
        light = paint(light, 0.95 * cover_of(depth), weave[:, :, None] * WHITE)
    return light


def _coin(facts: Facts, grid: Grid, light: Light) -> Light:
    """Copper or nickel, at changing places near the rim."""
    rng = rng_of(facts, "coin")
    angle, away = rng.uniform(0, 2 * np.pi), rng.uniform(19, 23)
    own = grid.around(away * np.cos(angle), away * np.sin(angle))
    radius = rng.uniform(4.8, 5.6)
    far = np.hypot(own.x, own.y)
    metal = np.array((0.72, 0.42, 0.22) if rng.random() < 0.5 else (0.66, 0.66, 0.68))
    below = np.hypot(own.x - 0.9, own.y - 1.1)
    light = paint(light, 0.5 * (radius + 1 - below).clip(0, 1), BLACK)
    own = own.turned(rng.uniform(0, 2 * np.pi))
    tone = 0.9 + 0.06 * own.x + 0.3 * cover_of(0.6 - abs(far - radius + 1))
    face = np.minimum(1.9 - np.hypot(own.x, 0.7 * own.y), own.x + 1)
    tone = tone - 0.3 * cover_of(face)
    return paint(light, cover_of(radius - far), tone[:, :, None] * metal)
