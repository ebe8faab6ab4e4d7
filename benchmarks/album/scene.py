"""What a hand-held camera takes in three frames: a real cut-out before a real photo.

The camera comes a little nearer and trembles; light and colours differ from clip to clip.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageOps
from worlds.stamps.compositing import SIDE, assets

FRAMES = 3
LABELS = {
    "bird": ("bird",),
    "grazer": ("cow", "horse"),
    "fruit": ("fruit",),
    "vehicle": ("car", "ship", "airplane"),
}
NAMES = tuple(LABELS)
LARGE = 2 * SIDE  # of a photo and of a cut-out at most
SHARE = (0.36, 0.56)  # of the frame's side, that a cut-out takes
OPAQUE = 0.85  # of a cut-out

Picture = Float[np.ndarray, "row col channel"]  # from 0 to 1


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are shares of the frame's side."""

    photo: Image.Image
    stamp: Image.Image
    share: float
    place: tuple[float, float]
    corners: np.ndarray  # (frame, axis) of the photo's part, in its pixels
    zooms: np.ndarray  # (frame,)
    light: np.ndarray  # times every channel


@cache
def stamps(kinds: tuple[str, ...]) -> tuple[Image.Image, ...]:
    """Cut-outs with their masks."""
    opened = []
    for kind in kinds:
        for file in sorted((assets() / "stamps" / kind).glob("*.png")):
            stamp = Image.open(file).convert("RGBA")
            stamp = stamp.crop(stamp.getchannel("A").getbbox())
            stamp.thumbnail((LARGE, LARGE))
            opened.append(stamp)
    return tuple(opened)


@cache
def photos() -> tuple[Image.Image, ...]:
    """Photos of meadows, water, skies and woods, and of many things."""
    files = sorted((assets() / "backgrounds").glob("*.jpg"))
    opened = [Image.open(file).convert("RGB") for file in files]
    return tuple(ImageOps.fit(photo, (LARGE, LARGE)) for photo in opened)


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A cut-out of this label."""
    mine = stamps(LABELS[name])
    stamp = mine[rng.integers(len(mine))]
    photo = photos()[rng.integers(len(photos()))]
    corner = rng.uniform(10, SIDE - 30, 2)
    return Scene(
        photo=ImageOps.mirror(photo) if rng.random() < 0.5 else photo,
        stamp=ImageOps.mirror(stamp) if rng.random() < 0.5 else stamp,
        share=rng.uniform(*SHARE),
        place=tuple(rng.uniform(0.2, 0.8, 2)),
        corners=corner + rng.normal(0, 2, (FRAMES, 2)),
        zooms=1 + 0.1 * np.arange(FRAMES) + rng.normal(0, 0.02, FRAMES),
        light=rng.uniform(0.75, 1.1) * (1 + rng.normal(0, 0.06, 3)),
    )


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    zoom = scene.zooms[frame]
    left, top = scene.corners[frame]
    side = 1.15 * SIDE / zoom
    box = (left, top, left + side, top + side)
    size = (SIDE, SIDE)
    picture = scene.photo.resize(size, Image.Resampling.BICUBIC, box)
    factor = scene.share * zoom * SIDE / max(scene.stamp.size)
    width, height = (max(round(factor * length), 1) for length in scene.stamp.size)
    stamp = scene.stamp.resize((width, height), Image.Resampling.LANCZOS)
    faint = stamp.getchannel("A").point(lambda alpha: round(OPAQUE * alpha))
    col, row = scene.place
    corner = (round(col * (SIDE - width)), round(row * (SIDE - height)))
    picture.paste(stamp, corner, faint)
    return np.asarray(np.asarray(picture, np.float32) / 255 * scene.light)


def photograph(picture: Picture) -> np.ndarray:
    """(row, col, channel) as bytes."""
    return np.asarray(np.clip(255 * picture, 0, 255).astype(np.uint8))
