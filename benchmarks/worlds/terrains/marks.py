"""What is drawn on land or on its print: inks that cover a part of each pixel."""

import numpy as np
from scipy.special import expit

from worlds.design import Facts
from worlds.terrains.land import (
    ACROSS,
    DOWN,
    MIDDLE,
    SIDE,
    Field,
    Place,
    View,
    around,
    part_of,
)

Light = np.ndarray  # float32 (row, col, 3), 0 to 1
Ink = tuple[float, float, float]
WATER = (0.16, 0.38, 0.62)
SHORE = (0.08, 0.18, 0.24)
RED = (0.86, 0.12, 0.14)
YELLOW = (1.0, 0.93, 0.25)
BLACK = (0.06, 0.06, 0.08)
WHITE = (0.97, 0.97, 0.95)


def on_ground(facts: Facts, view: View, place: Place, light: Light) -> Light:
    """Water and ways beside the landform."""
    if "tarn" in facts.cues:
        light = _tarn(facts, view, place, light)
    if "road" in facts.cues:
        light = _road(facts, view, place, light)
    return light


def on_print(facts: Facts, view: View, place: Place, light: Light) -> Light:
    """Signs of a map."""
    if "survey" in facts.cues:
        light = _survey(facts, view, place, light)
    if "marker" in facts.cues:
        light = _marker(facts, view, place, light)
    if "arrow" in facts.cues:
        light = _arrow(facts, light)
    if "neatline" in facts.cues:
        light = _neatline(facts, light)
    return light


def inked(light: Light, share: Field, ink: Ink) -> Light:
    """Each pixel covered by an ink as far as its share, 0 to 1."""
    mixed: Light = light + share[:, :, None] * (np.float32(ink) - light)
    return mixed


def _inked(light: Light, share: Field, ink: Ink) -> Light:
    # pictures of this version were drawn with marks that are rounded one by one
    return inked(light, share, ink).astype(np.float32)


def _covered(away: Field) -> Field:
    """The share of a pixel that a shape covers: `away` is the distance outside, in pixels."""
    return (0.5 - away).clip(0, 1)


def _tarn(facts: Facts, view: View, place: Place, light: Light) -> Light:
    rng = part_of(facts, "tarn")
    turn = rng.uniform(0, 2 * np.pi)
    size = rng.uniform(4.5, 6.5)
    away = place.radius + rng.uniform(0.8, 1.2) * size
    below, beside = away * np.sin(turn), away * np.cos(turn)
    # on the other side of the landform where it would lie outside
    row = place.row + below if _is_inside(place.row + below) else place.row - below
    col = place.col + beside if _is_inside(place.col + beside) else place.col - beside
    down, across = view.row - row, view.col - col
    angle = np.arctan2(down, across)
    uneven = 0.8 * np.sin(2 * angle + rng.uniform(0, 6))
    uneven += 0.6 * np.sin(3 * angle + rng.uniform(0, 6))
    outside = np.hypot(down, across) + uneven - size
    light = _inked(light, _covered(outside - 0.8), SHORE)
    return _inked(light, _covered(outside), WATER)


def _is_inside(at: float) -> bool:
    return 4 < at < SIDE - 4


def _road(facts: Facts, view: View, place: Place, light: Light) -> Light:
    """A way past the landform, from one edge to another."""
    rng = part_of(facts, "road")
    turn = rng.uniform(0, 2 * np.pi)
    down, across = view.row - place.row, view.col - place.col
    along = across * np.cos(turn) + down * np.sin(turn)
    aside = down * np.cos(turn) - across * np.sin(turn)
    bend = rng.uniform(0, 0.012) * along**2
    sway = rng.uniform(0.5, 1.5) * np.sin(along / rng.uniform(4, 8))
    far = np.abs(aside - 0.9 * place.radius - rng.uniform(1, 5) - bend - sway)
    wide = rng.uniform(1.0, 1.5)
    light = _inked(light, _covered(far - wide - 1.1), WHITE)
    return _inked(light, _covered(far - wide), RED)


