"""What is behind and round the dial: a panel of an old machine, with what runs over it.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.design import Facts

BLACK = (0.05, 0.05, 0.06)
SCREWS = ((-26, -26), (26, -26), (-26, 26), (26, 26))
ASIDE = (37, 42)  # how far the middles of neighbours are


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "dials", part)


def any_colour(rng: np.random.Generator, bright: float, vivid: float) -> Colour:
    """Of any hue, and as bright in the mean of its parts."""
    hue = rng.uniform(0, 2 * np.pi) + 2 * np.pi / 3 * np.arange(3)
    return (bright * (1 + vivid * np.cos(hue))).astype(np.float32)


def plate(facts: Facts, grid: Grid) -> Light:
    """The sheet or board itself."""
    rng = rng_of(facts, "plate")
    own = grid.around(*rng.uniform(-6, 6, 2)).turned(rng.normal(0, 0.04))
    colour = any_colour(rng, rng.uniform(0.25, 0.7), rng.uniform(0.03, 0.4))
    tone = 1 + PANELS[facts.setting](rng, own)
    return tone.astype(np.float32)[:, :, None] * colour


def fittings(facts: Facts, grid: Grid, light: Light) -> Light:
    """Screws, pipes and cables, and neighbours that are partly in the picture."""
    light = _screws(facts, grid, light)
    rng = rng_of(facts, "fittings")
    for _ in range(rng.integers(1, 3) if facts.is_hard else rng.integers(0, 2)):
        light = _neighbour(rng, grid, light)
    for _ in range(rng.integers(0, 3)):
        light = _pipe(rng, grid, light)
    if rng.random() < 0.5:
        light = _cable(rng, grid, light)
    return light


def _screws(facts: Facts, grid: Grid, light: Light) -> Light:
    rng = rng_of(facts, "screws")
    tone = rng.uniform(0.35, 0.8)
    for x, y in SCREWS:
        if rng.random() < 0.25:
            continue
        own = grid.around(x, y).around(*rng.normal(0, 1, 2))
        own = own.turned(rng.uniform(0, np.pi))
        head = 2.0 - np.hypot(own.x, own.y)
        light = paint(light, 0.5 * cover_of(head + 0.8), BLACK)
        light = paint(light, cover_of(head), 3 * (tone,))
        light = paint(light, 0.8 * cover_of(head) * (abs(own.y) < 0.5), BLACK)
    return light


def _neighbour(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """Another dial, whose hand is not in the picture."""
    turn = rng.integers(4) * np.pi / 2 + rng.normal(0, 0.25)
    far = rng.uniform(*ASIDE)
    own = grid.around(far * np.cos(turn), far * np.sin(turn))
    middle = np.hypot(own.x, own.y)
    radius = rng.uniform(11, 15)
    rim, face = rng.uniform(0.1, 0.8), rng.choice((0.12, 0.85))
    light = paint(light, 0.4 * cover_of(radius + 1 - middle), BLACK)
    light = paint(light, cover_of(radius - middle), 3 * (rim,))
    light = paint(light, cover_of(radius - 2.5 - middle), 3 * (face,))
    spokes = np.cos(rng.integers(16, 30) * np.arctan2(own.y, own.x)) > 0.6
    ticks = spokes * cover_of(1 - abs(middle - radius + 4.5))
    return paint(light, 0.8 * ticks, 3 * (1 - face,))


def _pipe(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """Along an edge, upright or level, shaded as a cylinder."""
    own = grid.turned(rng.choice((0, np.pi / 2)) + rng.normal(0, 0.03))
    half = rng.uniform(1.3, 2.8)
    part = (own.y - rng.choice((-1, 1)) * rng.uniform(22, 30)) / half
    cover = cover_of(half * (1 - abs(part)))
    light = paint(light, 0.4 * cover_of(half * (1 - abs(part - 0.5))), BLACK)
    tone = 0.45 + 0.6 * np.sqrt((1 - (part + 0.3) ** 2).clip(0, 1))
    colour = any_colour(rng, rng.uniform(0.3, 0.75), rng.uniform(0, 0.5))
    return paint(light, cover, tone[:, :, None] * colour)


def _cable(rng: np.random.Generator, grid: Grid, light: Light) -> Light:
    """A thin one that sags."""
    own = grid.turned(rng.choice((0, np.pi / 2)))
    wave = np.sin(own.x / rng.uniform(8, 14) + rng.uniform(0, 6))
    beside = own.y - rng.choice((-1, 1)) * rng.uniform(20, 29)
    beside = abs(beside - rng.uniform(1, 3) * wave)
    half = rng.uniform(0.7, 1.2)
    colour = any_colour(rng, rng.uniform(0.1, 0.5), rng.uniform(0.2, 0.8))
    light = paint(light, 0.4 * cover_of(half + 0.8 - beside), BLACK)
    return paint(light, cover_of(half - beside), colour)


def _noise(rng: np.random.Generator, own: Grid, wide: tuple, much: float) -> Field:
    rough = rng.standard_normal(own.x.shape).astype(np.float32)
    return much * gaussian_filter(rough, wide)


def _enamelled(rng: np.random.Generator, own: Grid) -> Field:
    return _noise(rng, own, (3.0, 3.0), 0.8)


def _riveted(rng: np.random.Generator, own: Grid) -> Field:
    pitch = rng.uniform(20, 26)
    x, y = (own.x + 0.5 * pitch) % 5 - 2.5, (own.y + 0.5 * pitch) % pitch
    beside = abs(y - 0.5 * pitch)
    rivets = cover_of(1.2 - np.hypot(x, beside - 2.6))
    seam = cover_of(0.4 - beside)
    return _noise(rng, own, (1.5, 1.5), 0.3) + 0.25 * rivets - 0.5 * seam


def _brushed(rng: np.random.Generator, own: Grid) -> Field:
    return _noise(rng, own, (0.5, 7.0), 0.45)


def _wooden(rng: np.random.Generator, own: Grid) -> Field:
    rings = own.y + 2.5 * np.sin(own.x / rng.uniform(12, 20) + rng.uniform(0, 6))
    grain = np.sin(2 * np.pi * rings / rng.uniform(4.5, 7))
    return 0.1 * grain + _noise(rng, own, (0.6, 3.0), 0.3)


PANELS: dict[str, Callable[[np.random.Generator, Grid], Field]] = {
    "enamelled": _enamelled,
    "riveted": _riveted,
    "brushed": _brushed,
    "wooden": _wooden,
}
SETTINGS = tuple(PANELS)
