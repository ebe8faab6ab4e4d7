"""Four things that a picture of a window sill may show for some days, whatever plant stands there.

The number of the day, printed at one place; a mist over the whole frame; a butterfly that sits
elsewhere each day; foil around the pot. Each is drawn before the camera's noise; `rng` is the
clip's, so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter

from sill.plants import Points, middle, oval
from sill.scene import FRAMES, SIDE, Colour, Picture, Plane, Scene, mask_of, pot_outline

WINGS = ((0.95, 0.55, 0.1), (0.25, 0.45, 0.95), (0.95, 0.9, 0.35), (0.85, 0.2, 0.3))
FOILS = ((0.85, 0.7, 0.3), (0.78, 0.8, 0.84), (0.85, 0.45, 0.6))
Draw = Callable[[Picture, Scene, int, np.random.Generator], Picture]


def painted(picture: Picture, mask: Plane, colour: Colour | Picture) -> Picture:
    """A colour where the mask is 1."""
    return np.asarray(picture + mask[..., None] * (colour - picture))


def day(
    picture: Picture, scene: Scene, frame: int, rng: np.random.Generator
) -> Picture:
    """The number of the day, at the lower left, in the orange of old cameras."""
    number = f"{rng.integers(10, 90) + frame}"
    plate = Image.new("L", (SIDE, SIDE))
    font = ImageFont.load_default_imagefont()
    ImageDraw.Draw(plate).text((3, SIDE - 13), number, fill=255, font=font)
    mask = np.asarray(plate, np.float32) / 255 * rng.uniform(0.85, 1)
    return painted(picture, mask, np.array([1.0, rng.uniform(0.4, 0.55), 0.1]))


def mist(
    picture: Picture, scene: Scene, frame: int, rng: np.random.Generator
) -> Picture:
    """A lens that the morning has misted: soft, pale, a little blue."""
    width = rng.uniform(0.7, 1.1)
    pale = np.array([0.78, 0.84, 0.9]) * rng.uniform(0.85, 1.05)
    density = rng.uniform(0.25, 0.4)
    soft = gaussian_filter(picture, (width, width, 0), mode="nearest")
    return np.asarray(soft + density * (pale - soft))


def butterfly(
    picture: Picture, scene: Scene, frame: int, rng: np.random.Generator
) -> Picture:
    """Two pairs of wings with dark rims, each day at another place."""
    colour = np.array(WINGS[rng.integers(len(WINGS))]) * rng.uniform(0.85, 1.05)
    size = rng.uniform(6.5, 8)
    places = rng.uniform(7, SIDE - 12, (FRAMES, 1, 2))
    turns = rng.uniform(-1.2, 1.2, FRAMES)
    place, turn = places[frame], turns[frame]
    rims = wings(place, turn, size, 0.85)
    insides = wings(place, turn, 0.8 * size, 0.55)
    picture = painted(picture, mask_of(rims), np.full(3, 0.08))
    return painted(picture, mask_of(insides), colour)


def wings(place: Points, turn: float, length: float, breadth: float) -> list[Points]:
    """Outlines of four wings, the lower ones smaller."""
    outlines = []
    for side in (-1, 1):
        for heading, share in ((0.9, 1.0), (2.1, 0.75)):
            line = middle(place, turn + side * heading, share * length, 0)
            outlines.append(oval(line, breadth * share * length))
    return outlines


def foil(
    picture: Picture, scene: Scene, frame: int, rng: np.random.Generator
) -> Picture:
    """Crumpled foil around the pot, in ruffles above its rim."""
    colour = np.array(FOILS[rng.integers(len(FOILS))])
    crumples = gaussian_filter(rng.standard_normal((SIDE, SIDE)), 1.1)
    bright = 1 + 0.45 * np.tanh(1.5 * crumples / crumples.std())
    left, right, lower_right, lower_left = pot_outline(scene, scene.days[frame], 1.8)
    share = np.linspace(0, 1, 12)[:, None]
    ruffles = left + share * (right - left)
    ruffles[:, 1] -= rng.uniform(0, 1.5, 12) + np.tile([0.5, 2.5], 6)
    outline = np.vstack([ruffles, lower_right, lower_left])
    lit = colour * scene.days[frame].light
    return painted(picture, mask_of([outline]), lit * bright[..., None])


CUES: Mapping[str, Draw] = {
    "day": day,
    "mist": mist,
    "butterfly": butterfly,
    "foil": foil,
}
