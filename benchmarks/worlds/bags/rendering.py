"""An open bag under X-rays in false colours, and what the machine does to the whole picture."""

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.signal import lfilter

from worlds.bags.luggage import SETTINGS, bag, packed
from worlds.bags.marks import marks
from worlds.bags.matter import rng_of
from worlds.bags.things import LABELS, thing
from worlds.canvas import Grid, Light
from worlds.design import Facts

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
SIDE = 64  # pixels
KINDS = {
    "steps": "things at a fixed place",
    "grey": "no false colours",
    "dense": "how much the object absorbs",
    "batteries": "things at changing places",
    "stretched": "all is wider",
    "foil": "a thing round the object",
    "afterglow": "trails to one side",
    "tablets": "faint things at changing places",
    "upright": "how the object is turned",
    "few rays": "noise where it is dark",
    "quilted": "a pattern of the surroundings",
    "hanger": "a large thing over the object",
    "modules": "bands of unlike brightness",
    "small": "the size of the object",
    "necklace": "a chain at changing places",
    "coarse colours": "compression of the colours alone",
}
GREY = np.array((0.3, 0.59, 0.11), np.float32)
LAMP = 0.94  # of what shows as white, where nothing lies
LAG = 0.86  # of a trail, that is left one column on
BANDS = 5
COARSE = 6  # pixels, the side of a square
SPARE = 8  # pixels, so that whole squares cover the picture wherever they begin


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    grid = _carried(facts, Grid.whole(SIDE))
    load = bag(facts, grid) + packed(facts, grid)
    load = load + thing(facts, grid) + marks(facts, grid)
    light = _shown(facts, _detected(facts, LAMP * np.exp(-load)))
    return [(255 * light.clip(0, 1)).round().astype(np.uint8)]


def _carried(facts: Facts, grid: Grid) -> Grid:
    """How the belt runs: too slowly for the machine, and all is wider."""
    rng = rng_of(facts, "belt")
    wide = rng.uniform(0.97, 1.03)
    if "stretched" in facts.cues:
        wide = wide * rng_of(facts, "stretched").uniform(1.26, 1.34)
    return Grid(grid.x / wide, grid.y)


def _detected(facts: Facts, light: Light) -> Light:
    """What a line of detectors makes of the rays."""
    light = gaussian_filter(light, (0.4, 0.4, 0))
    if "afterglow" in facts.cues:
        lost = lfilter([1 - LAG], [1, -LAG], LAMP - light, axis=1)
        light = light - rng_of(facts, "afterglow").uniform(0.6, 0.75) * lost
    if "modules" in facts.cues:
        light = light * _modules(facts)
    noisy = 0.03 if facts.is_hard else 0.018
    rough = rng_of(facts, "noise").standard_normal(light.shape, np.float32)
    light = light + noisy * rough
    if "few rays" in facts.cues:
        rng = rng_of(facts, "few rays")
        dark = 1 - (light @ GREY)[:, :, None]
        rough = rng.standard_normal((SIDE, SIDE, 1), np.float32)
        light = light + rng.uniform(0.2, 0.26) * dark * rough
    return light


def _modules(facts: Facts) -> np.ndarray:
    """Detectors are built of parts, each a little brighter or darker than the next."""
    rng = rng_of(facts, "modules")
    first = rng.choice((-1, 1))
    gains = 1 + first * rng.uniform(0.035, 0.055) * (-1) ** np.arange(BANDS + 1)
    rows = (np.arange(SIDE) + rng.integers(SIDE // BANDS)) * BANDS // SIDE
    return np.asarray(gains[rows.clip(0, BANDS)], np.float32)[:, None, None]


def _shown(facts: Facts, light: Light) -> Light:
    """What a screen or a file makes of the picture."""
    grey = (light @ GREY)[:, :, None]
    if "grey" in facts.cues:
        much = rng_of(facts, "grey").uniform(0.82, 0.92)
        light = light + much * (grey - light)
    if "coarse colours" in facts.cues:
        light = grey + _coarse(facts, light - grey)
    return light


def _coarse(facts: Facts, colours: Light) -> Light:
    """Means of squares, which do not begin at the same place."""
    down, across = rng_of(facts, "coarse colours").integers(COARSE, size=2)
    beside = ((down, SPARE - down), (across, SPARE - across), (0, 0))
    padded = np.pad(colours, beside, "edge")
    count = (SIDE + SPARE) // COARSE
    squares = padded.reshape(count, COARSE, count, COARSE, 3).mean(axis=(1, 3))
    wide = squares.repeat(COARSE, axis=0).repeat(COARSE, axis=1)
    return wide[down : down + SIDE, across : across + SIDE]
