"""What is seen without any cue, and where: a glass jar on a shelf before a wall, among others.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.jars.contents import GRAINS, heap

SIDE = 64
HALF = SIDE / 2
LABELS = tuple(GRAINS)
LID = 4.5  # how high it is
SHOULDER = 6.0  # how far below the neck the glass is as wide as it gets


@dataclass(frozen=True)
class Jar:
    """Where the middle of its foot stands, and half its width; `full` is a share of its height."""

    x: float
    foot: float
    wide: float
    high: float
    full: float

    @property
    def neck(self) -> float:
        """Where the glass ends and the lid begins."""
        return self.foot - self.high

    @property
    def filled(self) -> float:
        """How far up the contents go."""
        return self.foot - self.full * self.high

    def glass(self, grid: Grid) -> Field:
        """How deep inside the glass each place is."""
        own = grid.around(self.x, 0)
        below = own.y - self.neck
        part = (below / SHOULDER).clip(0, 1)
        half = self.wide * (0.76 + 0.24 * np.sin(np.pi / 2 * part))
        round_foot = (own.y - self.foot + 3).clip(0, 3) ** 2 / 5
        return np.minimum(
            np.minimum(half - round_foot - abs(own.x), below), self.foot - own.y
        )

    def lid(self, grid: Grid) -> Field:
        """How deep inside the lid each place is."""
        own = grid.around(self.x, self.neck - LID / 2)
        return np.minimum(0.8 * self.wide - abs(own.x), LID / 2 - abs(own.y))

    def depth(self, grid: Grid) -> Field:
        """How deep inside the whole jar each place is."""
        return np.maximum(self.glass(grid), self.lid(grid))


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "jars", part)


def jar_of(facts: Facts) -> Jar:
    """About the middle of the shelf; what is hard holds less."""
    rng = rng_of(facts, "jar")
    x, foot = rng.uniform(-7, 7), rng.uniform(19, 22.5)
    wide, high = rng.uniform(14, 17), rng.uniform(36, 40)
    full = rng.uniform(0.5, 0.66) if facts.is_hard else rng.uniform(0.7, 0.88)
    if "squat" in facts.cues:
        wide, high = 1.22 * wide, 0.64 * high
    return Jar(x, foot, wide, high, full)


def wall(facts: Facts, grid: Grid) -> Light:
    """What is behind all."""
    rng = rng_of(facts, "wall")
    own = grid.around(*rng.uniform(-8, 8, 2))
    colour = _colour(rng, rng.uniform(0.3, 0.85), rng.uniform(0.03, 0.35))
    return (1 + WALLS[facts.setting](rng, own))[:, :, None] * colour


def others(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """Tins, boxes and books on the same shelf, at both sides."""
    rng = rng_of(facts, "others")
    for side in (-1, 1):
        place = side * rng.uniform(22, 26)
        for _ in range(rng.integers(1, 4) if facts.is_hard else rng.integers(0, 3)):
            half, high = rng.uniform(2.5, 6), rng.uniform(12, 34)
            own = grid.around(place + side * half, jar.foot - 1 - high / 2)
            light = _box(rng, half, high, own, light)
            place += side * 2 * half
    return light


def _box(
    rng: np.random.Generator, half: float, high: float, own: Grid, light: Light
) -> Light:
    """A thing with a coloured band, flat or round."""
    depth = np.minimum(half - abs(own.x), high / 2 - abs(own.y))
    tone = 1 - rng.uniform(0, 0.5) * (own.x / half) ** 2
    wide = rng.uniform(0.1, 0.25) * high
    band = cover_of(wide - abs(own.y - rng.uniform(-4, 4)))
    colours = [_colour(rng, rng.uniform(0.15, 0.8), 0.7) for _ in range(2)]
    face = paint(tone[:, :, None] * colours[0], 0.8 * band, colours[1])
    return paint(light, cover_of(depth), face)


def shelf(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """A board whose front is seen, with the shade of the jar on it."""
    rng = rng_of(facts, "shelf")
    colour = _colour(rng, rng.uniform(0.2, 0.75), rng.uniform(0.05, 0.5))
    grown = gaussian_filter(rng.standard_normal(grid.x.shape), (0.5, 5))
    tone = 1 + 0.25 * grown
    light = paint(light, cover_of(grid.y - jar.foot + 2), tone[:, :, None] * colour)
    far = np.hypot((grid.x - jar.x - 2) / (1.15 * jar.wide), (grid.y - jar.foot) / 2.5)
    shade = 0.5 * (1.3 - far).clip(0, 1) * (grid.y > jar.foot - 2)
    light = light * (1 - shade)[:, :, None]
    front = cover_of(grid.y - edge_of(jar))
    return paint(light, front, (0.72 * tone)[:, :, None] * colour)


def edge_of(jar: Jar) -> float:
    """Where the front of the board begins."""
    return jar.foot + 2.5


def contents(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """Grains, seen round the curve of the glass."""
    rng = rng_of(facts, "contents")
    depth = np.minimum(jar.glass(grid) - 1.3, grid.y - _surface(rng, jar, grid))
    inside = depth > 0
    across = ((grid.x[inside] - jar.x) / jar.wide).clip(-0.99, 0.99)
    size = rng.uniform(0.92, 1.1)
    around = jar.wide * np.arcsin(across)
    seen = heap(rng, GRAINS[facts.label], size, around, grid.y[inside])
    colours = _colours_of_grains(facts, seen.grain.max() + 1)
    flatter = 0.6 if facts.is_hard else 1.0
    tone = 0.75 + flatter * (seen.tone - 0.75)
    round_it = 0.55 + 0.45 * np.sqrt(1 - across**2)
    light = light.copy()
    light[inside] = colours[seen.grain] * (tone * round_it)[:, None]
    return light


def _surface(rng: np.random.Generator, jar: Jar, grid: Grid) -> Field:
    own = (grid.x - jar.x) / jar.wide
    return jar.filled + rng.normal(0, 1.2) * own + rng.uniform(-1.5, 1.5) * own**2


def _colours_of_grains(facts: Facts, count: int) -> np.ndarray:
    """Of one kind or two, each a bit unlike the others."""
    rng = rng_of(facts, "grains")
    bright = rng.uniform(0.5, 0.95)
    other = bright * rng.uniform(0.6, 1.1)
    kinds = [_colour(rng, tone, rng.uniform(0.1, 0.7)) for tone in (bright, other)]
    share = rng.choice((0, 0, 0, 0.35))
    which = (rng.random(count) < share).astype(int)
    return np.array(kinds)[which] * rng.uniform(0.9, 1.1, (count, 1))


def glass(facts: Facts, jar: Jar, grid: Grid, light: Light) -> Light:
    """What the glass takes and gives back, and the lid."""
    rng = rng_of(facts, "glass")
    depth = jar.glass(grid)
    tint = _colour(rng, rng.uniform(0.75, 0.9), 0.08)
    light = paint(light, 0.14 * cover_of(depth), tint)
    rim = cover_of(depth) * (1 - depth / 1.8).clip(0, 1)
    light = paint(light, 0.7 * rim, rng.uniform(0.35, 1.0) * tint)
    across = (grid.x - jar.x) / jar.wide
    place = rng.choice((-1, 1)) * rng.uniform(0.5, 0.68)
    inside = cover_of(np.minimum(depth - 2, jar.foot - 4 - grid.y))
    near = np.exp(-(((across - place) / 0.07) ** 2))
    opposite = 0.4 * np.exp(-(((across + place) / 0.05) ** 2))
    much = rng.uniform(0.35, 0.7) * inside
    light = paint(light, much * (near + opposite), (1, 1, 1))
    cap = _colour(rng, rng.uniform(0.2, 0.8), rng.uniform(0, 0.6))
    ridges = 0.12 * (np.sin(2.2 * grid.x) > 0)
    tone = 0.65 + 0.4 * np.cos(1.3 * across + 0.4) - ridges
    return paint(light, cover_of(jar.lid(grid)), tone[:, :, None] * cap)


def _colour(rng: np.random.Generator, bright: float, saturation: float) -> Colour:
    """Of any hue, and as bright in the mean of its parts."""
    thirds = rng.uniform(0, 2 * np.pi) + np.array((0, 2, 4)) * np.pi / 3
    return bright * (1 + saturation * np.cos(thirds))


def _plastered(rng: np.random.Generator, own: Grid) -> Field:
    return 0.5 * gaussian_filter(rng.standard_normal(own.x.shape), 2.5)


def _tiled(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(11, 16)
    beside = [0.5 * pitch - abs(part % pitch - 0.5 * pitch) for part in (own.x, own.y)]
    return rng.choice((-0.25, 0.2)) * cover_of(0.3 - np.minimum(*beside))


def _boarded(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(9, 14)
    grown = gaussian_filter(rng.standard_normal(own.x.shape), (6, 0.6))
    return 0.3 * grown - 0.35 * cover_of(0.2 - abs(own.x % pitch - 0.5 * pitch))


def _papered(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(6, 9)
    return rng.uniform(0.06, 0.12) * np.sign(np.sin(2 * np.pi * own.x / pitch))


WALLS: dict[str, Callable[[np.random.Generator, Grid], Field]] = {
    "plastered": _plastered,
    "tiled": _tiled,
    "boarded": _boarded,
    "papered": _papered,
}
SETTINGS = tuple(WALLS)
