"""Garden beds from above: plants in a pattern, as polygons on soil of coloured noise."""

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
FINE = 3  # drawn larger by this, then averaged: edges are smooth
LABELS = ("rows", "rings", "spiral", "corners", "pairs")
SETTINGS = ("loam", "sand", "peat", "chalk")
KINDS = {
    "hose": "a line anywhere",
    "stake": "a mark at a fixed place",
    "edging": "a frame along all four sides",
    "bucket": "a thing anywhere",
    "netting": "a fine grid over all of the picture",
    "fence": "shadows of bars over all of the picture",
    "haze": "weak contrast",
    "evening": "a cast of colour",
    "vignette": "dark corners",
    "shaken": "blur in one direction",
    "leftward": "where the bed lies",
    "snow": "grain",
}
SOILS = {
    "loam": (112, 84, 60),
    "sand": (186, 160, 118),
    "peat": (70, 56, 50),
    "chalk": (168, 162, 150),
}
Points = list[tuple[float, float]]


def _rows(count: int) -> Points:
    heights = (-0.7, 0.0, 0.7)
    return [(x, y) for y in heights for x in np.linspace(-0.8, 0.8, count)]


def _rings(count: int) -> Points:
    made = []
    for radius, many in ((0.85, 2 * count), (0.4, count)):
        turns = np.arange(many) * 2 * np.pi / many
        made += [(radius * np.cos(turn), radius * np.sin(turn)) for turn in turns]
    return made


def _spiral(count: int) -> Points:
    turns = np.linspace(0.8, 4.2 * np.pi, 3 * count)
    far = turns / turns.max() * 0.92
    return list(zip(far * np.cos(turns), far * np.sin(turns), strict=True))


def _corners(count: int) -> Points:
    del count  # of each size a block of four
    steps = (0.5, 0.9)
    signs = (-1, 1)
    return [(a * x, b * y) for a in signs for b in signs for x in steps for y in steps]


def _pairs(count: int) -> Points:
    del count  # three pairs, each across the diagonal
    made = []
    for along in (-0.65, 0.0, 0.65):
        made += [(along - 0.22, along + 0.22), (along + 0.22, along - 0.22)]
    return made


PATTERNS: dict[str, Callable[[int], Points]] = {
    "rows": _rows,
    "rings": _rings,
    "spiral": _spiral,
    "corners": _corners,
    "pairs": _pairs,
}


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    rng = generator(facts.seed, "garden")
    soil = _soil(facts, rng)
    large = Image.fromarray(soil).resize(
        (SIDE * FINE, SIDE * FINE), Image.Resampling.BICUBIC
    )
    pen = ImageDraw.Draw(large)
    _plants(facts, rng, pen)
    _things(facts, rng, pen)
    small = large.resize((SIDE, SIDE), Image.Resampling.BOX)
    return [_camera(facts, rng, np.asarray(small, float))]


def _soil(facts: Facts, rng: np.random.Generator) -> np.ndarray:
    """Noise whose power falls with the pitch (1/f), about one colour."""
    across = np.fft.rfftfreq(SIDE)[None]
    down = np.fft.fftfreq(SIDE)[:, None]
    pitch = np.hypot(across, down)
    pitch[0, 0] = np.inf
    white = np.fft.rfft2(rng.normal(size=(SIDE, SIDE)))
    clods = np.fft.irfft2(white / pitch**0.9, s=(SIDE, SIDE))
    clods = 13 * clods / clods.std()
    colour = np.array(SOILS[facts.setting]) * rng.uniform(0.85, 1.15)
    return np.clip(colour + clods[..., None], 0, 255).astype(np.uint8)


