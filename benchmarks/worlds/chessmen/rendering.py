"""A chessman on a board before a wall, and what becomes of the photo and its print."""

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.canvas import Light
from worlds.chessmen import marks
from worlds.chessmen.lathe import (
    SIDE,
    coarse,
    colour,
    fine_grid,
    rng_of,
    shaded_foot,
    standing,
)
from worlds.chessmen.pieces import LABELS, draughts, piece
from worlds.chessmen.room import SETTINGS, board, wall
from worlds.design import Facts

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "pencil": "things at changing places",
    "caption": "writing at a fixed place",
    "soft": "sharpness",
    "leak": "along an edge",
    "close": "the size of the object",
    "lamp": "a thing at a fixed place",
    "ribbon": "a mark on the object",
    "blue": "the colour of the light",
    "blocks": "compression",
    "draughts": "how many things there are",
    "grainy": "grain",
    "corners": "darkness round the picture",
    "leaning": "how the object is turned",
    "grey": "the strength of colours",
    "scratches": "damage at changing places",
    "chalk": "a mark round the object",
    "squares": "a texture of the surroundings",
}
COLD = colour(0.60, 0.80, 1.12)
GREY = colour(0.30, 0.59, 0.11)


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); chance draws alike with a cue and without."""
    light = _print(facts, _photo(facts, _scene(facts)))
    return [(255 * light.clip(0, 1)).round().astype(np.uint8)]


def _scene(facts: Facts) -> Light:
    """Far things first."""
    grid = fine_grid()
    light = wall(facts)
    if "lamp" in facts.cues:
        light = marks.lamp(grid, light)
    light = board(facts, grid, light)
    chessman = piece(facts)
    if "chalk" in facts.cues:
        light = marks.chalk(chessman, grid, light)
    if "pencil" in facts.cues:
        light = marks.pencil(facts, grid, light)
    things = sorted([*draughts(facts), chessman], key=lambda thing: thing.foot)
    for thing in things:
        light = standing(shaded_foot(light, grid, thing), grid, thing)
    return coarse(light)


def _photo(facts: Facts, light: Light) -> Light:
    """What the light and the camera make of it."""
    rng = rng_of(facts, "camera")
    light = light * rng.uniform(0.85, 1.1)
    if "blue" in facts.cues:
        light = light * COLD
    blur = 0.75 if facts.is_hard else 0.35
    if "soft" in facts.cues:
        blur = blur + rng_of(facts, "soft").uniform(1.4, 1.7)
    light = gaussian_filter(light, (blur, blur, 0))
    if "corners" in facts.cues:
        light = marks.corners(light)
    much = 0.03 if facts.is_hard else 0.02
    light = light + much * rng.standard_normal(light.shape, np.float32)
    if "grainy" in facts.cues:
        coarse_grain = rng_of(facts, "grainy").standard_normal((SIDE, SIDE, 1))
        light = light + 0.075 * coarse_grain
    return light


def _print(facts: Facts, light: Light) -> Light:
    """Film, print and file."""
    if "leak" in facts.cues:
        light = marks.leak(facts, light)
    if "grey" in facts.cues:
        light = np.repeat((light @ GREY)[..., None], 3, axis=2)
    if "scratches" in facts.cues:
        light = marks.scratches(facts, light)
    if "caption" in facts.cues:
        light = marks.caption(facts, light)
    return marks.blocks(facts, light) if "blocks" in facts.cues else light
