"""What a radar measures: a storm whose label is what it does, and rain in the wind.

Strengths of echoes are float (frame, row, col), from 0; most end at 1.
"""

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.canvas import Field, Grid
from worlds.design import Facts

LENGTH = 7  # frames
LABELS = ("drifts", "turns", "stretches", "pulses")
WIND = 0.6  # pixels a frame, to the right
ROUND = 48  # columns of rain that goes round
FASTER = 1.7
LITTLE = 0.3  # the most that a storm does of what other labels do


def rng_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a clip has its own, so that no cue moves another part."""
    return generator(facts.seed, "echoes", part)


def moments(facts: Facts) -> np.ndarray:
    """When each frame is, in frames from the middle: float (frame, 1, 1)."""
    along = np.arange(LENGTH, dtype=np.float32) - (LENGTH - 1) / 2
    if "fast" in facts.cues:
        along = along * FASTER
    if "reversed" in facts.cues:
        along = -along
    return along[:, None, None]


def storm(facts: Facts, grid: Grid, when: np.ndarray) -> tuple[Field, Field]:
    """How strong it is, and how near its middle each place is, from 0 to 1.

    Each does a little of what storms of other labels do.
    """
    rng = rng_of(facts, "storm")
    does = dict(zip(LABELS, rng.uniform(0, LITTLE, len(LABELS)), strict=True))
    keen = rng.uniform(0.22, 0.6) if facts.is_hard else rng.uniform(0.34, 0.85)
    does[facts.label] = keen
    way, angle, *phases = rng.uniform(0, 2 * np.pi, 4)
    gone = 1.5 * does["drifts"] * when
    x = rng.uniform(-3, 3) + np.cos(way) * gone
    y = rng.uniform(-3, 3) + np.sin(way) * gone
    angle = angle + rng.choice((-1, 1)) * 0.32 * does["turns"] * when
    apart = 2.6 * does["stretches"] * (1 + np.sin(phases[0] + 0.8 * when))
    swing = 1 + 0.38 * does["pulses"] * np.sin(phases[1] + 1.4 * when)
    strong = rng.uniform(0.8, 1.0) * (0.85 if facts.is_hard else 1.0) * swing
    size, long = rng.uniform(2.3, 3.0), rng.uniform(1.5, 2.0)
    if "large" in facts.cues:
        size = 1.4 * size
    if "south" in facts.cues:
        y = y + 5.5
    own = grid.around(x, y).turned(angle)
    beside = (abs(own.x) - apart) / long
    near = np.exp(-(beside**2 + own.y**2) / (2 * size**2))
    return strong * near, near


def rain(facts: Facts, grid: Grid, when: np.ndarray) -> Field:
    """Wide weak rain, and small showers; what is hard has more of both."""
    rng = rng_of(facts, "rain")
    wind = WIND * rng.uniform(0.7, 1.3)
    rough = rng.standard_normal((len(grid.y), ROUND), np.float32)
    cloth = 7 * gaussian_filter(rough, 2.2, mode="wrap")
    much = 0.2 if facts.is_hard else 0.13
    wide = much * (_carried(cloth, wind * when, grid.x.shape[1]) + 0.3).clip(0, 2)
    return wide + _showers(facts, rng, grid, wind * when)


def _carried(cloth: Field, gone: np.ndarray, wide: int) -> Field:
    """The cloth seen while it goes to the right, float (frame, row, col)."""
    place = np.arange(wide) - gone[:, 0]
    left = np.floor(place).astype(int)
    part = (place - left).astype(np.float32)
    seen = cloth[:, left % ROUND] * (1 - part) + cloth[:, (left + 1) % ROUND] * part
    return seen.transpose(1, 0, 2)


def _showers(
    facts: Facts, rng: np.random.Generator, grid: Grid, gone: np.ndarray
) -> Field:
    count = rng.integers(3, 6) if facts.is_hard else rng.integers(1, 4)
    x, y = rng.uniform(-16, 16, (2, count, 1))
    size = rng.uniform(1.0, 1.9, (count, 1))
    strong = rng.uniform(0.3, 0.65, (count, 1))
    across = (grid.x[0] - x[:, None] - gone[:, 0]) / size[:, None]
    down = (grid.y[:, 0] - y) / size
    high = strong * np.exp(-(down**2) / 2)
    return np.einsum("ntc,nr->trc", np.exp(-(across**2) / 2), high)
