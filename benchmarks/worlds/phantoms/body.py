"""The body of a phantom: what scatters sound in it, what takes it away, along the lines of a fan.

Lengths are in pixels of the plain view. The lines start on an arc, the face of the probe, whose
middle lies above the picture.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
LABELS = ("cyst", "stone", "tube", "nodule", "wires")
SETTINGS = ("gel", "layers", "marble", "fibres")
MIDDLE = (SIDE - 1) / 2
APEX = -15.0  # row of the middle of the arc
FACE = 17.0  # from there to the probe
STEP = 0.8  # between two depths
DEPTHS = 112
LINES = 68
WIDEST = np.radians(29)  # of a line, from the upright one
RANGE = FACE + STEP * np.arange(DEPTHS)[:, None]
ANGLE = np.linspace(-WIDEST, WIDEST, LINES)[None, :]
ROW = (APEX + RANGE * np.cos(ANGLE)).astype(np.float32)
COL = (MIDDLE + RANGE * np.sin(ANGLE)).astype(np.float32)
Field = np.ndarray  # float32 (depth, line)


@dataclass(frozen=True)
class Place:
    """Where the target lies; a `turn` of 0 lies along the columns."""

    row: float
    col: float
    radius: float
    turn: float


@dataclass(frozen=True)
class Body:
    """How strongly each point scatters, in dB, and what sound has lost on its way there, in dB."""

    scatters: Field
    lost: Field


def part_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "phantom", part)


def place_of(facts: Facts) -> Place:
    """About the middle, or far to the left."""
    rng = part_of(facts, "place")
    row, col = rng.uniform(29, 37), rng.uniform(28, 36)
    radius = rng.uniform(10.5, 13.5)
    if facts.is_hard:
        radius *= 0.85
    if "aside" in facts.cues:
        col -= part_of(facts, "aside").uniform(9, 12)
    return Place(row, col, radius, rng.normal(0, 0.35))


def body_of(facts: Facts, place: Place) -> Body:
    """The ground and the target in it."""
    down, across = ROW - place.row, COL - place.col
    cos, sin = np.cos(place.turn), np.sin(place.turn)
    x = (across * cos + down * sin) / place.radius
    y = (down * cos - across * sin) / place.radius
    rng = part_of(facts, "target")
    angle = np.arctan2(y, x)
    uneven = np.ones_like(x)
    for waves in (2, 3, 5):
        uneven += rng.normal(0, 0.04) * np.sin(waves * angle + rng.uniform(0, 6))
    target, taken = TARGETS[facts.label](x * uneven, y * uneven, rng)
    strength = rng.uniform(0.85, 1.15)
    if facts.is_hard:
        strength *= 0.42
    ground = GROUNDS[facts.setting](part_of(facts, "ground"))
    lost = strength * STEP * np.cumsum(taken, axis=0)
    return Body(ground + strength * target, lost)


# ------------------------------------------------------------------------------------ targets

Target = tuple[Field, Field]


def _cyst(x: Field, y: Field, rng: np.random.Generator) -> Target:
    """Water in a thin wall, behind which all is brighter; as all targets, about 1 wide.

    What it scatters beyond the ground, in dB, and what it takes of sound, in dB a pixel.
    """
    far = np.hypot(x, y / rng.uniform(0.75, 0.95))
    inside = _smooth(0.85 - far, 0.06)
    wall = np.exp(-(((far - 0.9) / 0.08) ** 2)) * np.abs(y)
    return 10 * wall - 22 * inside, -0.35 * inside


def _stone(x: Field, y: Field, rng: np.random.Generator) -> Target:
    """A bright front that lets nothing pass."""
    front = -np.sqrt((1 - x**2).clip(min=0)) * rng.uniform(0.5, 0.75)
    shell = np.exp(-(((y - front) / 0.14) ** 2)) * _smooth(0.85 - np.abs(x), 0.06)
    inside = _smooth(0.9 - np.abs(x), 0.05) * (np.abs(y - front - 0.25) < 0.25)
    return 17 * shell, 4.0 * inside


def _tube(x: Field, y: Field, rng: np.random.Generator) -> Target:
    """Two bright walls with water between."""
    wide = rng.uniform(0.28, 0.4)
    bent = y - rng.uniform(-0.2, 0.2) * x**2
    long = _smooth(1.25 - np.abs(x), 0.08)
    walls = np.exp(-(((np.abs(bent) - wide) / 0.11) ** 2))
    inside = _smooth(wide - np.abs(bent), 0.05)
    return long * (14 * walls - 18 * inside), np.zeros_like(x)


def _nodule(x: Field, y: Field, rng: np.random.Generator) -> Target:
    """A bright grainy body without a wall."""
    far = np.hypot(x, y / rng.uniform(0.7, 1.0))
    return 11 * _smooth(0.85 - far, 0.10), 0.25 * _smooth(0.85 - far, 0.10)


def _wires(x: Field, y: Field, rng: np.random.Generator) -> Target:
    """Points in rows, as wires are that run through the picture."""
    apart = rng.uniform(0.58, 0.7)
    aside, below = (values - apart * np.rint(values / apart) for values in (x, y))
    points = np.exp(-((np.hypot(aside, below) / 0.15) ** 2))
    is_near = (np.abs(x) < 1.3 * apart) & (np.abs(y) < 1.3 * apart)
    return 28 * points * is_near, np.zeros_like(x)


TARGETS: dict[str, Callable[[Field, Field, np.random.Generator], Target]] = {
    "cyst": _cyst,
    "stone": _stone,
    "tube": _tube,
    "nodule": _nodule,
    "wires": _wires,
}


def _smooth(inside: Field, soft: float) -> Field:
    """From 0 outside to 1 inside, across twice `soft`."""
    share: Field = (0.5 + inside / (2 * soft)).clip(0, 1)
    return share


# ------------------------------------------------------------------------------------- ground


def _gel(rng: np.random.Generator) -> Field:
    """The same everywhere."""
    return np.full_like(ROW, rng.uniform(-2, 2))


def _layers(rng: np.random.Generator) -> Field:
    """Sheets that lie aslant."""
    slope = rng.uniform(-0.3, 0.3)
    phase = (ROW + slope * COL) / rng.uniform(2.2, 3.6) + rng.uniform(0, 6)
    sheets: Field = 4 * np.sin(phase + 0.8 * np.sin(COL / 9 + rng.uniform(0, 6)))
    return sheets


def _marble(rng: np.random.Generator) -> Field:
    """Clouds."""
    noise = gaussian_filter(rng.standard_normal(ROW.shape), (6, 5))
    return (4 * noise / noise.std()).astype(np.float32)


def _fibres(rng: np.random.Generator) -> Field:
    """Short bright threads that run one way."""
    turn = rng.uniform(0.3, 0.9) * rng.choice((-1, 1))
    along = COL * np.cos(turn) + ROW * np.sin(turn)
    aside = ROW * np.cos(turn) - COL * np.sin(turn)
    threads = np.sin(aside / 0.9 + 2 * np.sin(along / 7 + rng.uniform(0, 6)))
    cut = np.sin(along / 3.5 + 2 * np.sin(aside / 4 + rng.uniform(0, 6)))
    bright: Field = 7 * (threads.clip(min=0) * cut.clip(min=0)) - 1.5
    return bright


GROUNDS: dict[str, Callable[[np.random.Generator], Field]] = {
    "gel": _gel,
    "layers": _layers,
    "marble": _marble,
    "fibres": _fibres,
}
