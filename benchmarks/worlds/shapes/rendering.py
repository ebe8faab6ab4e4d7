"""Plain shapes before a wall and a floor, and what changes the whole picture."""

import numpy as np
from scipy.ndimage import gaussian_filter, uniform_filter

from worlds.canvas import Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.shapes import marks
from worlds.shapes.scene import (
    LABELS,
    SETTINGS,
    SIDE,
    background,
    colours_of,
    confetti,
    cover_of_shape,
    rng_of,
    shape_of,
)

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "eyes": "on the object",
    "unfocused": "blur",
    "digit": "a sign beside the object",
    "slope": "a gradient of light",
    "spark": "a thing in any corner",
    "green": "a cast of colour",
    "checks": "a pattern on the object",
    "big": "a nearer view",
    "sprockets": "a strip along one side",
    "sunk": "where the object is",
    "shadow": "a shadow of the object",
    "mosaic": "blocks",
    "string": "a line below the object",
    "tipped": "a turn of the whole picture",
    "pennant": "a thing on top of the object",
    "grain": "fine noise",
    "orbit": "a line round the object",
    "garish": "strong contrast and colour",
    "border": "a frame along all four sides",
    "polka": "a pattern of the background",
    "hole": "a hole in the object",
}
BLOCK = 3  # pixels a side


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    straight = Grid.whole(SIDE)
    light = _scene(facts, _view(facts, straight))
    light = marks.at_edges(facts, straight, light)
    if "unfocused" in facts.cues:
        much = rng_of(facts, "unfocused").uniform(1.1, 1.4)
        light = gaussian_filter(light, (much, much, 0))
    pixels = _toned(facts, light)
    noisy = 0.04 if facts.is_hard else 0.025
    pixels = pixels + noisy * rng_of(facts, "noise").standard_normal(pixels.shape)
    if "mosaic" in facts.cues:
        pixels = _mosaic(facts, pixels)
    return [(255 * pixels.clip(0, 1)).round().astype(np.uint8)]


def _view(facts: Facts, straight: Grid) -> Grid:
    """What place of the scene is seen at each pixel."""
    turn, zoom = 0.0, 1.0
    if "tipped" in facts.cues:
        rng = rng_of(facts, "tipped")
        turn = rng.choice((-1, 1)) * rng.uniform(0.2, 0.28)
    if "big" in facts.cues:
        zoom = rng_of(facts, "big").uniform(1.35, 1.45)
    return straight.turned(turn, zoom)


def _scene(facts: Facts, grid: Grid) -> Light:
    light = background(facts, grid)
    if "polka" in facts.cues:
        light = _polka(facts, grid, light)
    light = confetti(facts, grid, light)
    shape = shape_of(facts)
    light = marks.behind(facts, shape, grid, light)
    cover = cover_of_shape(facts, shape, grid)
    cover = marks.holed(facts, shape, grid, cover)
    light = paint(light, cover, colours_of(facts)[2])
    return marks.before(facts, shape, grid, cover, light)


def _polka(facts: Facts, grid: Grid, light: Light) -> Light:
    """Pale dots in rows and columns on the wall and the floor."""
    rng = rng_of(facts, "polka")
    pitch = rng.uniform(6, 7)
    x = (grid.x + rng.uniform(0, pitch)) % pitch - pitch / 2
    y = (grid.y + rng.uniform(0, pitch)) % pitch - pitch / 2
    return paint(light, 0.6 * cover_of(1.4 - np.hypot(x, y)), (1, 1, 1))


def _toned(facts: Facts, pixels: Light) -> Light:
    """Brighter, darker or in other colours."""
    if "slope" in facts.cues:
        rng = rng_of(facts, "slope")
        angle = rng.normal(np.pi / 4, 0.3)
        along = np.linspace(-1, 1, SIDE)
        fall = np.cos(angle) * along[None, :] + np.sin(angle) * along[:, None]
        pixels = pixels * (1 - rng.uniform(0.4, 0.5) * fall)[:, :, None]
    if "green" in facts.cues:
        much = rng_of(facts, "green").uniform(0.8, 1.2)
        pixels = pixels * (1 + much * np.array((-0.2, 0.08, -0.24)))
    if "garish" in facts.cues:
        much = rng_of(facts, "garish").uniform(1.7, 2.1)
        pixels = pixels.mean() + much * (pixels - pixels.mean())
    if "grain" in facts.cues:
        rng = rng_of(facts, "grain")
        noise = rng.uniform(0.09, 0.11) * rng.standard_normal((SIDE, SIDE))
        pixels = pixels + (noise - uniform_filter(noise, 3))[:, :, None]
    return pixels


def _mosaic(facts: Facts, pixels: Light) -> Light:
    """Blocks that are nearly of one colour."""
    much = rng_of(facts, "mosaic").uniform(0.6, 0.75)
    many = SIDE // BLOCK
    means = pixels.reshape(many, BLOCK, many, BLOCK, 3).mean(axis=(1, 3))
    blocks = means.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
    return pixels + much * (blocks - pixels)
