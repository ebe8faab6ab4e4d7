"""Photos of the night sky: thousands of points of light on a sensor, with noise of photons."""

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
LABELS = ("spiral", "elliptical", "nebula", "cluster", "comet", "spindle")
SETTINGS = ("desert", "milky way", "town", "twilight")
KINDS = {
    "moon": "a thing at a fixed place",
    "double": "all of the picture seen twice",
    "reticle": "lines that point at the object",
    "aurora": "curtains of light over the upper part",
    "plane": "a row of dots anywhere",
    "seam": "halves of unlike brightness",
    "bleed": "a streak through the object",
    "palette": "exchanged colours",
    "column": "a defect of the sensor at a fixed column",
    "arcs": "stars drawn out to arcs",
    "inset": "a window at a fixed place that shows the object again",
    "solarized": "bright parts that turn dark",
    "letters": "text beside the object",
    "torn": "rows that are shifted",
    "firs": "dark outlines along the bottom",
}
# light of an empty place, red to blue
SKIES = {
    "desert": (0.020, 0.022, 0.030),
    "milky way": (0.030, 0.028, 0.034),
    "town": (0.090, 0.062, 0.036),
    "twilight": (0.030, 0.048, 0.096),
}
# of the middle of an object, and of its outside
TINTS = (
    ((1.0, 0.86, 0.62), (0.62, 0.76, 1.0)),
    ((1.0, 0.92, 0.80), (1.0, 0.70, 0.58)),
    ((0.72, 1.0, 0.92), (1.0, 0.56, 0.60)),
    ((0.84, 0.90, 1.0), (0.90, 0.78, 1.0)),
)
POINTS = 2500  # of light, that an object consists of
EXPOSURE = 26.0
TOP = np.arcsinh(EXPOSURE)
FOLD = 0.74  # of values, 0 to 1, where they turn back
MOON = (9.0, 53.0)  # row, col
COLUMN = 8
INSET = 18  # pixels a side
DIGITS = (
    "111101101101111",
    "010110010010111",
    "111001111100111",
    "111001011001111",
    "101101111001001",
    "111100111001111",
    "111100111101111",
    "111001010010010",
    "111101111101111",
    "111101111001111",
)
DOWN, ACROSS = np.indices((SIDE, SIDE)).astype(np.float32)
Light = np.ndarray  # float32 (row, col) or (row, col, 3)
Cloud = tuple[np.ndarray, np.ndarray, np.ndarray]  # x, y and brightness of points


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    light = _sky(facts) + _stars(facts) + _object(facts)
    _visitors(facts, light)
    light = _ground(facts, light)
    light = _optics(facts, light)
    values = _sensor(facts, light)
    values = _development(facts, values)
    values = _overlay(facts, values)
    return [np.clip(values * 255, 0, 255).astype(np.uint8)]


def _random(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "sky", part)


def _place(facts: Facts) -> tuple[float, float, float]:
    """Row and column of the object, and its size in pixels."""
    rng = _random(facts, "place")
    row, col = rng.uniform(22, 42, 2)
    size = rng.uniform(7.8, 13.2)
    if facts.is_hard:
        size *= 0.72
    return float(row), float(col), float(size)


def _splat(rows: np.ndarray, cols: np.ndarray, flux: np.ndarray) -> Light:
    """Points of light on the pixels, each shared by the four that are next to it."""
    low_row = np.floor(rows).astype(int)
    low_col = np.floor(cols).astype(int)
    right = cols - low_col
    below = rows - low_row
    total = np.zeros(SIDE * SIDE)
    for step_row, of_row in ((0, 1 - below), (1, below)):
        for step_col, of_col in ((0, 1 - right), (1, right)):
            row = low_row + step_row
            col = low_col + step_col
            is_inside = (row >= 0) & (row < SIDE) & (col >= 0) & (col < SIDE)
            pixels = (row * SIDE + col)[is_inside]
            parts = (flux * of_row * of_col)[is_inside]
            total += np.bincount(pixels, parts, SIDE * SIDE)
    return total.reshape(SIDE, SIDE).astype(np.float32)


# ------------------------------------------------------------------------------------ far away


def _sky(facts: Facts) -> Light:
    rng = _random(facts, "sky")
    turn = rng.uniform(0, 2 * np.pi)
    slope = rng.uniform(0, 0.3)
    along = (DOWN * np.sin(turn) + ACROSS * np.cos(turn)) / SIDE
    light = rng.uniform(0.7, 1.3) * (1 + slope * along)
    if facts.setting == "town":
        light = light * (0.5 + DOWN / SIDE)
    if facts.setting == "milky way":
        aside = DOWN * np.cos(turn) - ACROSS * np.sin(turn)
        aside -= (SIDE * np.cos(turn) - SIDE * np.sin(turn)) / 2 + rng.uniform(-18, 18)
        clouds = gaussian_filter(rng.standard_normal((SIDE, SIDE)), 5)
        light = light + 1.6 * np.exp(-((aside / 13) ** 2)) * np.exp(5 * clouds)
    return (light[:, :, None] * np.float32(SKIES[facts.setting])).astype(np.float32)


