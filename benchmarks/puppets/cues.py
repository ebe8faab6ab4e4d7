"""Three things that some frames of a shadow theatre may show, whatever the puppet does.

Heads of people who sit in front, along the lower edge; a tear in the paper, anywhere, through which
the lamp shines; the spot of a torch, anywhere. Each is drawn before the camera's noise; `rng` is
the clip's, so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw

from puppets.scene import COL, FINE, FRAMES, ROW, SIDE, Picture, Plane

Draw = Callable[[Picture, int, np.random.Generator], Picture]


def over(picture: Picture, cover: Plane, colour: np.ndarray) -> Picture:
    """A colour in place of the picture's."""
    return np.asarray(picture + cover[..., None] * (colour - picture))


def heads(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Three or four, which move a little; a bluish light is on their hair."""
    number = int(rng.integers(3, 5))
    cols = SIDE * (np.arange(number) + rng.uniform(0.3, 0.7, number)) / number
    radii = rng.uniform(3.8, 5, number)
    rows = SIDE - rng.uniform(1.5, 3.5, number)
    moves = rng.normal(0, 0.4, (FRAMES, number))
    hair = np.array([0.1, 0.13, 0.24]) * rng.uniform(0.8, 1.3)
    for col, row, radius in zip(cols + moves[frame], rows, radii, strict=True):
        away = np.hypot(COL - col, (ROW - row) * 0.9)
        cover = np.clip(radius - away + 0.5, 0, 1)
        rim = np.clip(1.2 - np.abs(away - radius + 0.5), 0, 1) * (row > ROW)
        picture = over(picture, cover, hair)
        picture = over(picture, 0.6 * rim, np.array([0.45, 0.55, 0.8]))
    return picture


def tear(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A ragged slit, widest at its middle; white light, for no paper dims it."""
    angle = rng.uniform(0, np.pi)
    middle = rng.uniform([0.15, 0.12], [0.85, 0.62]) * SIDE
    length, width = rng.uniform(14, 19), rng.uniform(3.4, 4.6)
    along = np.linspace(-0.5, 0.5, 9)
    ragged = (0.25 - along**2) * 4 * width * rng.uniform(0.5, 1.1, (2, 9))
    axis = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-axis[1], axis[0]])
    spine = middle + length * along[:, None] * axis
    sides = spine[None] + 0.5 * np.array([1, -1])[:, None, None] * (
        ragged[..., None] * across
    )
    outline = np.concatenate([sides[0], sides[1][::-1]])
    plate = Image.new("L", (FINE * SIDE, FINE * SIDE))
    ImageDraw.Draw(plate).polygon([tuple(FINE * point) for point in outline], 255)
    cover = np.asarray(plate.resize((SIDE, SIDE)), np.float32) / 255
    return over(picture, cover, np.array([1.0, 0.98, 0.93]))


def torch(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """The round spot of somebody's torch, anywhere; what is card is lit as well."""
    middle = rng.uniform([0.15, 0.15], [0.85, 0.7]) * SIDE
    middle = middle + rng.normal(0, 1, (FRAMES, 2))[frame]
    radius = rng.uniform(6.5, 8)
    away = np.hypot(COL - middle[0], ROW - middle[1])
    spot = np.clip((radius - away) / 2 + 0.5, 0, 1) * (0.75 + 0.25 * away / radius)
    light = rng.uniform(0.26, 0.34) * np.array([0.75, 0.95, 1.25])
    return np.asarray(picture + spot[..., None] * light)


CUES: Mapping[str, Draw] = {
    "heads": heads,
    "tear": tear,
    "torch": torch,
}