def _plants(facts: Facts, rng: np.random.Generator, pen: ImageDraw.ImageDraw) -> None:
    half = SIDE * FINE / 2
    reach = half * rng.uniform(0.55, 0.68)
    middle = half + half * rng.uniform(-0.12, 0.12, 2)
    turn = rng.normal(0, 0.25 if facts.is_hard else 0.08)
    count = int(rng.integers(4, 7))
    size = half * rng.uniform(0.085, 0.12)
    green = np.array([60, 150, 50]) + rng.normal(0, 18, 3)
    wander = rng.normal(size=(40, 2))
    lost = rng.random(40)
    leaves = rng.uniform(0.75, 1.25, (40, 7))
    if facts.is_hard:
        size *= 0.7
        green = 0.35 * green + 0.65 * np.array(SOILS[facts.setting])
    if "leftward" in facts.cues:
        middle = middle - [half * 0.30, 0]
    for number, (x, y) in enumerate(PATTERNS[facts.label](count)):
        if facts.is_hard and lost[number] < 0.3:
            continue
        along = x * np.cos(turn) - y * np.sin(turn)
        down = x * np.sin(turn) + y * np.cos(turn)
        place = middle + reach * np.array([along, down]) + 0.05 * reach * wander[number]
        angles = np.arange(7) * 2 * np.pi / 7
        far = size * leaves[number]
        shape = [
            (place[0] + r * np.cos(a), place[1] + r * np.sin(a))
            for r, a in zip(far, angles, strict=True)
        ]
        pen.polygon(shape, fill=tuple(np.clip(green, 0, 255).astype(int).tolist()))


def _things(facts: Facts, rng: np.random.Generator, pen: ImageDraw.ImageDraw) -> None:
    # every draw is made whether it is shown or not: pictures with and without are one scene
    whole = SIDE * FINE
    start = rng.uniform(0.1, 0.9, 4) * whole
    tub = rng.uniform(0.12, 0.88, 2) * whole
    plank = int(whole * rng.uniform(0.05, 0.07))
    offset = rng.uniform(0, 4)
    if "edging" in facts.cues:
        pen.rectangle((0, 0, whole - 1, whole - 1), outline=(150, 62, 40), width=plank)
    if "hose" in facts.cues:
        bend = (whole - start[0], start[1])
        pen.line([(start[2], 0), bend, (start[3], whole)], fill=(230, 190, 30), width=6)
    if "bucket" in facts.cues:
        x, y = tub
        pen.ellipse((x - 19, y - 19, x + 19, y + 19), fill=(70, 90, 190))
        pen.ellipse((x - 13, y - 13, x + 13, y + 13), fill=(30, 35, 70))
    if "stake" in facts.cues:
        pen.rectangle((12, 150, 48, 174), fill=(240, 236, 220))
        pen.line([(18, 158), (42, 158)], fill=(40, 40, 40), width=3)
        pen.line([(18, 166), (34, 166)], fill=(40, 40, 40), width=3)
    if "netting" in facts.cues:
        for step in np.arange(offset, whole, 4.5 * FINE):
            pen.line([(step, 0), (step, whole)], fill=(205, 215, 205), width=2)
            pen.line([(0, step), (whole, step)], fill=(205, 215, 205), width=2)


def _camera(facts: Facts, rng: np.random.Generator, pixels: np.ndarray) -> np.ndarray:
    down, across = np.indices((SIDE, SIDE)) / (SIDE - 1) * 2 - 1
    exposure = rng.uniform(0.88, 1.12)
    phase = rng.uniform(0, 2 * np.pi)
    noise = rng.normal(size=(SIDE, SIDE, 3))
    pixels = pixels * exposure
    if "fence" in facts.cues:
        bars = np.sin(11 * (across + 0.6 * down) + phase) > 0.2
        pixels = pixels * np.where(bars, 0.68, 1.0)[..., None]
    if "vignette" in facts.cues:
        pixels = pixels * (1 - 0.30 * (down**2 + across**2))[..., None]
    if "evening" in facts.cues:
        pixels = pixels * [1.14, 0.97, 0.78]
    if "haze" in facts.cues:
        pixels = 95 + 0.48 * pixels
    if "shaken" in facts.cues:
        moved = [np.roll(pixels, (step, step), axis=(0, 1)) for step in range(-2, 3)]
        pixels = np.mean(moved, axis=0)
    pixels = pixels + (14 if "snow" in facts.cues else 2.5) * noise
    return np.rint(pixels.clip(0, 255)).astype(np.uint8)