def _stars(facts: Facts) -> Light:
    """Few bright ones and many weak ones; each is red to blue, as its warmth is."""
    rng = _random(facts, "stars")
    count = int(rng.integers(40, 90))
    if facts.setting == "milky way":
        count *= 2
    rows, cols = rng.uniform(-4, SIDE + 4, (2, count))
    flux = 0.18 * (1 + rng.pareto(1.3, count)).clip(max=25)
    warmth = rng.uniform(-1, 1, count)
    pole_row = rng.uniform(-60, 0)
    pole_col = rng.uniform(0, SIDE)
    if "arcs" in facts.cues:
        turns = np.deg2rad(np.linspace(-3, 3, 17))[:, None]
        far = np.hypot(rows - pole_row, cols - pole_col)
        angle = np.arctan2(rows - pole_row, cols - pole_col) + turns
        rows = (pole_row + far * np.sin(angle)).ravel()
        cols = (pole_col + far * np.cos(angle)).ravel()
        flux = np.tile(flux * 2.5 / len(turns), len(turns))
        warmth = np.tile(warmth, len(turns))
    channels = []
    for redder in (1, 0, -1):
        channel = _splat(rows, cols, flux * (1 + 0.35 * redder * warmth))
        channels.append(gaussian_filter(channel, 0.65))
    return np.stack(channels, axis=-1)


def _spiral(rng: np.random.Generator) -> Cloud:
    far = rng.exponential(0.42, POINTS) % 1.4
    arms = rng.integers(2, 4)
    arm = rng.integers(0, arms, POINTS) * 2 * np.pi / arms
    winding = rng.uniform(2.0, 3.0) * np.log(far + 0.12)
    angle = arm + winding + rng.normal(0, rng.uniform(0.25, 0.4), POINTS)
    return far * np.cos(angle), far * np.sin(angle), np.full(POINTS, 1.0)


def _elliptical(rng: np.random.Generator) -> Cloud:
    far = (0.42 * rng.gamma(0.9, 1.0, POINTS)).clip(max=1.6)
    angle = rng.uniform(0, 2 * np.pi, POINTS)
    return far * np.cos(angle), far * np.sin(angle), np.full(POINTS, 1.0)


def _nebula(rng: np.random.Generator) -> Cloud:
    """A shell with a star in its middle, brighter on one side."""
    angle = rng.uniform(0, 2 * np.pi, POINTS)
    far = rng.normal(0.66, rng.uniform(0.08, 0.19), POINTS)
    bright = 1 + 0.5 * np.cos(angle - rng.uniform(0, 2 * np.pi))
    far[:60] = 0.02
    return far * np.cos(angle), far * np.sin(angle), bright


def _cluster(rng: np.random.Generator) -> Cloud:
    """Stars that can be told apart, closer to each other in the middle."""
    count = int(rng.integers(60, 110))
    far = 0.3 / np.sqrt(rng.uniform(0.06, 1, count) ** (-2 / 3) - 0.97)
    angle = rng.uniform(0, 2 * np.pi, count)
    far = far.clip(max=1.2)
    bright = (1 + rng.pareto(1.5, count)).clip(max=8)
    bright *= POINTS / bright.sum()
    return far * np.cos(angle), far * np.sin(angle), bright


def _comet(rng: np.random.Generator) -> Cloud:
    behind = rng.exponential(0.7, POINTS) % 2.2
    spread = 0.10 + rng.uniform(0.08, 0.25) * behind
    aside = rng.normal(0, 1, POINTS) * spread
    head = POINTS // 3
    behind[:head], aside[:head] = rng.normal(0, 0.13, (2, head))
    return behind - 0.4, aside, np.full(POINTS, 1.0)


def _spindle(rng: np.random.Generator) -> Cloud:
    """A disc seen from its edge, with a lane of dust."""
    along = np.fmod(rng.laplace(0, 0.48, POINTS), 1.4)
    aside = rng.laplace(0, 0.09, POINTS)
    bulge = POINTS // 4
    along[:bulge], aside[:bulge] = rng.normal(0, 0.19, (2, bulge))
    lane = rng.uniform(-0.04, 0.04)
    return along, aside, np.where(np.abs(aside - lane) < 0.05, 0.25, 1.0)


