"""Heights of land, in pixels: a ground of one of four kinds, and a landform that stands on it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
LABELS = ("volcano", "mesa", "crater", "hogback", "barchan")
SETTINGS = ("hills", "ranges", "dunes", "plains")
DOWN, ACROSS = np.indices((SIDE, SIDE)).astype(np.float32)
WIND = 0.4  # radians, where a crescent opens to
MIDDLE = (SIDE - 1) / 2
Field = np.ndarray  # float32 (row, col)


@dataclass(frozen=True)
class View:
    """What each pixel shows: its row and column on the ground, in pixels without zoom."""

    row: Field
    col: Field
    zoom: float


@dataclass(frozen=True)
class Place:
    """Where a landform stands, in pixels of the ground; a `turn` of 0 lies along the columns."""

    row: float
    col: float
    radius: float
    turn: float


def part_of(facts: Facts, part: str) -> np.random.Generator:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "terrain", part)


def view_of(facts: Facts) -> View:
    """All of the ground, or the middle of it nearer."""
    zoom = 1.0
    if "nearer" in facts.cues:
        zoom = part_of(facts, "nearer").uniform(1.35, 1.6)
    row = MIDDLE + (DOWN - MIDDLE) / zoom
    col = MIDDLE + (ACROSS - MIDDLE) / zoom
    return View(row.astype(np.float32), col.astype(np.float32), zoom)


def place_of(facts: Facts) -> Place:
    """About the middle, or towards the upper edge."""
    rng = part_of(facts, "place")
    row, col = rng.uniform(28, 37, 2)
    radius = rng.uniform(12, 15)
    if facts.is_hard:
        radius *= 0.85
    if "north" in facts.cues:
        row -= part_of(facts, "north").uniform(9, 13)
    turn = rng.uniform(0, 2 * np.pi)
    if facts.label == "barchan":
        turn = rng.normal(WIND, 0.5)
    return Place(row, col, radius, turn)


def around(place: Place, view: View) -> tuple[Field, Field]:
    """How far along and aside of a landform each pixel lies, in pixels of the ground."""
    down, across = view.row - place.row, view.col - place.col
    cos, sin = np.cos(place.turn), np.sin(place.turn)
    return across * cos + down * sin, down * cos - across * sin


def heights_of(facts: Facts, view: View, place: Place) -> Field:
    """The ground, flatter where the landform stands, and the landform."""
    along, aside = around(place, view)
    form = _landform(facts, along / place.radius, aside / place.radius)
    far = np.hypot(along, aside) / place.radius
    kept = 1 - 0.7 * expit(8 * (1.05 - far))
    rough = 1.4 if facts.is_hard else 1.0
    tall = part_of(facts, "tall").uniform(0.34, 0.62) * place.radius
    if facts.is_hard:
        tall *= 0.52
    heights = rough * kept * _ground(facts, view) + tall * form
    return (heights * view.zoom).astype(np.float32)


# -------------------------------------------------------------------------------- landforms


def _volcano(x: Field, y: Field, rng: np.random.Generator) -> Field:
    """A cone with a small vent; as all landforms, about 1 high and 1 wide from its middle."""
    far = np.hypot(x, y)
    gullies = 0.06 * np.sin(rng.integers(7, 11) * np.arctan2(y, x)) * far
    cone = (1.05 - far + gullies).clip(min=0) ** 1.4
    vent = np.exp(-((far / rng.uniform(0.14, 0.22)) ** 2))
    return 1.25 * cone - 0.75 * vent


def _mesa(x: Field, y: Field, rng: np.random.Generator) -> Field:
    """A flat top with steep sides."""
    edge = rng.uniform(0.68, 0.82)
    far = np.hypot(x, y)
    top = expit(17 * (edge - far))
    foot = 0.25 * (1.1 - far).clip(0, 0.4)
    return 0.65 * top + foot


def _crater(x: Field, y: Field, rng: np.random.Generator) -> Field:
    """A wall round a bowl."""
    far = np.hypot(x, y)
    wall = 0.7 * np.exp(-(((far - 0.8) / 0.19) ** 2))
    bowl = 0.45 * expit(12 * (0.62 - far))
    peak = rng.uniform(0, 0.5) * np.exp(-((far / 0.16) ** 2))
    return wall - bowl + peak


def _hogback(x: Field, y: Field, rng: np.random.Generator) -> Field:
    """A long crest with one steep side."""
    crest = y - rng.uniform(-0.15, 0.15) * (x**2 - 0.5)
    slope = np.where(crest < 0, 1 + crest / 0.55, 1 - crest / 0.22).clip(min=0)
    taper = expit(9 * (rng.uniform(0.9, 1.05) - np.abs(x)))
    return 0.85 * slope * taper


def _barchan(x: Field, y: Field, rng: np.random.Generator) -> Field:
    """A crescent that is steep inside."""
    back = (1 - np.hypot((x + 0.1) / 0.95, y)).clip(min=0) ** 0.7
    inside = np.hypot((x - 0.62) / 0.8, y / 0.62)
    return 1.05 * back * expit(rng.uniform(9, 13) * (inside - 0.95))


LANDFORMS: dict[str, Callable[[Field, Field, np.random.Generator], Field]] = {
    "volcano": _volcano,
    "mesa": _mesa,
    "crater": _crater,
    "hogback": _hogback,
    "barchan": _barchan,
}


def _landform(facts: Facts, x: Field, y: Field) -> Field:
    """That of the label, with an uneven outline."""
    rng = part_of(facts, "landform")
    angle = np.arctan2(y, x)
    uneven = np.ones_like(x)
    for waves in (2, 3, 5):
        uneven += rng.normal(0, 0.045) * np.sin(waves * angle + rng.uniform(0, 6))
    return LANDFORMS[facts.label](x * uneven, y * uneven, rng)


# ----------------------------------------------------------------------------------- ground


def _ground(facts: Facts, view: View) -> Field:
    rng = part_of(facts, "ground")
    swell = 1.3 * smooth_noise(rng, view, 20)
    fine = 0.30 * smooth_noise(rng, view, 3)
    return swell + GROUNDS[facts.setting](rng, view) + fine


def _hills(rng: np.random.Generator, view: View) -> Field:
    return 1.0 * smooth_noise(rng, view, 9) + 0.5 * smooth_noise(rng, view, 5)


def _ranges(rng: np.random.Generator, view: View) -> Field:
    """Sharp crests, where noise changes its sign."""
    high = 1.7 * (0.5 - np.abs(smooth_noise(rng, view, 12)))
    return high + 1.0 * (0.5 - np.abs(smooth_noise(rng, view, 6)))


def _dunes(rng: np.random.Generator, view: View) -> Field:
    """Waves of sand that are steeper on one side."""
    turn = rng.uniform(0, 2 * np.pi)
    along = view.row * np.sin(turn) + view.col * np.cos(turn)
    phase = along * rng.uniform(0.55, 0.85) + 1.2 * smooth_noise(rng, view, 12)
    return 0.8 * np.sin(phase + 0.5 * np.sin(phase))


def _plains(rng: np.random.Generator, view: View) -> Field:
    """Flat land that rivers cut."""
    valley = np.exp(-((smooth_noise(rng, view, 15) / 0.22) ** 2))
    return 0.3 * smooth_noise(rng, view, 7) - 1.6 * valley


GROUNDS: dict[str, Callable[[np.random.Generator, View], Field]] = {
    "hills": _hills,
    "ranges": _ranges,
    "dunes": _dunes,
    "plains": _plains,
}


def smooth_noise(rng: np.random.Generator, view: View, cell: float) -> Field:
    """Random heights on a grid of `cell` pixels, joined by cubic splines; deviation about 1."""
    down, across = _weights(view.row[:, 0], cell), _weights(view.col[0], cell)
    knots = rng.standard_normal((down.shape[1], across.shape[1]))
    noise: Field = (2 * down @ knots @ across.T).astype(np.float32)
    return noise


def _weights(places: np.ndarray, cell: float) -> np.ndarray:
    """Of each knot at each place, float (place, knot): cubic B-splines."""
    knots = np.arange(-2, SIDE / cell + 3)
    far = np.abs(places[:, None] / cell - knots)
    near = 2 / 3 - far**2 + far**3 / 2
    return np.where(far < 1, near, (2 - far).clip(min=0) ** 3 / 6)
