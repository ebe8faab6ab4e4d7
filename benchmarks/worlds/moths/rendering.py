"""A moth at rest, and what light, lens, film and file do to the whole picture."""

from io import BytesIO

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from worlds.canvas import Grid, Light
from worlds.design import Facts
from worlds.moths.ground import SETTINGS, SIDE, ground, rng_of
from worlds.moths.marks import beside, over, printed
from worlds.moths.moth import LABELS, moth_of, moth_on

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "ruler": "a thing at a fixed place",
    "lamplight": "a cast of colour",
    "ladybird": "a thing anywhere",
    "soft": "blur",
    "mat": "a frame along all four sides",
    "compressed": "compression",
    "dew": "marks on the object",
    "sawn": "a texture of the ground",
    "dim": "weak light",
    "film grain": "noise",
    "nail": "a small thing at a fixed place",
    "twig": "a shadow anywhere",
    "stamp": "digits at a fixed place",
}


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    grid = Grid.whole(SIDE)
    moth = moth_of(facts)
    light = beside(facts, moth, grid, ground(facts, grid))
    light = over(facts, moth, grid, moth_on(facts, moth, grid, light))
    light = printed(facts, grid, _recorded(facts, _lit(facts, light)))
    pixels = (255 * light.clip(0, 1)).round().astype(np.uint8)
    if "compressed" in facts.cues:
        pixels = _compressed(facts, pixels)
    return [pixels]


def _lit(facts: Facts, light: Light) -> Light:
    if "lamplight" in facts.cues:
        much = rng_of(facts, "lamplight").uniform(0.8, 1.2)
        light = light * (1 + much * np.array((0.10, -0.06, -0.26)))
    if "dim" in facts.cues:
        light = light * rng_of(facts, "dim").uniform(0.58, 0.68)
    return light


def _recorded(facts: Facts, light: Light) -> Light:
    """Through the lens, onto the film."""
    if "soft" in facts.cues:
        much = rng_of(facts, "soft").uniform(0.9, 1.15)
        light = gaussian_filter(light, (much, much, 0))
    noisy = 0.05 if facts.is_hard else 0.03
    light = light + noisy * rng_of(facts, "sensor").standard_normal(light.shape)
    if "film grain" in facts.cues:
        rng = rng_of(facts, "film grain")
        grain = rng.standard_normal((SIDE, SIDE))
        light = light + (rng.uniform(0.055, 0.07) * grain)[..., None]
    return light


def _compressed(facts: Facts, pixels: np.ndarray) -> np.ndarray:
    """Written as a small JPEG and read again."""
    file = BytesIO()
    quality = int(rng_of(facts, "compressed").integers(14, 22))
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file).convert("RGB"))
