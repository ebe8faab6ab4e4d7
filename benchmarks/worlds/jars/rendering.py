"""Jars on a shelf, and what changes the whole photo."""

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from worlds.canvas import Grid, Light
from worlds.design import Facts
from worlds.jars import marks
from worlds.jars.scene import (
    HALF,
    LABELS,
    SETTINGS,
    SIDE,
    contents,
    glass,
    jar_of,
    others,
    rng_of,
    shelf,
    wall,
)

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "price": "a thing along an edge",
    "blinds": "stripes of light",
    "crack": "lines on the object",
    "sepia": "colours of an old photo",
    "moth": "a thing at changing places",
    "glow": "light round the object",
    "fringes": "colours that part",
    "gingham": "the cloth on the object",
    "plate": "a thing behind the object",
    "haze": "less contrast",
    "squat": "the shape of the object",
    "scan lines": "dark rows all over",
    "twine": "a thing on the object",
    "dew": "drops on the object",
    "sharpened": "edges too sharp",
    "web": "lines in a corner",
}
GREY = np.array((0.3, 0.59, 0.11))


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    grid = Grid.whole(SIDE)
    light = _lit(facts, grid, _scene(facts, grid))
    pixels = _processed(facts, grid, _taken(facts, grid, light))
    return [(255 * pixels.clip(0, 1)).round().astype(np.uint8)]


def _scene(facts: Facts, grid: Grid) -> Light:
    jar = jar_of(facts)
    light = marks.on_wall(facts, grid, wall(facts, grid))
    light = others(facts, jar, grid, light)
    light = shelf(facts, jar, grid, light)
    light = marks.behind(facts, jar, grid, light)
    light = contents(facts, jar, grid, light)
    light = glass(facts, jar, grid, light)
    light = marks.on_jar(facts, jar, grid, light)
    return marks.before_all(facts, jar, grid, light)


def _lit(facts: Facts, grid: Grid, light: Light) -> Light:
    """A lamp to one side, and what comes through a window."""
    rng = rng_of(facts, "lamp")
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    fall = 1 + rng.uniform(0, 0.006) * own.x
    white = rng.uniform(0.93, 1.05, 3)
    light = rng.uniform(0.8, 1.08) * light * fall[:, :, None] * white
    if "blinds" in facts.cues:
        rng = rng_of(facts, "blinds")
        own = grid.turned(rng.choice((-1, 1)) * rng.uniform(0.15, 0.4))
        wave = np.sin(2 * np.pi * own.y / rng.uniform(10, 12) + rng.uniform(0, 6))
        shade = 1 / (1 + np.exp(5 * wave))
        light = light * (1.12 - rng.uniform(0.42, 0.52) * shade)[:, :, None]
    return light


def _taken(facts: Facts, grid: Grid, light: Light) -> Light:
    """What the air, the lens and the sensor make of the light."""
    if "haze" in facts.cues:
        much = rng_of(facts, "haze").uniform(0.42, 0.52)
        light = light + much * (np.array((0.72, 0.74, 0.77)) - light)
    light = gaussian_filter(light, (0.35, 0.35, 0))
    if "fringes" in facts.cues:
        light = _parted(facts, grid, light)
    noisy = 0.04 if facts.is_hard else 0.02
    return light + noisy * rng_of(facts, "noise").standard_normal(light.shape)


def _parted(facts: Facts, grid: Grid, light: Light) -> Light:
    """Red is seen larger than green, and blue smaller, as through a cheap lens."""
    much = rng_of(facts, "fringes").uniform(0.06, 0.075)
    parted = []
    for channel, zoom in enumerate((1 + much, 1, 1 - much)):
        own = grid.nearer(zoom)
        places = (own.y + HALF - 0.5, own.x + HALF - 0.5)
        parted.append(
            map_coordinates(light[:, :, channel], places, order=1, mode="nearest")
        )
    return np.stack(parted, axis=2)


def _processed(facts: Facts, grid: Grid, light: Light) -> Light:
    """What is done to a photo after it was taken."""
    if "sharpened" in facts.cues:
        much = rng_of(facts, "sharpened").uniform(0.9, 1.2)
        light = light + much * (light - gaussian_filter(light, (1.3, 1.3, 0)))
    if "sepia" in facts.cues:
        grey = (light * GREY).sum(axis=2, keepdims=True)
        old = 0.06 + 0.92 * grey * np.array((1.1, 0.93, 0.70))
        light = light + rng_of(facts, "sepia").uniform(0.85, 0.95) * (old - light)
    if "scan lines" in facts.cues:
        rng = rng_of(facts, "scan lines")
        wave = np.cos(2 * np.pi * (grid.y + rng.uniform(0, 4)) / 4)
        light = light * (1 - rng.uniform(0.16, 0.22) * (1 + wave))[:, :, None]
    return light
