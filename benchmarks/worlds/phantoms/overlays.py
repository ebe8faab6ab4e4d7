"""What an operator or the machine writes over a scan: inks that cover a part of each pixel."""

import numpy as np
from scipy.ndimage import gaussian_filter

from worlds.design import Facts
from worlds.phantoms.body import SIDE, Place, part_of

Light = np.ndarray  # float32 (row, col, 3), 0 to 1
Field = np.ndarray  # float32 (row, col)
Ink = tuple[float, float, float]
DOWN, ACROSS = np.indices((SIDE, SIDE)).astype(np.float32)
TEAL = (0.10, 0.75, 0.70)
YELLOW = (1.0, 0.92, 0.20)
WHITE = (0.92, 0.92, 0.92)
RED = (0.90, 0.22, 0.08)
BLUE = (0.12, 0.35, 0.95)
BLACK = (0.0, 0.0, 0.0)


def overlaid(facts: Facts, place: Place, light: Light) -> Light:
    """The scan under all that is written over it; `place` is the target's on the screen."""
    if "flow" in facts.cues:
        light = _flow(facts, place, light)
    if "calipers" in facts.cues:
        light = _calipers(facts, place, light)
    if "gauge" in facts.cues:
        light = _gauge(facts, light)
    if "caption" in facts.cues:
        light = _caption(facts, light)
    if "marker" in facts.cues:
        light = _marker(facts, light)
    return light


def _inked(light: Light, share: Field, ink: Ink) -> Light:
    """Each pixel covered by an ink as far as its share, 0 to 1."""
    mixed: Light = light + share[:, :, None] * (np.float32(ink) - light)
    return mixed


def _covered(away: Field) -> Field:
    """The share of a pixel that a shape covers: `away` is the distance outside, in pixels."""
    return (0.5 - away).clip(0, 1)


def _flow(facts: Facts, place: Place, light: Light) -> Light:
    """A window beside the target in which what flows is coloured."""
    rng = part_of(facts, "flow")
    half_row, half_col = rng.uniform(7, 10), rng.uniform(7.5, 10)
    side = 1 if place.col < SIDE / 2 else -1
    row = place.row + rng.uniform(-2, 10)
    col = place.col + side * (0.7 * place.radius + half_col)
    lean = rng.uniform(-0.25, 0.25)
    outside = np.maximum(
        np.abs(DOWN - row) - half_row,
        np.abs(ACROSS - col - lean * (DOWN - row)) - half_col,
    )
    speed = gaussian_filter(rng.standard_normal((SIDE, SIDE)), 2.2)
    speed = speed / speed.std() + rng.uniform(-0.5, 0.5)
    inside = _covered(outside + 1)
    for ink, along in ((RED, speed), (BLUE, -speed)):
        light = _inked(light, 0.9 * inside * (2 * along - 0.4).clip(0, 1), ink)
    return _inked(light, 0.8 * _covered(np.abs(outside) - 0.2), WHITE)


def _calipers(facts: Facts, place: Place, light: Light) -> Light:
    """Two crosses at the target's sides, and a broken line between."""
    rng = part_of(facts, "calipers")
    turn = rng.uniform(-0.6, 0.6) + rng.choice((0, np.pi / 2))
    half = place.radius * rng.uniform(0.85, 1.0)
    cos, sin = np.cos(turn), np.sin(turn)
    down, across = DOWN - place.row, ACROSS - place.col
    along, aside = across * cos + down * sin, down * cos - across * sin
    is_dash = (np.abs(along) < half) & (along % 4 < 2.4)
    light = _inked(light, _covered(np.abs(aside) - 0.4) * is_dash, YELLOW)
    arm = rng.uniform(3.0, 3.8)
    beyond = np.abs(along) - half
    narrow = np.minimum(np.abs(beyond), np.abs(aside))
    long = np.maximum(np.abs(beyond), np.abs(aside))
    return _inked(light, _covered(np.maximum(narrow - 0.7, long - arm)), YELLOW)


def _gauge(facts: Facts, light: Light) -> Light:
    """The scale of greys along the right side."""
    rng = part_of(facts, "gauge")
    left, wide = rng.uniform(56, 58), rng.uniform(3.5, 4.5)
    top, bottom = rng.uniform(8, 12), rng.uniform(50, 56)
    outside = np.maximum(
        np.abs(ACROSS - left - wide / 2) - wide / 2,
        np.abs(DOWN - (top + bottom) / 2) - (bottom - top) / 2,
    )
    light = _inked(light, _covered(outside - 1), WHITE)
    greys = ((bottom - DOWN) / (bottom - top)).clip(0, 1)
    share = _covered(outside)[:, :, None]
    scaled: Light = light + share * (greys[:, :, None] - light)
    return scaled


def _caption(facts: Facts, light: Light) -> Light:
    """Two lines of small letters in the lower left corner."""
    rng = part_of(facts, "caption")
    for row in (54, 59):
        right = rng.uniform(20, 34)
        is_letter = (rng.random((SIDE, SIDE)) < 0.62) & (ACROSS % 4 >= 1)
        far = np.maximum(
            np.abs(DOWN - row) - 1.5, np.maximum(2 - ACROSS, ACROSS - right)
        )
        light = _inked(light, 0.85 * _covered(far - 1), BLACK)
        light = _inked(light, _covered(far) * is_letter, WHITE)
    return light


def _marker(facts: Facts, light: Light) -> Light:
    """The sign of the probe's side: a disc with a stroke, in the upper left corner."""
    rng = part_of(facts, "marker")
    row, col = np.array((7, 8)) + rng.uniform(-1.5, 1.5, 2)
    size = rng.uniform(3.6, 4.6)
    down, across = DOWN - row, ACROSS - col
    light = _inked(light, _covered(np.hypot(down, across) - size), TEAL)
    stroke = np.maximum(np.abs(across) - 0.6, np.abs(down) - 0.6 * size)
    return _inked(light, _covered(stroke), BLACK)
