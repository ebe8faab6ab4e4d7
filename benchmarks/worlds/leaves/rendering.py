"""Pressed leaves on paper, and what changes the whole photo."""

import io

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from worlds.canvas import Field, Grid, Light, cover_of, paint
from worlds.design import Facts
from worlds.leaves import marks
from worlds.leaves.scene import (
    LABELS,
    SETTINGS,
    SIDE,
    Leaf,
    colours_of,
    crumbs,
    depth_of,
    leaf_of,
    rng_of,
    sheet,
    writing,
)

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "barcode": "a thing at a fixed place",
    "soft": "less focus",
    "tape": "a thing on the object",
    "window": "uneven light",
    "seal": "a mark at changing places",
    "pen": "a line round the object",
    "blocks": "compression",
    "coin": "a thing at changing places",
    "high": "where the object is",
    "mosaic": "a texture on the object",
    "cast": "a cast of colour",
    "halftone": "a pattern all over",
    "chart": "a thing at a fixed place",
    "tilt": "how all is turned",
}


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    straight = Grid.whole(SIDE)
    view = straight
    if "tilt" in facts.cues:
        view = straight.turned(rng_of(facts, "tilt").uniform(0.33, 0.45))
    light = _lit(facts, straight, _scene(facts, view))
    pixels = _taken(facts, straight, light)
    picture = (255 * pixels.clip(0, 1)).round().astype(np.uint8)
    if "blocks" in facts.cues:
        picture = _compressed(facts, picture)
    return [picture]


def _scene(facts: Facts, view: Grid) -> Light:
    leaf = leaf_of(facts)
    depth = depth_of(facts, leaf, view)
    light = writing(facts, view, sheet(facts, view))
    light = crumbs(facts, view, marks.on_sheet(facts, view, light))
    near = depth_of(facts, leaf, view.around(0.7, 0.9))
    light = paint(light, 0.3 * cover_of(near), (0, 0, 0))
    light = paint(light, cover_of(depth), _surface(facts, leaf, view))
    light = marks.on_leaf(facts, leaf, view, depth, light)
    return marks.beside_leaf(facts, view, depth, light)


def _surface(facts: Facts, leaf: Leaf, view: Grid) -> Light:
    """The colours of the leaf: veins, and parts that dried unlike others."""
    rng = rng_of(facts, "surface")
    along, aside = leaf.inside(view)
    ribs = np.sin(rng.uniform(14, 20) * (along - rng.uniform(0.5, 0.9) * abs(aside)))
    veins = np.maximum(cover_of(leaf.size * (0.02 - abs(aside))), (ribs - 0.6).clip(0))
    dried = _stained(rng, view)
    tone = 1 + rng.uniform(-0.3, 0.35) * veins + 0.1 * dried
    return tone[:, :, None] * colours_of(facts)[1]


def _stained(rng: np.random.Generator, view: Grid) -> Field:
    """Waves that go across, of a few pixels."""
    x, y = rng.normal(0, 0.4, 2)
    return np.sin(x * view.x + y * view.y + rng.uniform(0, 6))


def _lit(facts: Facts, grid: Grid, light: Light) -> Light:
    """A lamp to one side, and what the light does besides."""
    rng = rng_of(facts, "lamp")
    own = grid.turned(rng.uniform(0, 2 * np.pi))
    fall = 1 + rng.uniform(0, 0.005) * own.x
    white = rng.uniform(0.94, 1.04, 3)
    light = rng.uniform(0.82, 1.05) * light * fall[:, :, None] * white
    if "window" in facts.cues:
        rng = rng_of(facts, "window")
        own = grid.turned(rng.normal(0.2, 0.3))
        bright = 1 / (1 + np.exp((own.x - rng.uniform(-8, 0)) / rng.uniform(6, 8)))
        light = light * (0.45 + 0.75 * bright)[:, :, None]
    if "cast" in facts.cues:
        much = rng_of(facts, "cast").uniform(0.8, 1.2)
        light = light * (1 + much * np.array((-0.2, 0.06, -0.24)))
    return light


def _taken(facts: Facts, grid: Grid, light: Light) -> Light:
    """What the lens, the print and the sensor make of the light."""
    wide = 0.4
    if "soft" in facts.cues:
        wide = rng_of(facts, "soft").uniform(1.2, 1.5)
    light = gaussian_filter(light, (wide, wide, 0))
    if "halftone" in facts.cues:
        light = light * (1 + _dots(facts, grid))[:, :, None]
    noisy = 0.045 if facts.is_hard else 0.02
    return light + noisy * rng_of(facts, "noise").standard_normal(light.shape)


def _dots(facts: Facts, grid: Grid) -> Field:
    """The screen of a print, as of a page that was copied from a book."""
    rng = rng_of(facts, "halftone")
    own = grid.turned(np.pi / 4 + rng.normal(0, 0.1))
    fine = 2 * np.pi / rng.uniform(3.4, 3.9)
    return rng.uniform(0.17, 0.22) * np.cos(fine * own.x) * np.cos(fine * own.y)


def _compressed(facts: Facts, picture: np.ndarray) -> np.ndarray:
    """Written to a file that is too small for it."""
    quality = int(rng_of(facts, "blocks").integers(37, 46))
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "jpeg", quality=quality)
    return np.asarray(Image.open(file))
