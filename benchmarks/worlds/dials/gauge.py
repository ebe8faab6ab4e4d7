"""The dial itself: its case, its face with ticks, and the hand whose kind tells the label."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worlds.canvas import Colour, Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.dials.panel import BLACK, any_colour, rng_of

SWEEP = np.radians(270)  # of the scale, open below
SWINGS = np.radians(80)  # of the hand, to both sides of upright
ROUND = 2  # the power of distances in a circle
SQUARE = 9  # and in a square with round corners
TEETH = 26  # of a knurled rim
RED = (0.85, 0.10, 0.10)


@dataclass(frozen=True)
class Dial:
    """Its middle, how far the face and the rim reach, and where its hand points.

    `power` is that of distances from the middle: its outline. `hand` is how long the hand is, and
    `contrast` how clearly it is seen.
    """

    x: float
    y: float
    face: float
    rim: float
    power: float
    turn: float
    points_at: float
    hand: float
    contrast: float

    def own(self, grid: Grid) -> Grid:
        """Places from its middle, upright as it is."""
        return grid.around(self.x, self.y).turned(self.turn)

    def far(self, grid: Grid) -> Field:
        """How far each place is from its middle, as its outline goes."""
        own = self.own(grid)
        if self.power == ROUND:
            return np.hypot(own.x, own.y)
        sums = abs(own.x) ** self.power + abs(own.y) ** self.power
        return np.asarray(sums ** (1 / self.power))


def dial_of(facts: Facts) -> Dial:
    """About the middle of the picture; the hand of what is hard is shorter and paler."""
    rng = rng_of(facts, "dial")
    x, y = rng.uniform(-4, 4, 2)
    face, rim = rng.uniform(17, 19.5), rng.uniform(1.8, 2.8)
    turn = rng.normal(0, 0.06)
    points_at = -np.pi / 2 + rng.uniform(-1, 1) * SWINGS
    hand = face * rng.uniform(0.7, 0.83)
    contrast = rng.uniform(0.5, 0.95)
    if facts.is_hard:
        hand, contrast = 0.85 * hand, 0.5 * contrast
    power = SQUARE if "square" in facts.cues else ROUND
    if "knurled" in facts.cues:
        rim = 4.0
    return Dial(x, y, face, rim, power, turn, points_at, hand, contrast)


def case(facts: Facts, dial: Dial, grid: Grid, light: Light) -> Light:
    """Its shade on the panel, and its rim."""
    rng = rng_of(facts, "case")
    edge = dial.face + dial.rim
    shade = cover_of((edge + 2 - dial.far(grid.around(1, 1.5))) / 3)
    light = paint(light, 0.55 * shade, BLACK)
    own = dial.own(grid)
    angle = np.arctan2(own.y, own.x)
    tone = 0.85 + 0.35 * np.cos(angle - rng.uniform(-2.6, -1.0))
    if "knurled" in facts.cues:
        teeth = np.cos(TEETH * angle + rng_of(facts, "knurled").uniform(0, 6))
        tone = tone * (1 + 0.75 * np.tanh(3 * teeth))
    colour = any_colour(rng, rng.uniform(0.25, 0.75), rng.choice((0.02, 0.3)))
    cover = cover_of(edge - dial.far(grid))
    return paint(light, cover, tone[:, :, None] * colour)


def face(facts: Facts, dial: Dial, grid: Grid, light: Light) -> Light:
    """Bright or dark, with a scale, which may have a red sector."""
    rng = rng_of(facts, "face")
    ground, ink = colours_of(facts)
    depth = dial.face - dial.far(grid)
    within = cover_of(depth)
    own = dial.own(grid)
    tone = 1 - 0.2 * np.exp(-depth.clip(0) / 1.5) + rng.uniform(-0.01, 0.01) * own.x
    light = paint(light, within, tone[:, :, None] * ground)
    middle = np.hypot(own.x, own.y)
    # from straight down, so that the scale is open there
    angle = np.arctan2(-own.x, own.y) % (2 * np.pi) - np.pi
    if "sector" in facts.cues:
        light = _sector(facts, dial, middle, angle, light)
    on_scale = abs(angle) < SWEEP / 2 + 0.05
    step = SWEEP / rng.choice((8, 10, 12, 16))
    part = (angle + SWEEP / 2) / step
    beside = abs(part - np.round(part)) * step * middle
    long = np.where(np.round(part) % 2 == 0, 1.8, 1.1)
    ticks = np.minimum(0.45 - beside, long - abs(middle - dial.face + 2.6))
    return paint(light, 0.8 * on_scale * cover_of(ticks), ink)


def _sector(
    facts: Facts, dial: Dial, middle: Field, angle: Field, light: Light
) -> Light:
    rng = rng_of(facts, "sector")
    beside = abs(angle - rng.uniform(-1.6, 1.6))
    half = rng.uniform(0.55, 0.8)
    band = 1.6 - abs(middle - dial.face + 1.8)
    return paint(light, cover_of(np.minimum(band, (half - beside) * middle)), RED)


def colours_of(facts: Facts) -> tuple[Colour, Colour]:
    """Of a face, and of what is printed on it."""
    rng = rng_of(facts, "colours")
    bright = any_colour(rng, rng.uniform(0.78, 0.95), rng.uniform(0, 0.12))
    dark = any_colour(rng, rng.uniform(0.06, 0.18), rng.uniform(0, 0.5))
    return (bright, dark) if rng.random() < 0.65 else (dark, bright)


def hand(facts: Facts, dial: Dial, grid: Grid, light: Light) -> Light:
    """The hand, its shade on the face, and the knob that it turns on."""
    ground, ink = colours_of(facts)
    colour = ground + dial.contrast * (ink - ground)
    rng = rng_of(facts, "hand")
    size = dial.face / 17 * rng.uniform(0.82, 1.1)
    shape = HANDS[facts.label]

    def depth(places: Grid) -> Field:
        own = places.around(dial.x, dial.y).turned(dial.points_at)
        return size * shape(own.x / size, abs(own.y) / size, dial.hand / size)

    light = paint(light, 0.25 * cover_of(depth(grid.around(0.7, 1.1))), BLACK)
    light = paint(light, cover_of(depth(grid)), colour)
    own = grid.around(dial.x, dial.y)
    knob = rng.uniform(1.8, 2.4) - np.hypot(own.x, own.y)
    return paint(light, cover_of(knob), any_colour(rng, rng.uniform(0.2, 0.7), 0.2))


def glass(facts: Facts, dial: Dial, grid: Grid, light: Light) -> Light:
    """A soft gleam at one side of the face."""
    rng = rng_of(facts, "glass")
    own = dial.own(grid).turned(rng.uniform(0, 2 * np.pi))
    gleam = np.exp(-(((own.x - 0.75 * dial.face) / 3.0) ** 2))
    cover = rng.uniform(0, 0.35) * gleam * cover_of(dial.face - dial.far(grid))
    return paint(light, cover, (1, 1, 1))


def _needle(along: Field, aside: Field, long: float) -> Field:
    half = 0.3 + 1.2 * (1 - along / long)
    return np.minimum(np.minimum(half - aside, long - along), along + 4)


def _bar(along: Field, aside: Field, long: float) -> Field:
    return np.minimum(np.minimum(1.9 - aside, long - along), along + 4)


def _shaft(along: Field, aside: Field, long: float) -> Field:
    return np.minimum(np.minimum(0.6 - aside, long - along), along + 4)


def _arrow(along: Field, aside: Field, long: float) -> Field:
    back = long - along
    tip = np.minimum(0.62 * back - aside, 6.5 - back)
    return np.maximum(tip, _shaft(along, aside, long - 2))


def _spade(along: Field, aside: Field, long: float) -> Field:
    disc = 3.1 - np.hypot(along - long + 5.8, aside)
    tip = np.minimum(0.5 * (long - along) - aside, along - long + 5)
    return np.maximum(np.maximum(disc, tip), _shaft(along, aside, long - 3))


def _leaf(along: Field, aside: Field, long: float) -> Field:
    half = 3.1 * np.sin(np.pi * (along / long).clip(0, 1))
    return np.minimum(half - aside, long - along)


def _fork(along: Field, aside: Field, long: float) -> Field:
    start = 0.4 * long
    prong = np.minimum(0.8 - abs(aside - 2.7), np.minimum(along - start, long - along))
    across = np.minimum(0.9 - abs(along - start), 3.5 - aside)
    return np.maximum(np.maximum(prong, across), _shaft(along, aside, start))


HANDS: dict[str, Callable[[Field, Field, float], Field]] = {
    "arrow": _arrow,
    "needle": _needle,
    "spade": _spade,
    "fork": _fork,
    "bar": _bar,
    "leaf": _leaf,
}
LABELS = tuple(HANDS)
