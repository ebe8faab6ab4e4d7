"""Ultrasound scans of phantoms: echoes that interfere to speckle along a fan of lines, in greys."""

from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from worlds.design import Facts
from worlds.phantoms.body import (
    APEX,
    COL,
    DEPTHS,
    FACE,
    LABELS,
    LINES,
    MIDDLE,
    RANGE,
    ROW,
    SETTINGS,
    SIDE,
    STEP,
    WIDEST,
    Body,
    Field,
    Place,
    body_of,
    part_of,
    place_of,
)
from worlds.phantoms.overlays import ACROSS, DOWN, Light, overlaid

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "marker": "a sign at a fixed place",
    "coarse": "coarser grain of all of the picture",
    "calipers": "crosses and a broken line on the object",
    "smooth": "grain that is smoothed away",
    "needle": "a bright line towards the object",
    "amber": "other colours than greys",
    "flow": "a coloured window beside the object",
    "blocks": "compression",
    "band": "a brighter depth",
    "farther": "a farther view",
    "dashes": "dashes along lines all over the picture",
    "aside": "where the object lies",
    "caption": "letters in a corner",
    "gauge": "a scale along one side",
}
AXIAL, LATERAL = 0.75, 1.0  # deviation of a pulse, in depths and in lines
DARKEST = -24.0  # dB that are black
BRIGHTEST = 20.0
TOP = 1.0  # row about which a farther view shrinks
AMBER = ((0.0, 0.0, 0.0), (0.62, 0.30, 0.06), (1.0, 0.86, 0.52))


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    place = place_of(facts)
    levels = _echoes(facts, body_of(facts, place))
    if "needle" in facts.cues:
        levels = np.maximum(levels, _needle(facts, place))
    if "dashes" in facts.cues:
        levels = np.maximum(levels, _dashes(facts))
    zoom = _zoom(facts)
    light = _coloured(facts, _screen(_greys(facts, levels), zoom))
    on_screen = Place(
        TOP + (place.row - TOP) * zoom,
        MIDDLE + (place.col - MIDDLE) * zoom,
        place.radius * zoom,
        place.turn,
    )
    light = overlaid(facts, on_screen, light)
    noise = part_of(facts, "screen").standard_normal((SIDE, SIDE, 1), np.float32)
    pixels = np.clip((light + 0.012 * noise) * 255, 0, 255).astype(np.uint8)
    return [_compressed(facts, pixels) if "blocks" in facts.cues else pixels]


def _zoom(facts: Facts) -> float:
    if "farther" not in facts.cues:
        return 1.0
    return part_of(facts, "farther").uniform(0.66, 0.74)


# -------------------------------------------------------------------------------------- echoes


def _echoes(facts: Facts, body: Body) -> Field:
    """How loud each echo is, in dB: scatterers of random phase within a pulse add up."""
    rng = part_of(facts, "scatterers")
    strength = 10 ** (body.scatters / 20)
    width = (AXIAL, LATERAL)
    if "coarse" in facts.cues:
        wider = part_of(facts, "coarse").uniform(1.8, 2.3)
        width = (wider * AXIAL, wider * LATERAL)
    # a pulse of unit energy
    loudness = np.sqrt(4 * np.pi * width[0] * width[1])
    waves = []
    for _ in range(2):
        scatterers = rng.standard_normal((DEPTHS, LINES), np.float32) * strength
        waves.append(loudness * gaussian_filter(scatterers, width))
    levels = 20 * np.log10(np.hypot(*waves) + 1e-3) - body.lost
    hiss = -18 if facts.is_hard else -26
    # of the machine, which is louder than echoes from deep
    floor = hiss + 8 * (RANGE - FACE) / 60 + rng.normal(0, 3, (DEPTHS, LINES))
    return np.maximum(levels, floor).astype(np.float32)


def _needle(facts: Facts, place: Place) -> Field:
    """A thin rod from one side towards the target, in dB."""
    rng = part_of(facts, "needle")
    side = rng.choice((-1, 1))
    slope = rng.uniform(0.35, 0.7)
    down, across = ROW - place.row, side * (COL - place.col)
    aside = (down + slope * across) / np.hypot(1, slope)
    is_long = across > rng.uniform(0.2, 0.5) * place.radius
    levels = np.full_like(ROW, -99.0)
    # the rod, and its echoes between rod and probe
    for number in range(3):
        far = aside - 3.0 * number
        level = 21 - 7 * number - 8 * (far / 1.1) ** 2
        levels = np.maximum(levels, np.where(is_long, level, -99.0))
    return levels


def _dashes(facts: Facts) -> Field:
    """What another machine sends: pulses along some of the lines, in dB."""
    rng = part_of(facts, "dashes")
    depths = np.arange(DEPTHS)[:, None]
    pitch, long = rng.uniform(9, 14), rng.uniform(3, 5)
    drift = rng.uniform(-1.5, 1.5) * np.arange(LINES)[None, :]
    is_pulse = (depths + drift + rng.uniform(0, pitch)) % pitch < long
    is_hit = rng.random(LINES) < 0.22
    return np.where(is_pulse & is_hit, rng.uniform(10, 14), -99.0)


# -------------------------------------------------------------------------------------- screen


def _greys(facts: Facts, levels: Field) -> Field:
    """From black to white: float (depth, line)."""
    rng = part_of(facts, "settings")
    levels = levels + rng.uniform(-2.5, 2.5)
    if "band" in facts.cues:
        levels = levels + _band(facts)
    if "smooth" in facts.cues:
        much = part_of(facts, "smooth").uniform(1.5, 2.0)
        levels = gaussian_filter(levels, (much / STEP, much))
    greys: Field = ((levels - DARKEST) / (BRIGHTEST - DARKEST)).clip(0, 1)
    return greys


def _band(facts: Facts) -> Field:
    """One slider of gain over depth that is set too high, in dB."""
    rng = part_of(facts, "band")
    middle, wide = rng.uniform(10, 48), rng.uniform(4, 5.5)
    beyond = (RANGE - FACE - middle) / wide
    return rng.uniform(7, 9) * np.exp(-(beyond**4))


def _screen(greys: Field, zoom: float) -> np.ndarray:
    """What each pixel of the screen shows of the fan; black outside: float (row, col)."""
    row = TOP + (DOWN - TOP) / zoom - APEX
    col = (ACROSS - MIDDLE) / zoom
    depth = (np.hypot(row, col) - FACE) / STEP
    line = (np.arctan2(col, row) + WIDEST) / (2 * WIDEST) * (LINES - 1)
    return map_coordinates(greys, (depth, line), order=1, cval=0)


def _coloured(facts: Facts, screen: np.ndarray) -> Light:
    """Greys that are a little blue or yellow, or shades of amber."""
    rng = part_of(facts, "colours")
    tint = 1 + np.array((1, 0, -1)) * rng.uniform(-0.08, 0.08)
    curve = screen ** rng.uniform(0.9, 1.15)
    if "amber" in facts.cues:
        stops = (0, 0.5, 1)
        shades = [np.interp(curve, stops, values) for values in np.transpose(AMBER)]
        return np.stack(shades, axis=-1).astype(np.float32)
    return (0.94 * curve[:, :, None] * tint).astype(np.float32)


def _compressed(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    quality = int(part_of(facts, "blocks").integers(5, 10))
    file = BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.array(Image.open(file))