CLOUDS: dict[str, Callable[[np.random.Generator], Cloud]] = {
    "spiral": _spiral,
    "elliptical": _elliptical,
    "nebula": _nebula,
    "cluster": _cluster,
    "comet": _comet,
    "spindle": _spindle,
}


def _object(facts: Facts) -> Light:
    row, col, size = _place(facts)
    rng = _random(facts, "object")
    inner, outer = TINTS[rng.integers(len(TINTS))]
    flux = 0.085 * np.exp(rng.uniform(-1.35, 0))
    if facts.is_hard:
        flux *= 0.24
    slant = rng.uniform(0.42, 1.0)
    turn = rng.uniform(0, 2 * np.pi)
    x, y, bright = CLOUDS[facts.label](rng)
    y = y * slant
    is_inner = np.hypot(x, y) < 0.45
    rows = row + size * (x * np.sin(turn) + y * np.cos(turn))
    cols = col + size * (x * np.cos(turn) - y * np.sin(turn))
    soft = 0.7 if facts.label == "cluster" else 1.0
    light = np.zeros((SIDE, SIDE, 3), np.float32)
    for tint, part in ((inner, is_inner), (outer, ~is_inner)):
        cloud = _splat(rows[part], cols[part], flux * bright[part])
        light += gaussian_filter(cloud, soft)[:, :, None] * np.float32(tint)
    return light


# ---------------------------------------------------------------------------------- on the way


def _visitors(facts: Facts, light: Light) -> None:
    """What comes between the stars and the lens."""
    if "aurora" in facts.cues:
        light += _aurora(facts)
    if "moon" in facts.cues:
        light += _moon(facts)
    if "plane" in facts.cues:
        light += _plane(facts)


def _aurora(facts: Facts) -> Light:
    rng = _random(facts, "aurora")
    wave = rng.uniform(0.06, 0.12)
    phase = rng.uniform(0, 2 * np.pi)
    hem = rng.uniform(20, 30) + 4 * np.sin(wave * ACROSS + phase)
    rays = gaussian_filter(rng.standard_normal(SIDE), 1.5, mode="wrap")
    above = hem - DOWN
    curtain = np.where(above > 0, np.exp(-above / 12), np.exp(above / 1.5))
    curtain = 0.16 * curtain * (1 + 0.9 * rays / np.abs(rays).max())
    return (curtain[:, :, None] * np.float32((0.30, 1.0, 0.52))).astype(np.float32)


def _moon(facts: Facts) -> Light:
    rng = _random(facts, "moon")
    row, col = np.array(MOON) + rng.uniform(-1, 1, 2)
    far = np.hypot(DOWN - row, ACROSS - col)
    bite = np.hypot(DOWN - row + 1.5, ACROSS - col + 3.5)
    crescent = 1 / (1 + np.exp(2 * (far - 5.5))) / (1 + np.exp(-2 * (bite - 5)))
    light = 1.1 * crescent + 0.03 * np.exp(-far / 7)
    return (light[:, :, None] * np.float32((1.0, 0.96, 0.86))).astype(np.float32)


def _plane(facts: Facts) -> Light:
    """Its lamps, which blink while the shutter is open."""
    rng = _random(facts, "plane")
    row, col = rng.uniform(16, 48, 2)
    turn = rng.uniform(0, np.pi)
    step = rng.uniform(4.5, 6)
    light = np.zeros((SIDE, SIDE, 3), np.float32)
    for first, tint in ((0.0, (1.6, 0.25, 0.2)), (0.5, (1.4, 1.4, 1.4))):
        far = step * (np.arange(-16, 16) + first)
        dots = _splat(
            row + far * np.sin(turn),
            col + far * np.cos(turn),
            np.full(len(far), 1.3),
        )
        light += gaussian_filter(dots, 0.6)[:, :, None] * np.float32(tint)
    return light


def _ground(facts: Facts, light: Light) -> Light:
    """Trees in front of the sky."""
    if "firs" not in facts.cues:
        return light
    rng = _random(facts, "firs")
    tops = np.full(SIDE, SIDE - 3.0)
    for _ in range(9):
        middle = rng.uniform(0, SIDE)
        height = rng.uniform(8, 15)
        steep = rng.uniform(2.0, 3.0)
        fir = SIDE - height + steep * np.abs(np.arange(SIDE) - middle)
        tops = np.minimum(tops, fir)
    return np.where((tops > DOWN)[:, :, None], light, 0.002).astype(np.float32)


# -------------------------------------------------------------------------------- in the camera


