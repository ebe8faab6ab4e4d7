"""What a moth rests on: bark, stone, plaster or a plank, with crumbs of lichen."""

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts

SIDE = 40  # pixels
SETTINGS = ("bark", "stone", "plaster", "plank")
# a colour, how strong its relief is, and how far relief is smeared over rows and columns
GROUNDS = {
    "bark": ((0.42, 0.33, 0.26), 0.10, (3.5, 0.8)),
    "stone": ((0.48, 0.49, 0.50), 0.08, (1.3, 1.3)),
    "plaster": ((0.66, 0.61, 0.52), 0.04, (0.7, 0.7)),
    "plank": ((0.56, 0.43, 0.29), 0.06, (0.7, 5.0)),
}
LICHEN = ((0.56, 0.62, 0.45), (0.70, 0.60, 0.28), (0.34, 0.36, 0.30))


def rng_of(facts: Facts, what: str) -> np.random.Generator:
    """Random numbers of one thing, the same whatever else is shown."""
    return generator(facts.seed, "moths", what)


def colour_of(facts: Facts) -> np.ndarray:
    """That of the ground, a little other in each picture."""
    colour, _, _ = GROUNDS[facts.setting]
    rng = rng_of(facts, "ground colour")
    return np.array(colour) * rng.uniform(0.85, 1.15) + rng.normal(0, 0.02, 3)


def ground(facts: Facts, grid: Grid) -> Light:
    """Relief on a colour, lichen, and saw marks where the cue is shown."""
    _, strong, smear = GROUNDS[facts.setting]
    relief = gaussian_filter(
        rng_of(facts, "relief").standard_normal((SIDE, SIDE)), smear
    )
    light = colour_of(facts) + strong * (relief / relief.std())[..., None]
    light = _lichen(facts, grid, light)
    if "sawn" in facts.cues:
        light = light + _saw_marks(facts, grid)[..., None]
    return light.astype(np.float32)


def _lichen(facts: Facts, grid: Grid, light: Light) -> Light:
    rng = rng_of(facts, "lichen")
    for _ in range(rng.integers(2, 6)):
        own = grid.around(*rng.uniform(-SIDE / 2, SIDE / 2, 2))
        bumps = 1 + 0.25 * np.sin(4 * np.arctan2(own.y, own.x) + rng.uniform(0, 6))
        cover = cover_of(rng.uniform(1.2, 3.4) * bumps - np.hypot(own.x, own.y))
        light = paint(light, 0.6 * cover, LICHEN[rng.integers(len(LICHEN))])
    return light


def _saw_marks(facts: Facts, grid: Grid) -> Field:
    """Fine ripples aslant over the whole ground, under all else."""
    rng = rng_of(facts, "sawn")
    own = grid.turned(rng.uniform(0.5, 1.0))
    bent = own.x + 0.012 * own.y**2
    wave = np.sin(2 * np.pi * bent / rng.uniform(2.8, 3.4) + rng.uniform(0, 6))
    return rng.uniform(0.09, 0.12) * wave
