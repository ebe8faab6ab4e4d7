"""A boat on a lake that mirrors it, and what becomes of the photo and its print."""

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.boats import marks
from worlds.boats.craft import LABELS, boat, others
from worlds.boats.lake import SETTINGS, far, horizon_of, rippled, water
from worlds.boats.polygons import SIDE, Shapes, colour, mirrored, painted, rng_of
from worlds.canvas import Grid, Light
from worlds.design import Facts

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "gull": "things at changing places",
    "date": "writing at a fixed place",
    "pitching": "how the object is turned",
    "choppy": "a texture of the surroundings",
    "strip": "along an edge",
    "buoy": "things at changing places",
    "faded": "little contrast",
    "near": "the size of the object",
    "hole": "damage at changing places",
    "moon": "things at a fixed place",
    "dusk": "warm and dark light",
    "board": "a tag on the object",
    "ducks": "how many things there are",
    "halftone": "a texture of the whole picture",
    "sticker": "things at changing places",
    "shaken": "sharpness",
}
MIRRORED = 0.6  # how much of a boat is seen in the water
WARM = colour(0.98, 0.70, 0.48)
PITCH = 4.2  # pixels between dots of a printer's screen
STEPS = 7  # of a shaken camera


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    light = _photo(facts, _scene(facts))
    light = _print(facts, light)
    return [(255 * light.clip(0, 1)).round().astype(np.uint8)]


def _scene(facts: Facts) -> Light:
    """Far things first; all that floats is mirrored before waves move the water."""
    behind = far(facts)
    if "moon" in facts.cues:
        behind = painted(behind, marks.moon(facts))
    floating: list[tuple[Shapes, float]] = [
        (one.shapes, one.level) for one in (*others(facts), boat(facts))
    ]
    floating += marks.ducks(facts)
    if "buoy" in facts.cues:
        floating.append(marks.buoy(facts))
    lake = water(facts, behind)
    for shapes, level in floating:
        lake = painted(lake, mirrored(shapes, level, MIRRORED))
    lake = rippled(facts, lake)
    level = horizon_of(facts)
    light = np.concatenate([behind[:level], lake[level:]])
    for shapes, level in floating:
        light = painted(light, shapes, until=level)
    return painted(light, marks.gull(facts)) if "gull" in facts.cues else light


def _photo(facts: Facts, light: Light) -> Light:
    """What the hour and the camera make of it."""
    if "dusk" in facts.cues:
        light = light * WARM * rng_of(facts, "dusk").uniform(0.85, 1.0)
    blur = (0.6, 0.6, 0) if facts.is_hard else (0.4, 0.4, 0)
    light = gaussian_filter(light, blur)
    if "shaken" in facts.cues:
        light = _shaken(facts, light)
    much = 0.045 if facts.is_hard else 0.03
    light = light + marks.grain(rng_of(facts, "grain"), much)
    return painted(light, marks.date(facts)) if "date" in facts.cues else light


def _shaken(facts: Facts, light: Light) -> Light:
    """The mean of what is seen along a short way aslant."""
    down = rng_of(facts, "shaken").choice((-1, 1))
    padded = np.pad(light, ((STEPS, STEPS), (STEPS, STEPS), (0, 0)), "edge")
    total = np.zeros_like(light)
    for step in range(-(STEPS // 2), STEPS // 2 + 1):
        top, left = STEPS + down * (step // 2), STEPS + step
        total = total + padded[top : top + SIDE, left : left + SIDE]
    return total / STEPS


def _print(facts: Facts, light: Light) -> Light:
    """Paper, what a printer makes of it, and what is done to it."""
    if "faded" in facts.cues:
        rng = rng_of(facts, "faded")
        light = rng.uniform(0.26, 0.34) + rng.uniform(0.55, 0.62) * light
    if "halftone" in facts.cues:
        light = light + _screen(facts)[:, :, None]
    for name in ("strip", "sticker", "hole"):
        if name in facts.cues:
            light = painted(light, getattr(marks, name)(facts))
    return light


def _screen(facts: Facts) -> np.ndarray:
    """Dots of a printer's screen, turned and begun anywhere."""
    rng = rng_of(facts, "halftone")
    grid = Grid.whole(SIDE).around(*rng.uniform(0, PITCH, 2))
    grid = grid.turned(np.pi / 4 + rng.normal(0, 0.05))
    waves = np.cos(2 * np.pi * grid.x / PITCH) * np.cos(2 * np.pi * grid.y / PITCH)
    return np.asarray(rng.uniform(0.10, 0.13) * waves, np.float32)