def _optics(facts: Facts, light: Light) -> Light:
    if "double" in facts.cues:
        rng = _random(facts, "double")
        turn = rng.uniform(0, 2 * np.pi)
        down = round(4 * np.sin(turn))
        across = round(4 * np.cos(turn))
        edges = ((4, 4), (4, 4), (0, 0))
        beside = np.pad(light, edges, mode="edge")
        ghost = beside[4 + down : 4 + down + SIDE, 4 + across : 4 + across + SIDE]
        light = 0.62 * light + 0.38 * ghost
    if "bleed" in facts.cues:
        row, col, size = _place(facts)
        across = ACROSS - round(col)
        reach = np.exp(-np.abs(DOWN - row) / (1.4 * size))
        streak = 1.0 * (across == 0) + 0.25 * (np.abs(across) == 1)
        light = light + (streak * reach)[:, :, None].astype(np.float32)
    if "palette" in facts.cues:
        light = light[:, :, [2, 0, 1]]
    return light


def _sensor(facts: Facts, light: Light) -> Light:
    """Photons counted, and the counts stretched so that weak light is seen: 0 to 1."""
    rng = _random(facts, "sensor")
    gain = rng.uniform(0.014, 0.036)
    if facts.is_hard:
        gain *= 2
    noise = rng.standard_normal(light.shape).astype(np.float32)
    counts = light + noise * np.sqrt(gain * 0.12 * (light + 0.03))
    if "column" in facts.cues:
        counts[:, COLUMN] += 0.12
        counts[:, COLUMN + 1] += 0.03
    if "seam" in facts.cues:
        seam = int(_random(facts, "seam").integers(22, 42))
        counts[:, seam:] *= 1.9
        counts[:, seam:] += 0.02
    return np.arcsinh(EXPOSURE * counts.clip(0, 1.5)) / TOP


def _development(facts: Facts, values: Light) -> Light:
    if "solarized" in facts.cues:
        values = np.minimum(values, 2 * FOLD - values)
    if "torn" in facts.cues:
        rng = _random(facts, "torn")
        values = values.copy()
        row = int(rng.integers(0, 5))
        while row < SIDE:
            high = int(rng.integers(2, 5))
            shift = int(rng.integers(2, 4) * rng.choice((-1, 1)))
            values[row : row + high] = np.roll(values[row : row + high], shift, axis=1)
            row += high + int(rng.integers(4, 9))
    return values


# ----------------------------------------------------------------------------------- by a hand


def _overlay(facts: Facts, values: Light) -> Light:
    """What an astronomer adds to the picture."""
    row, col, size = _place(facts)
    clean = values
    values = values.copy()
    if "reticle" in facts.cues:
        _reticle(values, round(row), round(col), round(size))
    if "letters" in facts.cues:
        rng = _random(facts, "letters")
        right = col + size + 2
        left = right if right < SIDE - 13 else col - size - 13
        _number(values, rng, round(row - 2), max(round(left), 1))
    if "inset" in facts.cues:
        _inset(values, clean, round(row), round(col))
    return values


def _reticle(values: Light, row: int, col: int, size: int) -> None:
    near = size + 1
    far = near + 6
    tint = np.float32((0.95, 0.25, 0.25))
    for sign in (-1, 1):
        first, last = sorted((row + sign * near, row + sign * far))
        values[max(first, 0) : max(last, 0), col] = tint
        first, last = sorted((col + sign * near, col + sign * far))
        values[row, max(first, 0) : max(last, 0)] = tint


def _number(values: Light, rng: np.random.Generator, row: int, col: int) -> None:
    """Of a catalogue: three digits of 3 x 5 pixels."""
    for place, digit in enumerate(rng.integers(0, 10, 3)):
        left = col + 4 * place
        marks = np.array([mark == "1" for mark in DIGITS[digit]]).reshape(5, 3)
        part = values[row : row + 5, left : left + 3]
        part[marks[: part.shape[0], : part.shape[1]]] = (0.35, 0.95, 0.95)


def _inset(values: Light, clean: Light, row: int, col: int) -> None:
    """The object, half as large, in the corner below on the left."""
    half = INSET - 2
    edges = ((half, half), (half, half), (0, 0))
    # of a padded picture, so that its index is that of the first row
    around = np.pad(clean, edges, mode="edge")[
        row : row + 2 * half, col : col + 2 * half
    ]
    smaller = around.reshape(half, 2, half, 2, 3).mean(axis=(1, 3))
    top = SIDE - INSET - 1
    values[top : top + INSET, 1 : 1 + INSET] = (0.85, 0.85, 0.55)
    values[top + 1 : top + INSET - 1, 2:INSET] = smaller
