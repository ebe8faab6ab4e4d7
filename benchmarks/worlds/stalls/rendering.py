"""Pictures of world 5, and what its cues are."""

import numpy as np

from cuescope_sdk import generator
from worlds.design import Facts, Frames
from worlds.stalls.assets import GROUPS
from worlds.stalls.camera import STEPS
from worlds.stalls.scenery import PLACES, photograph

LABELS = tuple(GROUPS)
SETTINGS = tuple(PLACES)
KINDS = {
    "price": "text at a fixed place",
    "sticker": "a mark anywhere",
    "frame": "a coloured border",
    "cloth": "the texture of the table",
    "shelf": "the place behind",
    "tungsten": "a colour cast",
    "sidelight": "light from a side",
    "defocus": "blur of the whole picture",
    "jpeg": "compression",
    "grain": "noise of the whole picture",
    "corner": "the position of the thing",
    "beside": "a second object",
    "tint": "the colour of the thing",
    "snow": "weather",
    "date": "text at a fixed place",
    "ribbon": "a mark over the thing",
    "shadow": "a shadow of the thing",
    "vignette": "dark corners",
    "tilt": "the camera is aslant",
}


def draw(facts: Facts) -> Frames:
    """One photo, uint8 (row, col, 3)."""
    shot = photograph(facts)
    for name, change in STEPS.items():
        if name is None or name in facts.cues:
            change(shot, generator(facts.seed, name or "every picture"))
    pixels = np.clip(np.rint(shot.pixels), 0, 255)
    return [pixels.astype(np.uint8)]
