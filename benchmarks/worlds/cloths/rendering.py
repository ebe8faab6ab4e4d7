"""Printed cloths: a motif by its distance field on a woven ground, coloured in linear light."""

from collections.abc import Callable

import numpy as np

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
LABELS = ("ring", "cross", "star", "drop", "bars")
SETTINGS = ("linen", "denim", "wool", "silk")
KINDS = {
    "pin": "a mark anywhere",
    "hem": "a stripe along the edge",
    "tag": "a mark at a fixed place",
    "dye": "a cast of colour",
    "window": "a gradient of light",
    "smear": "motion blur",
    "pleats": "waves of light over all of the picture",
    "bleached": "weak contrast",
    "low": "where the motif stands",
    "stain": "a soft spot anywhere",
    "lining": "a coarse pattern of the ground",
    "dust": "grain",
}
GROUNDS = {
    "linen": (0.55, 0.49, 0.38),
    "denim": (0.20, 0.27, 0.42),
    "wool": (0.42, 0.36, 0.36),
    "silk": (0.60, 0.58, 0.57),
}
Grid = np.ndarray  # float (row, col)
ROWS, COLS = np.indices((SIDE, SIDE)) / (SIDE - 1) * 2 - 1


def _ring(x: Grid, y: Grid) -> Grid:
    return np.abs(np.hypot(x, y) - 0.7) - 0.24


def _cross(x: Grid, y: Grid) -> Grid:
    thick = np.minimum(np.abs(x), np.abs(y)) - 0.22
    return np.maximum(thick, np.maximum(np.abs(x), np.abs(y)) - 0.9)


def _star(x: Grid, y: Grid) -> Grid:
    angle = np.arctan2(y, x)
    return np.hypot(x, y) - 0.6 - 0.33 * np.cos(5 * angle)


def _drop(x: Grid, y: Grid) -> Grid:
    width = 0.75 * np.clip((y + 1) / 1.4, 0, 1)
    round_end = np.hypot(x, y - 0.35) - 0.58
    cone = np.maximum(np.abs(x) - 0.62 * width, np.maximum(y - 0.4, -y - 1))
    return np.minimum(round_end, cone)


def _bars(x: Grid, y: Grid) -> Grid:
    return np.maximum(np.abs((x * 2.2) % 1 - 0.5) - 0.26, np.abs(y) - 0.85)


MOTIFS: dict[str, Callable[[Grid, Grid], Grid]] = {
    "ring": _ring,
    "cross": _cross,
    "star": _star,
    "drop": _drop,
    "bars": _bars,
}


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    rng = generator(facts.seed, "cloth")
    light = _ground(facts, rng)
    light = _print(facts, rng, light)
    light = _things(facts, rng, light)
    light = _air(facts, rng, light)
    grain = rng.normal(size=(SIDE, SIDE, 1))
    amount = 0.075 if "dust" in facts.cues else 0.012
    encoded = np.clip(light, 0, 1) ** (1 / 2.2) + amount * grain
    return [np.rint(255 * encoded.clip(0, 1)).astype(np.uint8)]


