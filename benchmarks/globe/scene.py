"""What a camera before a shelf sees of a snow globe, in three frames.

A real cut-out floats over snow before a real photo, and a ball of glass bends both. It was shaken:
flakes sink, and the cut-out rocks. The ball's stand, the wall and the shelf have any colours.
"""

from dataclasses import dataclass

import numpy as np
from drawn_pictures import COL, ROW, Cover, Picture, cut_outs, over, random_photo, sized
from jaxtyping import Float
from PIL import Image, ImageOps
from scipy.ndimage import gaussian_filter, map_coordinates
from worlds.stamps.compositing import SIDE

FRAMES = 3
LABELS = {
    "bird": ("bird",),
    "beast": ("bear", "cat", "cow", "dog", "horse"),
    "petal": ("flower",),
    "wheel": ("airplane", "car", "ship"),
}
NAMES = tuple(LABELS)
MIDDLE = np.array([0.46, 0.5]) * SIDE  # of the ball: row, col
RADIUS = 0.42 * SIDE
SHELF = 0.87 * SIDE  # row of its rear edge
SHARE = (0.5, 0.64)  # of the picture's side, that a cut-out takes
FOCUS = 2.5  # pixels by which the photo is blurred
FLAKES = 45
SNOW = np.array([0.93, 0.95, 1.0])


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are in pixels."""

    photo: Picture
    thing: Image.Image
    place: Float[np.ndarray, " axis"]  # of the thing's middle: row, col
    turns: Float[np.ndarray, " frame"]  # degrees
    snow: float  # row of its top
    flakes: Float[np.ndarray, "frame flake axis"]
    wall: Float[np.ndarray, " channel"]
    wood: Float[np.ndarray, " channel"]
    stand: Float[np.ndarray, " channel"]
    gleam: Float[np.ndarray, " axis"]  # where the glass shines


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A globe with a cut-out of this label."""
    mine = cut_outs(LABELS[name])
    thing = mine[rng.integers(len(mine))]
    thing = ImageOps.mirror(thing) if rng.random() < 0.5 else thing
    sinks = rng.uniform(3, 9, FLAKES) * np.arange(FRAMES)[:, None]
    drifts = rng.normal(0, 2, (FRAMES, FLAKES)).cumsum(axis=0)
    start = rng.uniform(0, SIDE, (FLAKES, 2))
    tone = rng.uniform(0.35, 0.85)
    return Scene(
        photo=gaussian_filter(random_photo(rng), (FOCUS, FOCUS, 0)),
        thing=sized(thing, rng.uniform(*SHARE)),
        place=np.array([0.49, 0.5]) * SIDE + rng.normal(0, 0.03 * SIDE, 2),
        turns=rng.normal(0, 4) + rng.normal(0, 4, FRAMES).cumsum(),
        snow=SIDE * rng.uniform(0.72, 0.76),
        flakes=(start + np.stack([sinks, drifts], axis=2)) % SIDE,
        wall=tone * (1 + rng.normal(0, 0.12, 3)),
        wood=np.array([0.45, 0.3, 0.2]) * rng.uniform(0.5, 1.6),
        stand=rng.uniform(0.08, 0.55, 3),
        gleam=MIDDLE + RADIUS * rng.uniform((-0.7, -0.6), (-0.5, 0.6)),
    )


def inside(scene: Scene, frame: int) -> Picture:
    """What is in the ball, before glass bends it."""
    heap = scene.snow + 0.004 * (COL - MIDDLE[1]) ** 2 + np.sin(COL / 5 + scene.snow)
    ground = over(scene.photo, np.clip(ROW - heap, 0, 1), SNOW)
    picture = Image.fromarray((255 * ground).astype(np.uint8))
    turned = scene.thing.rotate(scene.turns[frame], Image.Resampling.BICUBIC, True)
    row, col = scene.place
    place = round(col - turned.width / 2), round(row - turned.height / 2)
    picture.paste(turned, place, turned)
    snowed = np.asarray(picture, np.float32) / 255
    for row, col in scene.flakes[frame]:
        away = np.hypot(ROW - row, COL - col)
        snowed = over(snowed, 0.9 * np.clip(1.5 - away, 0, 1), SNOW)
    return snowed


def bend(picture: Picture) -> Picture:
    """A picture through a ball of glass: large in the middle, narrow near the rim."""
    row, col = (ROW - MIDDLE[0]) / RADIUS, (COL - MIDDLE[1]) / RADIUS
    factor = RADIUS * (0.8 + 0.3 * (row**2 + col**2))
    places = np.stack([MIDDLE[0] + factor * row, MIDDLE[1] + factor * col])
    channels = [
        map_coordinates(picture[..., channel], places, order=1, mode="reflect")
        for channel in range(3)
    ]
    return np.stack(channels, axis=-1)


def stand_breadths() -> Float[np.ndarray, "row col"]:
    """Half the breadth of the stand in each row, none above it."""
    below = ROW - (MIDDLE[0] + 0.8 * RADIUS)
    is_there = (below > 0) & (ROW < 0.97 * SIDE)
    return np.where(is_there, 0.62 * RADIUS + 0.35 * below, 0)


def shelf_cover() -> Cover:
    """Where the shelf is, and no stand."""
    is_beside = np.abs(COL - MIDDLE[1]) > stand_breadths()
    return is_beside * np.clip(ROW - SHELF, 0, 1)


def room(scene: Scene) -> Picture:
    """The wall, the shelf and the stand."""
    wall = scene.wall * (1.1 - 0.3 * ROW[..., None] / SIDE)
    picture = over(wall, np.clip(ROW - SHELF, 0, 1), scene.wood)
    breadth, aside = stand_breadths(), np.abs(COL - MIDDLE[1])
    shaded = scene.stand * (1.3 - 0.8 * (aside / breadth.clip(1))[..., None] ** 2)
    return over(picture, np.clip(breadth - aside, 0, 1), shaded)


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    away = np.hypot(ROW - MIDDLE[0], COL - MIDDLE[1])
    ball = bend(inside(scene, frame)) * (1 - 0.35 * (away / RADIUS) ** 6)[..., None]
    picture = over(room(scene), np.clip(RADIUS - away, 0, 1), ball)
    rim = np.exp(-(((away - RADIUS) / 1.2) ** 2))
    gleam = np.exp(-((np.hypot(ROW - scene.gleam[0], COL - scene.gleam[1]) / 4) ** 2))
    return over(picture, np.maximum(0.4 * rim, 0.7 * gleam), np.ones(3))


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a camera."""
    noise = rng.normal(0, 0.015, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
