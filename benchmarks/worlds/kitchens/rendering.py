"""Utensils on a worktop from above, and what changes the whole photo."""

import numpy as np
from scipy.ndimage import convolve, gaussian_filter

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.kitchens import marks
from worlds.kitchens.scene import (
    LABELS,
    SETTINGS,
    SIDE,
    Utensil,
    colours_of,
    depth_of,
    food,
    rng_of,
    utensil_of,
    worktop,
)
from worlds.kitchens.utensils import NECK

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "date": "a sign at a fixed place",
    "shake": "blur in one direction",
    "sticker": "a thing on the object",
    "flash": "a bright middle and dark edges",
    "tea ring": "a stain at changing places",
    "box": "lines round the object",
    "close": "a nearer view",
    "finger": "a thing in a corner",
    "moire": "coloured bands all over",
    "onlooker": "a shadow at changing places",
    "rust": "a texture on the object",
    "tungsten": "a cast of colour",
    "flare": "spots of light at changing places",
    "aside": "where the object is",
    "posterised": "few tones",
    "cut out": "a rim of the object",
}
TONES = 5


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    straight = Grid.whole(SIDE)
    view = straight
    if "close" in facts.cues:
        view = straight.nearer(rng_of(facts, "close").uniform(1.27, 1.35))
    utensil = utensil_of(facts)
    depth = depth_of(facts, utensil, view)
    light = _scene(facts, utensil, view, depth)
    light = marks.before_all(facts, straight, light)
    light = _lit(facts, straight, light)
    if "shake" in facts.cues:
        light = _shaken(facts, light)
    pixels = _taken(facts, straight, light)
    pixels = marks.printed(facts, pixels)
    pixels = marks.round_utensil(facts, depth, pixels)
    return [(255 * pixels.clip(0, 1)).round().astype(np.uint8)]


def _scene(facts: Facts, utensil: Utensil, view: Grid, depth: Field) -> Light:
    light = food(facts, view, worktop(facts, view))
    light = marks.on_worktop(facts, view, light)
    angle = rng_of(facts, "shadow").uniform(0, 2 * np.pi)
    lit = view.around(1.6 * np.cos(angle), 1.6 * np.sin(angle))
    shadow = (depth_of(facts, utensil, lit) / 2 + 0.7).clip(0, 1)
    light = paint(light, 0.38 * shadow, (0, 0, 0))
    light = paint(light, cover_of(depth), _surface(facts, utensil, view, depth))
    return marks.on_utensil(facts, utensil, view, depth, light)


def _surface(facts: Facts, utensil: Utensil, view: Grid, depth: Field) -> Light:
    """The colours of the utensil: darker at its outline, with a streak that shines."""
    rng = rng_of(facts, "surface")
    own = utensil.inside(view)
    _, head, grip = colours_of(facts)
    colour = np.where((own.x < NECK)[:, :, None], grip, head)
    streak = np.exp(-(((own.y - rng.uniform(-3, 3)) / rng.uniform(1, 2)) ** 2))
    tone = 0.85 + 0.1 * depth.clip(0, 2) + rng.uniform(0, 0.2) * streak
    return colour * tone[:, :, None]


def _lit(facts: Facts, grid: Grid, light: Light) -> Light:
    """A lamp to one side, and what shines besides."""
    rng = rng_of(facts, "lamp")
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    fall = 1 + rng.uniform(0, 0.006) * own.x
    white = rng.uniform(0.94, 1.04, 3)
    light = rng.uniform(0.85, 1.08) * light * fall[:, :, None] * white
    if "flash" in facts.cues:
        rng = rng_of(facts, "flash")
        own = grid.around(*rng.uniform(-6, 6, 2))
        hot = np.exp(-((np.hypot(own.x, own.y) / rng.uniform(21, 25)) ** 2))
        light = light * (0.35 + 0.95 * hot)[:, :, None]
    if "tungsten" in facts.cues:
        much = rng_of(facts, "tungsten").uniform(0.8, 1.2)
        light = light * (1 + much * np.array((0.1, -0.12, -0.4)))
    return light


def _shaken(facts: Facts, light: Light) -> Light:
    """As of a camera that moved while it took the picture."""
    rng = rng_of(facts, "shake")
    near = np.arange(-4, 5, dtype=np.float32)
    line = Grid(*np.meshgrid(near, near)).turned(rng.normal(0.5, 0.35))
    along = cover_of(rng.uniform(2.4, 3.0) - abs(line.x))
    kernel = along * (1 - abs(line.y)).clip(0, 1)
    kernel = kernel / kernel.sum()
    shaken = [
        convolve(part, kernel, mode="nearest") for part in np.moveaxis(light, 2, 0)
    ]
    return np.stack(shaken, axis=2)


def _taken(facts: Facts, grid: Grid, light: Light) -> Light:
    """What the sensor and the file make of the light."""
    light = gaussian_filter(light, (0.35, 0.35, 0))
    if "moire" in facts.cues:
        light = light * (1 + _bands(facts, grid))
    noisy = 0.045 if facts.is_hard else 0.022
    light = light + noisy * rng_of(facts, "noise").standard_normal(light.shape)
    if "posterised" in facts.cues:
        few = (TONES * light.clip(0, 0.999)).astype(int) / (TONES - 1)
        light = light + 0.8 * (few - light)
    return light


def _bands(facts: Facts, grid: Grid) -> Light:
    """Curved bands, of which each colour has its own."""
    rng = rng_of(facts, "moire")
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    bend = 0.012 * rng.choice((-1, 1)) * own.y**2
    phase = (own.x + bend) * rng.uniform(0.8, 1.1)
    shift = np.array((0, 2, 4)) * np.pi / 3
    return rng.uniform(0.11, 0.15) * np.sin(phase[:, :, None] + shift)
