"""What somebody on a pier sees of the shore across still water, in two frames.

A real cut-out stands on the shore before a real photo, and the water mirrors both, darker and
rippled. Between the frames ripples move on, and the cut-out sways.
"""

from dataclasses import dataclass

import numpy as np
from drawn_pictures import COL, ROW, Cover, Picture, cut_outs, over, random_photo, sized
from jaxtyping import Float
from PIL import Image, ImageOps
from scipy.ndimage import gaussian_filter, map_coordinates
from worlds.stamps.compositing import SIDE

FRAMES = 2
LABELS = {
    "bird": ("bird",),
    "cattle": ("cow", "horse"),
    "fish": ("fish",),
    "insect": ("insect",),
}
NAMES = tuple(LABELS)
BANK = 0.6 * SIDE  # row where water begins
SHARE = (0.48, 0.58)  # of the picture's side, that a cut-out takes
FOCUS = 1.5  # pixels by which the photo is blurred
FORESHORTENED = 1.25  # rows of the shore in a row of water


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are in pixels."""

    photo: Picture
    thing: Image.Image
    col: float  # of the thing's middle
    turns: Float[np.ndarray, " frame"]  # degrees
    water: Float[np.ndarray, " channel"]
    murk: float  # of the mirrored, that is the water's own colour
    ripple: float  # rows from one ripple to the next
    phases: Float[np.ndarray, " frame"]  # radians
    mist: float  # before the shore


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A shore with a cut-out of this label."""
    mine = cut_outs(LABELS[name])
    thing = mine[rng.integers(len(mine))]
    thing = ImageOps.mirror(thing) if rng.random() < 0.5 else thing
    return Scene(
        photo=gaussian_filter(random_photo(rng), (FOCUS, FOCUS, 0)),
        thing=sized(thing, rng.uniform(*SHARE)),
        col=SIDE * rng.uniform(0.32, 0.68),
        turns=rng.normal(0, 4) + rng.normal(0, 3, FRAMES),
        water=rng.uniform(0.15, 0.4)
        * (np.array([0.7, 1, 1.1]) + rng.normal(0, 0.1, 3)),
        murk=rng.uniform(0.35, 0.6),
        ripple=rng.uniform(4, 8),
        phases=rng.uniform(0, 2 * np.pi) + np.array([0, rng.uniform(1, 3)]),
        mist=rng.uniform(0.05, 0.25),
    )


def water_cover() -> Cover:
    """Where water is."""
    return np.clip(ROW - BANK + 0.8 * np.sin(COL / 7), 0, 1)


def shore(scene: Scene, frame: int) -> Picture:
    """What stands above the water."""
    picture = Image.fromarray((255 * scene.photo).astype(np.uint8))
    turned = scene.thing.rotate(scene.turns[frame], Image.Resampling.BICUBIC, True)
    place = round(scene.col - turned.width / 2), round(BANK + 2 - turned.height)
    picture.paste(turned, place, turned)
    shown = np.asarray(picture, np.float32) / 255
    return over(shown, np.full((SIDE, SIDE), scene.mist), np.full(3, 0.8))


def mirror(picture: Picture, scene: Scene, frame: int) -> Picture:
    """A picture upside down from the bank on, in ripples that widen towards the pier."""
    depth = np.clip(ROW - BANK, 0, None)
    wave = np.sin(
        2 * np.pi * depth**0.9 / scene.ripple + scene.phases[frame] + COL / 15
    )
    rows = BANK - FORESHORTENED * depth + wave
    cols = COL + wave * (0.6 + depth / 20)
    channels = [
        map_coordinates(picture[..., channel], [rows, cols], order=1, mode="reflect")
        for channel in range(3)
    ]
    lit = 1 + 0.12 * wave[..., None]
    mirrored = np.stack(channels, axis=-1) * lit
    return np.asarray(mirrored + scene.murk * (scene.water - mirrored))


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    above = shore(scene, frame)
    return over(above, water_cover(), mirror(above, scene, frame))


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a camera."""
    noise = rng.normal(0, 0.015, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
