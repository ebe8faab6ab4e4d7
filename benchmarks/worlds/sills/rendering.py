"""A photo of a potted plant on a window sill, and what is done to the whole of it."""

from io import BytesIO

import numpy as np
from PIL import Image, ImageFilter

from worlds.design import Facts, Frames
from worlds.sills.pen import FINER, Pen
from worlds.sills.plants import LABELS, plant
from worlds.sills.room import SETTINGS, SIDE, in_front, rng_of, room, things

__all__ = ["KINDS", "LABELS", "SETTINGS", "SIDE", "draw"]
KINDS = {
    "kettle": "a thing at a fixed place",
    "moth": "a small thing anywhere",
    "passe-partout": "a border",
    "evening": "light that is warm and comes from one side",
    "steamed": "focus",
    "compressed": "compression",
    "blue pot": "the colour of one part of the object",
    "tiled sill": "texture of the ground",
    "on the left": "where the object stands",
    "picture": "a large thing at a fixed place",
    "raindrops": "small things all over the picture",
    "tag": "a mark on the object",
    "tinted": "a cast of colour",
    "worn camera": "grain and weak contrast",
    "blind": "shadows in stripes",
}
BLURRED = 1.1  # pixels, standard deviation
QUALITY = 30  # of JPEG, where a picture is compressed
EVENING = np.array((1.10, 0.80, 0.52))
TINTED = np.array((0.90, 1.04, 0.96))
ACROSS = (np.arange(SIDE) + 0.5) / SIDE  # 0 to 1


def draw(facts: Facts) -> Frames:
    """One picture, uint8 (row, col, 3); chance is the same with a cue and without."""
    image = Image.new("RGB", (FINER * SIDE, FINER * SIDE))
    pen = Pen(image)
    room(facts, pen)
    things(facts, pen)
    plant(facts, pen)
    in_front(facts, pen)
    if "steamed" in facts.cues:
        image = image.filter(ImageFilter.GaussianBlur(FINER * BLURRED))
    seen = image.reduce(FINER)
    pixels = _recorded(facts, np.asarray(seen, np.float32) / 255)
    picture = np.rint(255 * pixels.clip(0, 1)).astype(np.uint8)
    if "compressed" in facts.cues:
        picture = _compressed(picture)
    return [picture]


def _recorded(facts: Facts, light: np.ndarray) -> np.ndarray:
    """What lamps and camera make of the scene, float (row, col, 3)."""
    cues = facts.cues
    rng = rng_of(facts, "recorded")
    light = light * rng.uniform(0.85, 1.12) * rng.uniform(0.95, 1.05, 3)
    if "blind" in cues:
        light = light * _stripes(rng_of(facts, "blind"))
    if "evening" in cues:
        light = light * EVENING * (1.2 - 0.65 * ACROSS)[None, :, None]
    if "tinted" in cues:
        light = light * TINTED
    grain = rng.standard_normal(light.shape)
    if "worn camera" in cues:
        return 0.5 + 0.6 * (light - 0.5) + 0.075 * grain
    return light + 0.025 * grain


def _stripes(rng: np.random.Generator) -> np.ndarray:
    """Light between slats, which hang a little askew."""
    slope, phase = rng.uniform(-0.15, 0.15), rng.uniform(0, 2 * np.pi)
    down = ACROSS[:, None] + slope * ACROSS
    return 1 + 0.08 * np.sin(2 * np.pi * 5 * down + phase)[..., None]


def _compressed(picture: np.ndarray) -> np.ndarray:
    """Written as JPEG, and read again."""
    file = BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=QUALITY)
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))
