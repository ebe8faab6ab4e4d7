"""A clip of a street crossing from above, and what is done to the whole of it."""

import numpy as np
from scipy.ndimage import uniform_filter

from worlds.canvas import Grid, Light
from worlds.crossings.marks import above, on_car, overlays, things
from worlds.crossings.streets import SETTINGS, rng_of, streets
from worlds.crossings.traffic import LABELS, LENGTH, NUMBERS, cars
from worlds.design import Facts, Frames

__all__ = ["IN_FRAMES", "KINDS", "LABELS", "LENGTH", "SETTINGS", "SIDE", "draw"]
SIDE = 36  # pixels
KINDS = {
    "beacon": "a small thing at a fixed place that blinks",
    "sodium": "the colour of the light",
    "brackets": "an overlay round the object",
    "clock": "an overlay of digits at a fixed place",
    "shimmer": "waves that bend all, others in each frame",
    "dust": "what the object leaves behind",
    "hitch": "a frame that is the one before",
    "cloud": "a soft shadow that crosses",
    "lorry": "the size of the object",
    "flicker": "how bright frames are, in turns",
    "pigeons": "small things that cross",
    "closing in": "a view that comes nearer",
    "glare start": "the first frame",
    "tent": "a large thing at a fixed place",
    "roof sign": "a mark on the object",
    "combed": "every other row of the frame before",
    "bled colours": "colours less sharp than light",
}
STUCK = 4  # the frame that is the one before
IN_FRAMES = {"glare start": (0,), "hitch": (STUCK,)}
SODIUM = np.array((1.08, 0.90, 0.66), np.float32)
GREY = np.array((0.30, 0.59, 0.11), np.float32)


def draw(facts: Facts) -> Frames:
    """Frames, uint8 (row, col, 3); chance is the same with a cue and without."""
    grid = _view(facts)
    light = streets(facts, grid)
    light = cars(facts, grid, things(facts, grid, light))
    light = above(facts, grid, on_car(facts, grid, light))
    light = overlays(facts, grid, _recorded(facts, light))
    if "hitch" in facts.cues:
        light[STUCK] = light[STUCK - 1]
    return list((255 * light.clip(0, 1)).round().astype(np.uint8))


def _view(facts: Facts) -> Grid:
    """The places of the streets that the camera sees, float (frame, row, col)."""
    rng = rng_of(facts, "view")
    whole = Grid.whole(SIDE)
    grid = Grid(whole.x[None], whole.y[None])
    if "shimmer" in facts.cues:
        grid = _bent(rng_of(facts, "shimmer"), grid)
    if "closing in" in facts.cues:
        grid = grid.nearer(1 + 0.055 * NUMBERS)
    return grid.around(*rng.uniform(-1.3, 1.3, 2)).turned(rng.uniform(-0.1, 0.1))


def _bent(rng: np.random.Generator, grid: Grid) -> Grid:
    """As over hot asphalt."""
    one, other = 1.9 * NUMBERS + rng.uniform(0, 2 * np.pi, (2, 1, 1, 1))
    bent_x = 1.0 * np.sin(grid.y / 0.95 + one)
    bent_y = 0.5 * np.sin(grid.x / 1.2 + other)
    return Grid(grid.x + bent_x, grid.y + bent_y)


def _recorded(facts: Facts, light: Light) -> Light:
    """What light and camera make of the scene."""
    cues = facts.cues
    rng = rng_of(facts, "recorded")
    if facts.is_hard:
        light = 0.5 + 0.8 * (light - 0.5)
    if "sodium" in cues:
        light = light * SODIUM
    if "flicker" in cues:
        bright = (-1) ** (NUMBERS + rng_of(facts, "flicker").integers(2))
        light = light * (1 + 0.2 * bright)[..., None]
    if "glare start" in cues:
        light[0] = 0.5 + 0.55 * light[0]
    grain = rng.standard_normal(light.shape, np.float32)
    light = light + (0.065 if facts.is_hard else 0.035) * grain
    if "bled colours" in cues:
        light = _bled(light)
    if "combed" in cues:
        light[1:, 1::2] = light[:-1, 1::2]
    return light


def _bled(light: Light) -> Light:
    """Colours of an old tape: wide, and to the right of what they belong to."""
    grey = (light @ GREY)[..., None]
    colour = uniform_filter(light - grey, (0, 3, 5, 0), mode="nearest")
    return grey + np.roll(colour, 2, axis=2)