def _survey(facts: Facts, view: View, place: Place, light: Light) -> Light:
    """A broken line in a square round the landform."""
    rng = part_of(facts, "survey")
    upright = Place(place.row, place.col, place.radius, rng.uniform(-0.25, 0.25))
    along, aside = around(upright, view)
    half = place.radius * rng.uniform(1.05, 1.2) + 1
    outside = np.abs(np.maximum(np.abs(along), np.abs(aside)) - half)
    beside = np.where(np.abs(along) > np.abs(aside), aside, along)
    is_dash = (beside + rng.uniform(0, 6)) % 6 < 4
    wide = rng.uniform(0.8, 1.1)
    light = _inked(light, _covered(outside - wide - 0.8) * is_dash, BLACK)
    return _inked(light, _covered(outside - wide) * is_dash, YELLOW)


def _marker(facts: Facts, view: View, place: Place, light: Light) -> Light:
    """A triangle of surveyors on the landform."""
    rng = part_of(facts, "marker")
    row, col = rng.uniform(-0.4, 0.4, 2) * place.radius
    size = rng.uniform(2.6, 3.6)
    down = view.row - place.row - row
    across = np.abs(view.col - place.col - col)
    outside = np.maximum(down - size, 0.87 * across - 0.5 * down - 0.5 * size)
    light = _inked(light, _covered(outside - 0.9), WHITE)
    light = _inked(light, _covered(outside), RED)
    return _inked(light, _covered(np.hypot(down - 0.8, across) - 0.7), WHITE)


def _arrow(facts: Facts, light: Light) -> Light:
    """A needle to the north in the upper right corner."""
    rng = part_of(facts, "arrow")
    row, col = np.array((11, 53)) + rng.uniform(-2, 2, 2)
    size = rng.uniform(6, 8)
    down, across = DOWN - row, ACROSS - col
    light = _inked(light, 0.75 * _covered(np.hypot(down, across) - size - 1), WHITE)
    away = np.abs(across) - 0.22 * (down + size)
    needle = _covered(np.maximum(away, np.abs(down) - size))
    light = _inked(light, needle, BLACK)
    return _inked(light, needle * (across > 0.5) * (away < -0.6), (0.85, 0.30, 0.20))


def _neatline(facts: Facts, light: Light) -> Light:
    """A frame of black and white pieces along all four sides."""
    rng = part_of(facts, "neatline")
    wide = rng.uniform(2, 3.5)
    piece = rng.uniform(6, 10)
    down, across = np.abs(DOWN - MIDDLE), np.abs(ACROSS - MIDDLE)
    inside = SIDE / 2 - np.maximum(down, across)
    along = np.where(down > across, ACROSS, DOWN) + rng.uniform(0, 2 * piece)
    is_black = along % (2 * piece) < piece
    light = _inked(light, _covered(inside - wide - 1), BLACK)
    share = _covered(inside - wide)
    light = _inked(light, share, WHITE)
    return _inked(light, share * is_black, BLACK)


def strata(facts: Facts, heights: Field, view: View, place: Place) -> Field:
    """How much rust each pixel of the landform takes: bands that follow its heights."""
    rng = part_of(facts, "strata")
    along, aside = around(place, view)
    far = np.hypot(along, aside) / place.radius
    layer = heights / view.zoom * rng.uniform(3.0, 4.2) + rng.uniform(0, 6)
    bands = expit(5 * np.sin(layer))
    strength = rng.uniform(0.45, 0.65)
    return strength * bands * expit(14 * (1 - far))


def contours(facts: Facts, heights: Field) -> Field:
    """How much ink each pixel takes of lines of equal height."""
    rng = part_of(facts, "contours")
    apart = rng.uniform(1.5, 2.1)
    level = heights / apart + rng.uniform(0, 1)
    slope = np.hypot(*np.gradient(level)).clip(min=0.05)
    # of the nearest line, in pixels
    far = np.abs(level - np.round(level)) / slope
    return rng.uniform(0.6, 0.85) * _covered(far - 0.35)
