"""A clip of a weather radar, and what is done to the whole of it."""

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.canvas import Field, Grid, Light, paint
from worlds.design import Facts, Frames
from worlds.echoes.ground import SETTINGS, ground
from worlds.echoes.marks import marks, spike
from worlds.echoes.weather import LABELS, LENGTH, moments, rain, rng_of, storm

__all__ = ["IN_FRAMES", "KINDS", "LABELS", "LENGTH", "SETTINGS", "SIDE", "draw"]
SIDE = 32  # pixels
KINDS = {
    "progress bar": "an overlay at a fixed place that grows",
    "other colours": "the colours of all that is measured",
    "strikes": "marks that blink at changing places",
    "fast": "the tempo",
    "sweep": "a ray that turns over all",
    "core": "the pattern of the object",
    "reversed": "the order of the frames",
    "spike": "a thing that stands still at changing places",
    "ghosts": "what is left of frames before",
    "large": "the size of the object",
    "aircraft": "a small thing that crosses",
    "stalled": "a last frame whose lower part is late",
    "soft": "how sharp all is",
    "speckle": "noise",
    "dark start": "the first frame",
    "south": "where the object is",
}
IN_FRAMES = {"dark start": (0,), "stalled": (LENGTH - 1,)}
STOPS = (0.10, 0.35, 0.60, 0.85, 1.1)  # strengths of echoes
COLOURS = np.array(
    (
        (0.05, 0.35, 0.15),
        (0.10, 0.70, 0.20),
        (0.92, 0.88, 0.20),
        (0.95, 0.40, 0.10),
        (0.80, 0.05, 0.15),
    )
)
OTHERS = np.array(
    (
        (0.10, 0.18, 0.42),
        (0.15, 0.45, 0.85),
        (0.35, 0.85, 0.90),
        (0.70, 0.45, 0.95),
        (0.95, 0.15, 0.85),
    )
)
CORE = (1.0, 0.92, 1.0)
LEFT = 0.35  # of a frame, in the next


def draw(facts: Facts) -> Frames:
    """Frames, uint8 (row, col, 3); chance is the same with a cue and without."""
    grid = Grid.whole(SIDE)
    light = _taken(facts, _measured(facts, grid))
    light = _played(facts, marks(facts, grid, light))
    return list((255 * light.clip(0, 1)).round().astype(np.uint8))


def _measured(facts: Facts, grid: Grid) -> Light:
    """Echoes over the map, float (frame, row, col, 3)."""
    when = moments(facts)
    strong, near = storm(facts, grid, when)
    echoes = np.maximum(strong, rain(facts, grid, when))
    if "spike" in facts.cues:
        echoes = np.maximum(echoes, spike(facts, grid))
    rough = rng_of(facts, "rough").standard_normal(echoes.shape, np.float32)
    echoes = echoes * (1 + (0.2 if facts.is_hard else 0.12) * rough)
    if "speckle" in facts.cues:
        rough = rng_of(facts, "speckle").standard_normal(echoes.shape, np.float32)
        echoes = echoes + 0.06 * rough
    palette = OTHERS if "other colours" in facts.cues else COLOURS
    cover = 0.9 * ((echoes - STOPS[0]) * 8).clip(0, 1)
    light = paint(ground(facts, grid), cover, _coloured(echoes, palette))
    if "core" in facts.cues:
        light = paint(light, ((near - 0.78) * 8).clip(0, 1), CORE)
    return light


def _coloured(echoes: Field, palette: np.ndarray) -> Light:
    channels = [np.interp(echoes, STOPS, values) for values in palette.T]
    return np.stack(channels, axis=-1).astype(np.float32)


def _taken(facts: Facts, light: Light) -> Light:
    """What becomes of the picture before anything is written over it."""
    if "soft" in facts.cues:
        much = rng_of(facts, "soft").uniform(0.7, 0.85)
        light = gaussian_filter(light, (0, much, much, 0))
    return light


def _played(facts: Facts, light: Light) -> Light:
    """What becomes of the clip when it is shown."""
    if "ghosts" in facts.cues:
        for number in range(1, LENGTH):
            light[number] += LEFT * (light[number - 1] - light[number])
    if "stalled" in facts.cues:
        row = rng_of(facts, "stalled").integers(SIDE // 3, SIDE - SIDE // 3)
        light[-1, row:] = light[-2, row:]
    if "dark start" in facts.cues:
        light[0] *= 0.35
    return light
