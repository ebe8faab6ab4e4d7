"""What a camera sees of a mobile that hangs in a room, in four frames.

Three real cut-outs hang on threads from a rod that sways. Each turns about its thread: it narrows,
and shows its other side. Two are of the label's kind, and a smaller one is a stranger: it is of the
kind of another label. The room behind them is a real photo, far out of focus.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFilter, ImageOps
from worlds.stamps.compositing import SIDE, assets

FRAMES = 4
LABELS = {
    "hunter": ("dog", "cat", "bear"),
    "swimmer": ("fish",),
    "crawler": ("insect",),
    "blossom": ("flower",),
}
NAMES = tuple(LABELS)
LARGE = 160  # of a cut-out at most, before it is made small
SHARE = (0.36, 0.5)  # of the frame's side, that a cut-out takes
STRANGER = 0.7  # of that, where it is a stranger
NARROWEST = 0.45  # of its breadth, that a cut-out shows
FOCUS = 7  # pixels by which the room is blurred
OPAQUE = 0.85
THREAD = (70, 60, 55)

Picture = Float[np.ndarray, "row col channel"]  # from 0 to 1
Places = Float[np.ndarray, " thing"]


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are shares of the frame's side."""

    room: Image.Image
    things: Sequence[Image.Image]
    shares: Places
    cols: Places
    drops: Places  # how far each hangs below the rod
    turns: Places  # radians, in the first frame
    speeds: Places  # radians a frame
    sway: Float[np.ndarray, "frame end"]  # heights of the rod's two ends
    light: Float[np.ndarray, " channel"]


@cache
def cut_outs(kinds: tuple[str, ...]) -> tuple[Image.Image, ...]:
    """Things of these kinds, with their masks."""
    things = []
    for kind in kinds:
        for file in sorted((assets() / "stamps" / kind).glob("*.png")):
            thing = Image.open(file).convert("RGBA")
            thing = thing.crop(thing.getchannel("A").getbbox())
            thing.thumbnail((LARGE, LARGE))
            things.append(thing)
    return tuple(things)


@cache
def rooms() -> tuple[Image.Image, ...]:
    """Photos of many things, of which colours and lights are left."""
    soft = ImageFilter.GaussianBlur(FOCUS)
    files = sorted((assets() / "photos").glob("*.jpg"))
    photos = [Image.open(file).convert("RGB") for file in files]
    return tuple(ImageOps.fit(photo, (SIDE, SIDE)).filter(soft) for photo in photos)


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A mobile of this label."""
    others = [other for other in NAMES if other != name]
    kinds = [name, name, others[rng.integers(len(others))]]
    things = []
    for kind in kinds:
        mine = cut_outs(LABELS[kind])
        things.append(mine[rng.integers(len(mine))])
    shares = rng.uniform(*SHARE, 3)
    shares[2] *= STRANGER
    room = rooms()[rng.integers(len(rooms()))]
    swing = rng.uniform(0.02, 0.06) * np.sin(
        rng.uniform(0, 2 * np.pi) + np.arange(FRAMES)
    )
    return Scene(
        room=ImageOps.mirror(room) if rng.random() < 0.5 else room,
        things=things,
        shares=shares,
        cols=rng.permutation([0.22, 0.5, 0.78]) + rng.uniform(-0.05, 0.05, 3),
        drops=rng.permutation([0.22, 0.42, 0.62]) + rng.uniform(-0.08, 0.08, 3),
        turns=rng.uniform(0, 2 * np.pi, 3),
        speeds=rng.choice([-1, 1], 3) * rng.uniform(0.15, 0.45, 3),
        sway=0.09 + np.stack([swing, -swing], axis=1),
        light=rng.uniform(0.75, 1.1) * (1 + rng.normal(0, 0.06, 3)),
    )


def turned(thing: Image.Image, share: float, turn: float) -> Image.Image:
    """A flat thing as it is seen at this turn about its thread."""
    seen = np.cos(turn)
    factor = share * SIDE / max(thing.size)
    height = max(round(factor * thing.height), 1)
    breadth = factor * thing.width * max(abs(seen), NARROWEST)
    facing = ImageOps.mirror(thing) if seen < 0 else thing
    size = max(round(breadth), 1), height
    return facing.resize(size, Image.Resampling.LANCZOS)


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    picture = scene.room.copy()
    pen = ImageDraw.Draw(picture)
    left, right = scene.sway[frame]
    heights = left + scene.cols * (right - left)
    pen.line((6, SIDE * left, SIDE - 6, SIDE * right), (120, 85, 50), 2)
    for number, thing in enumerate(scene.things):
        turn = scene.turns[number] + frame * scene.speeds[number]
        flat = turned(thing, scene.shares[number], turn)
        col = SIDE * scene.cols[number]
        top = SIDE * (heights[number] + scene.drops[number] - 0.12)
        pen.line((col, SIDE * heights[number], col, top + flat.height / 2), THREAD)
        faint = flat.getchannel("A").point(lambda alpha: round(OPAQUE * alpha))
        picture.paste(flat, (round(col - flat.width / 2), round(top)), faint)
    return np.asarray(np.asarray(picture, np.float32) / 255 * scene.light)


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a dim room."""
    noise = rng.normal(0, 0.015, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