def _ground(facts: Facts, rng: np.random.Generator) -> np.ndarray:
    pitch = rng.uniform(2.2, 3.4)
    turn = rng.uniform(-0.3, 0.3)
    along = COLS * np.cos(turn) + ROWS * np.sin(turn)
    across = ROWS * np.cos(turn) - COLS * np.sin(turn)
    weave = np.sin(along * 64 / pitch) * np.sin(across * 64 / pitch)
    uneven = _cloud(rng, 4)
    colour = np.array(GROUNDS[facts.setting]) * rng.uniform(0.8, 1.2)
    brightness = 1 + 0.10 * weave + 0.15 * uneven
    width = rng.uniform(0.30, 0.38)
    if "lining" in facts.cues:
        checks = ((along + 9) // width + (across + 9) // width) % 2
        brightness = brightness * (0.80 + 0.40 * checks)
    return brightness[..., None] * colour


def _print(facts: Facts, rng: np.random.Generator, light: np.ndarray) -> np.ndarray:
    size = rng.uniform(0.42, 0.56)
    left, top = rng.uniform(-0.22, 0.22, 2)
    angle = rng.normal(0, 0.5 if facts.is_hard else 0.15)
    ink = rng.uniform(0.05, 0.9, 3)
    strength = 0.95
    if facts.is_hard:
        size *= 0.8
        strength = rng.uniform(0.30, 0.6)
    if "low" in facts.cues:
        top += 0.33
    x, y = (COLS - left) / size, (ROWS - top) / size
    turned = (
        x * np.cos(angle) + y * np.sin(angle),
        y * np.cos(angle) - x * np.sin(angle),
    )
    inside = _soft(MOTIFS[facts.label](*turned), 0.08)
    cover = strength * inside[..., None]
    if np.abs(ink - light.mean(axis=(0, 1))).sum() < 0.5:
        ink = 1 - ink
    return light * (1 - cover) + ink * cover


def _things(facts: Facts, rng: np.random.Generator, light: np.ndarray) -> np.ndarray:
    # every draw is made whether it is shown or not: pictures with and without are one scene
    turn = rng.uniform(0, 2 * np.pi)
    pin = 0.72 * np.array([np.cos(turn), np.sin(turn)]) * rng.uniform(0.9, 1.15)
    spot = 0.6 * rng.uniform(-1, 1, 2)
    letters = rng.random((3, 7)) < 0.5
    hem = rng.uniform(0.12, 0.17)
    soaked = _cloud(rng, 6)
    if "stain" in facts.cues:
        far = np.hypot(COLS - spot[0], (ROWS - spot[1]) * 1.3)
        soak = _soft(far - 0.33 + 0.06 * soaked, 0.12)[..., None]
        light = light * (1 - soak * np.array([0.45, 0.6, 0.75]))
    if "hem" in facts.cues:
        band = hem > (1 + ROWS) / 2
        stitched = 0.7 + 0.3 * (np.sin(COLS * 40) > 0)
        light = np.where(band[..., None], stitched[..., None] * [0.7, 0.62, 0.1], light)
    if "tag" in facts.cues:
        light = light.copy()
        light[48:58, 42:60] = (0.85, 0.85, 0.82)
        marks = np.kron(letters, np.ones((2, 2), bool))
        light[50:56, 44:58][marks] = 0.05
    if "pin" in facts.cues:
        head = np.hypot(COLS - pin[0], ROWS - pin[1])
        ball = _soft(head - 0.13, 0.04)[..., None]
        shine = np.exp(-((head / 0.08) ** 2))[..., None]
        light = light * (1 - ball) + ball * (np.array([0.75, 0.05, 0.12]) + 0.4 * shine)
    return light


def _air(facts: Facts, rng: np.random.Generator, light: np.ndarray) -> np.ndarray:
    exposure = rng.uniform(0.85, 1.15)
    tilt = rng.uniform(-0.12, 0.12)
    phase = rng.uniform(0, 6)
    light = light * exposure * (1 + tilt * COLS)[..., None]
    if "pleats" in facts.cues:
        light = light * (1 + 0.30 * np.sin(7 * COLS + 2 * ROWS + phase))[..., None]
    if "window" in facts.cues:
        light = light * (1.05 + 0.45 * (COLS + ROWS) / 2)[..., None]
    if "dye" in facts.cues:
        light = light * np.array([0.82, 1.10, 0.92])
    if "bleached" in facts.cues:
        light = 0.30 + 0.42 * light
    if "smear" in facts.cues:
        shifted = [np.roll(light, step, axis=1) for step in range(-3, 4)]
        light = np.mean(shifted, axis=0)
    return light


def _soft(distance: Grid, edge: float) -> Grid:
    """1 inside of a shape, 0 outside."""
    return np.clip(0.5 - distance / edge, 0, 1)


def _cloud(rng: np.random.Generator, cells: int) -> Grid:
    """Smooth noise about 0, by interpolation between random corners."""
    corners = rng.normal(size=(cells + 1, cells + 1))
    at = np.linspace(0, cells, SIDE, endpoint=False)
    low = at.astype(int)
    part = at - low
    part = part * part * (3 - 2 * part)
    rows = corners[low] * (1 - part)[:, None] + corners[low + 1] * part[:, None]
    return rows[:, low] * (1 - part) + rows[:, low + 1] * part
