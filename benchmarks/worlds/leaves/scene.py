"""What is seen without any cue, and where: a leaf on a sheet of paper, with crumbs about it.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.leaves.outlines import OUTLINES, stem

SIDE = 56
HALF = SIDE / 2
LABELS = tuple(OUTLINES)
LEAST = 0.2  # between how bright paper and leaf are, where that is not hard
DRIED = (  # colours of leaves
    (0.22, 0.40, 0.13),
    (0.45, 0.52, 0.18),
    (0.80, 0.66, 0.18),
    (0.62, 0.20, 0.12),
    (0.42, 0.28, 0.16),
    (0.30, 0.22, 0.28),
    (0.70, 0.55, 0.40),
    (0.16, 0.28, 0.26),
)


@dataclass(frozen=True)
class Leaf:
    """Where it lies; with a `turn` of 0 its tip points upwards."""

    x: float
    y: float
    size: float
    turn: float
    wide: float
    bend: float
    stem: float  # how long it is, in sizes

    def inside(self, grid: Grid) -> tuple[Field, Field]:
        """Along and aside of the leaf, in sizes."""
        own = grid.around(self.x, self.y).turned(self.turn)
        along = -own.y / self.size
        return along, (own.x / self.size + self.bend * along**2) / self.wide


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "leaves", part)


def leaf_of(facts: Facts) -> Leaf:
    """About the middle of the sheet, or high on it."""
    rng = rng_of(facts, "leaf")
    x, y = rng.uniform(-5, 5, 2)
    size = rng.uniform(14, 18)
    if facts.is_hard:
        size *= 0.72
    turn = rng.normal(0, 0.5)
    wide, bend = rng.uniform(0.85, 1.15), rng.uniform(-0.15, 0.15)
    length = rng.uniform(0.2, 0.5)
    if "high" in facts.cues:
        y = -rng_of(facts, "high").uniform(11.5, 13)
    return Leaf(x, y, size, turn, wide, bend, length)


def depth_of(facts: Facts, leaf: Leaf, grid: Grid) -> Field:
    """How deep inside the leaf each pixel is, in pixels; what is hard has holes."""
    along, aside = leaf.inside(grid)
    depth = OUTLINES[facts.label](along, aside)
    rng = rng_of(facts, "holes")
    for _ in range(rng.integers(1, 4) if facts.is_hard else rng.integers(0, 2)):
        far = np.hypot(along - rng.uniform(-0.7, 0.7), aside - rng.uniform(-0.5, 0.5))
        depth = np.minimum(depth, far - rng.uniform(0.05, 0.12))
    return leaf.size * np.maximum(depth, stem(along, aside, leaf.stem))


def colours_of(facts: Facts) -> tuple[Colour, Colour]:
    """Of the paper and the leaf; a leaf that is hard is more like the paper."""
    rng = rng_of(facts, "colours")
    bright = rng.uniform(0.65, 0.97) if rng.random() < 0.8 else rng.uniform(0.2, 0.4)
    paper = _colour(rng, bright, rng.uniform(0.02, 0.2))
    leaf = np.array(DRIED[rng.integers(len(DRIED))]) * rng.uniform(0.75, 1.25)
    leaf = leaf + rng.normal(0, 0.04, 3)
    lacking = LEAST - abs(leaf.mean() - bright)
    if lacking > 0:
        leaf = leaf + np.sign(leaf.mean() - bright) * lacking
    if facts.is_hard:
        leaf = leaf + 0.5 * (paper - leaf)
    return paper, leaf.clip(0.03, 1)


def sheet(facts: Facts, grid: Grid) -> Light:
    """Paper of a kind, and the table where the paper ends."""
    rng = rng_of(facts, "sheet")
    own = grid.around(*rng.uniform(-1.5, 1.5, 2)).turned(rng.normal(0, 0.03))
    tone = PAPERS[facts.setting](rng, own)
    light = (1 + tone)[:, :, None] * colours_of(facts)[0]
    width, height = rng.uniform(26.5, 31, 2)
    outside = np.maximum(abs(own.x) - width, abs(own.y) - height)
    table = _colour(rng, rng.uniform(0.1, 0.55), rng.uniform(0, 0.5))
    shade = 0.25 * (1 - outside / 3).clip(0, 1) * (outside > 0)
    return paint(light, cover_of(outside), (1 - shade)[:, :, None] * table)


def writing(facts: Facts, grid: Grid, light: Light) -> Light:
    """Lines of somebody's hand near the rim of some sheets."""
    rng = rng_of(facts, "writing")
    if rng.random() < 0.5:
        return light
    own = grid.around(rng.uniform(-16, 12), rng.choice((-22, 17)))
    ink = np.array((0.15, 0.13, 0.2)) + rng.uniform(0, 0.25, 3)
    long, fast = rng.uniform(5, 10), rng.uniform(1.6, 2.6)
    for line in range(rng.integers(1, 4)):
        wave = 0.9 * np.sin(fast * own.x + line) * np.cos(0.7 * own.x + 2 * line)
        depth = np.minimum(0.3 - abs(own.y - 3.2 * line - wave), long - abs(own.x))
        light = paint(light, 0.7 * cover_of(depth), ink)
    return light


def crumbs(facts: Facts, grid: Grid, light: Light) -> Light:
    """Seeds, needles and bits of leaf anywhere."""
    rng = rng_of(facts, "crumbs")
    for _ in range(rng.integers(6, 11) if facts.is_hard else rng.integers(1, 6)):
        own = grid.around(*rng.uniform(-HALF, HALF, 2)).turned(rng.uniform(0, np.pi))
        size, flat = rng.uniform(1, 3.4), rng.choice((1.0, 2.0, 5.0))
        far = np.hypot(own.x, flat * own.y)
        colour = np.array(DRIED[rng.integers(len(DRIED))]) * rng.uniform(0.6, 1.3)
        light = paint(light, cover_of(size - far), colour)
    return light


def _colour(rng: np.random.Generator, bright: float, saturation: float) -> Colour:
    """Of any hue, and as bright in the mean of its parts."""
    thirds = rng.uniform(0, 2 * np.pi) + np.array((0, 2, 4)) * np.pi / 3
    return bright * (1 + saturation * np.cos(thirds))


def _clouded(rng: np.random.Generator, own: Grid) -> Field:
    cloud = gaussian_filter(rng.standard_normal(own.x.shape), 4, mode="wrap")
    return 0.6 * _at(cloud, own)


def _laid(rng: np.random.Generator, own: Grid) -> Field:
    return rng.uniform(0.03, 0.06) * np.sin(own.y * rng.uniform(1.7, 2.4))


def _squared(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(6, 10)
    beside = [0.5 * pitch - abs(part % pitch - 0.5 * pitch) for part in (own.x, own.y)]
    return -rng.uniform(0.12, 0.22) * cover_of(0.1 - np.minimum(*beside))


def _flecked(rng: np.random.Generator, own: Grid) -> Field:
    fine = gaussian_filter(rng.standard_normal(own.x.shape), (0.4, 1.1), mode="wrap")
    return _at(0.14 * fine - 0.25 * (fine > 1), own)


def _at(slab: Field, own: Grid) -> Field:
    """What a slab that goes on and on has at each place."""
    rows, cols = np.round(own.y).astype(int), np.round(own.x).astype(int)
    return slab[rows % SIDE, cols % SIDE]


PAPERS: dict[str, Callable[[np.random.Generator, Grid], Field]] = {
    "clouded": _clouded,
    "laid": _laid,
    "squared": _squared,
    "flecked": _flecked,
}
SETTINGS = tuple(PAPERS)
