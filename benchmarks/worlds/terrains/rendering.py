"""Relief maps: heights that a sun shades, tinted by height, printed and photographed."""

from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, shift
from scipy.special import expit

from worlds.design import Facts
from worlds.terrains.land import (
    ACROSS,
    DOWN,
    LABELS,
    MIDDLE,
    SETTINGS,
    SIDE,
    Field,
    heights_of,
    part_of,
    place_of,
    smooth_noise,
    view_of,
)
from worlds.terrains.marks import Light, contours, inked, on_ground, on_print, strata

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "arrow": "a thing at a fixed place",
    "strata": "stripes on the object",
    "dawn": "light from another side",
    "tarn": "a thing beside the object",
    "marker": "a mark on the object",
    "nearer": "a nearer view",
    "neatline": "a frame along all four sides",
    "soft": "all of the picture out of focus",
    "road": "a line past the object",
    "ramp": "exchanged colours",
    "contours": "lines over all of the picture",
    "survey": "a broken line round the object",
    "blocks": "compression",
    "offprint": "a colour that is printed beside the others",
    "north": "where the object stands",
    "dusk": "a gradient of light",
}
LEVELS = (-3.0, -1.0, 1.5, 4.0, 8.0)  # heights of the tints, in pixels
TINTS = {
    "hills": ("#4b7a4a", "#7ea05a", "#c2b878", "#b08a5c", "#e8e0d4"),
    "ranges": ("#41605c", "#6c8474", "#9a9a8c", "#b4aaa2", "#f2f2f4"),
    "dunes": ("#a0683c", "#c88c50", "#dcae6c", "#e8c890", "#f4e4c0"),
    "plains": ("#5a8c86", "#98b070", "#d0c878", "#c49c64", "#a87450"),
}
FALSE = ("#1c1a6c", "#60208c", "#b4307c", "#ec7850", "#f8dc60")
RUST = (0.42, 0.16, 0.10)
SEPIA = (0.30, 0.17, 0.10)
CAST = 12  # pixels that a shadow may reach


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    view, place = view_of(facts), place_of(facts)
    heights = heights_of(facts, view, place)
    light = _tint(facts, heights / view.zoom)
    light *= 1 + 0.05 * smooth_noise(part_of(facts, "cover"), view, 4)[:, :, None]
    if "strata" in facts.cues:
        light = inked(light, strata(facts, heights, view, place), RUST)
    light = light * _shading(facts, heights)[:, :, None]
    light = on_ground(facts, view, place, light)
    if "contours" in facts.cues:
        light = inked(light, contours(facts, heights), SEPIA)
    light = on_print(facts, view, place, light)
    light = _printed(facts, light)
    pixels = np.clip(_camera(facts, light) * 255, 0, 255).astype(np.uint8)
    return [_compressed(facts, pixels) if "blocks" in facts.cues else pixels]


# -------------------------------------------------------------------------------- tints


def _tint(facts: Facts, heights: Field) -> Light:
    """Colours of heights."""
    rng = part_of(facts, "tint")
    low = rng.uniform(-0.7, 0.7)
    light = _colours(TINTS[facts.setting], heights + low)
    if "ramp" in facts.cues:
        strength = part_of(facts, "ramp").uniform(0.6, 1)
        light += strength * (_colours(FALSE, heights + low) - light)
    return light


def _colours(ramp: tuple[str, ...], heights: Field) -> Light:
    stops = [[int(tint[at : at + 2], 16) / 255 for at in (1, 3, 5)] for tint in ramp]
    red, green, blue = np.transpose(stops)
    channels = [np.interp(heights, LEVELS, values) for values in (red, green, blue)]
    return np.stack(channels, axis=-1).astype(np.float32)


# --------------------------------------------------------------------------------- light


def _shading(facts: Facts, heights: Field) -> Field:
    """How bright the sun and the sky make each pixel, about 0.3 to 1.3."""
    rng = part_of(facts, "sun")
    # clockwise from the upper edge, where the light comes from
    azimuth = np.radians(315 + rng.uniform(-22, 22))
    if "dawn" in facts.cues:
        azimuth += np.radians(part_of(facts, "dawn").uniform(65, 95))
    elevation = np.radians(rng.uniform(30, 44))
    toward = np.array((-np.cos(azimuth), np.sin(azimuth)))  # rows, columns
    down, across = np.gradient(heights)
    tilt = -(down * toward[0] + across * toward[1])
    upright = np.sqrt(1 + down**2 + across**2)
    facing = (np.sin(elevation) + tilt * np.cos(elevation)) / upright
    lit = facing.clip(min=0) * _unshadowed(heights, toward, np.tan(elevation))
    flat = np.sin(elevation)
    return 0.36 + 0.64 * lit / flat


def _unshadowed(heights: Field, toward: np.ndarray, steep: float) -> Field:
    """The share of sunlight that no height between a pixel and the sun takes."""
    wide = np.pad(heights, CAST, mode="edge")
    above = np.full_like(heights, -1.0)
    for step in range(1, CAST):
        top, left = CAST + np.rint(step * toward).astype(int)
        seen = wide[top : top + SIDE, left : left + SIDE]
        above = np.maximum(above, seen - step * steep - heights)
    return expit(-5 * above)


# --------------------------------------------------------------------------- print and camera


def _printed(facts: Facts, light: Light) -> Light:
    """One ink beside the others."""
    if "offprint" not in facts.cues:
        return light
    rng = part_of(facts, "offprint")
    turn, away = rng.uniform(0, 2 * np.pi), rng.uniform(2.2, 3.6)
    moved = (away * np.sin(turn), away * np.cos(turn))
    red = shift(light[:, :, 0], moved, order=1, mode="nearest")
    return np.stack([red, light[:, :, 1], light[:, :, 2]], axis=-1)


def _camera(facts: Facts, light: Light) -> Light:
    """Focus, exposure and noise: 0 to 1."""
    rng = part_of(facts, "camera")
    if "soft" in facts.cues:
        blur = part_of(facts, "soft").uniform(1.3, 2)
        light = gaussian_filter(light, (blur, blur, 0))
    light = light * rng.uniform(0.85, 1.0) * rng.uniform(0.96, 1.0, 3)
    if "dusk" in facts.cues:
        light = light * _falling(facts)[:, :, None]
    noise = 0.06 if facts.is_hard else rng.uniform(0.015, 0.04)
    return light + noise * rng.standard_normal((SIDE, SIDE, 1), np.float32)


def _falling(facts: Facts) -> Field:
    """Less light towards one side."""
    rng = part_of(facts, "dusk")
    turn = rng.uniform(0, 2 * np.pi)
    along = (DOWN - MIDDLE) * np.sin(turn) + (ACROSS - MIDDLE) * np.cos(turn)
    strength = rng.uniform(0.3, 0.45)
    return 1 - strength * expit(along / 9)


def _compressed(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    quality = int(part_of(facts, "blocks").integers(5, 10))
    file = BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.array(Image.open(file))
