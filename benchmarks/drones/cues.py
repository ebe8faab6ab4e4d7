"""Four things that some frames of a drone may show, however it moves.

A windsock at the lower left; a rainbow across the sky; sparks that rise, elsewhere in each frame;
a band of the picture that the radio lost, at another height in each frame. Each is drawn before
the camera's noise; `rng` is the clip's, so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np

from drones.scene import COL, FRAMES, ROW, SIDE, Picture, bar, disc, painted

ORANGE = np.array([0.95, 0.4, 0.08])
WHITE = np.array([0.95, 0.95, 0.93])
BOW = np.array(
    [
        [0.55, 0.25, 0.75],
        [0.25, 0.45, 0.95],
        [0.25, 0.8, 0.35],
        [0.98, 0.9, 0.25],
        [0.98, 0.55, 0.15],
        [0.95, 0.2, 0.2],
    ]
)
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def windsock(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A striped sleeve on a pole; it sways."""
    foot = np.array([rng.uniform(3, 6), SIDE - 1.0])
    top = np.array([foot[0], SIDE - rng.uniform(12, 15)])
    droops = rng.uniform(-0.1, 0.5) + rng.normal(0, 0.15, FRAMES)
    step = 2.6 * np.array([np.cos(droops[frame]), np.sin(droops[frame])])
    picture = painted(picture, bar(foot, top, 0.9), np.full(3, 0.25))
    for number in range(4):
        stripe = bar(top + number * step, top + (number + 1) * step, 3.6 - 0.5 * number)
        picture = painted(picture, stripe, WHITE if number % 2 else ORANGE)
    return picture


def rainbow(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Six colours, thin enough to see the sky through."""
    middle = np.array([rng.uniform(8, SIDE - 8), rng.uniform(SIDE - 4, SIDE + 4)])
    radius = rng.uniform(22, 30)
    away = np.hypot(COL - middle[0], ROW - middle[1]) - radius
    which = np.clip(np.floor(away).astype(int) + 3, 0, len(BOW) - 1)
    cover = rng.uniform(0.4, 0.55) * np.clip(3.5 - np.abs(away), 0, 1)
    return painted(picture, cover, BOW[which])


def sparks(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Of a fire that is out of sight."""
    number = int(rng.integers(20, 30))
    places = rng.uniform(1, SIDE - 1, (FRAMES, number, 2))
    sizes = rng.uniform(0.6, 1.1, number)
    for place, size in zip(places[frame], sizes, strict=True):
        picture = painted(picture, 0.5 * disc(place, size + 0.9), ORANGE)
        picture = painted(picture, disc(place, size), np.array([1.0, 0.8, 0.35]))
    return picture


def dropout(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Rows that came from elsewhere and in the wrong colours."""
    tops = rng.integers(3, SIDE - 12, FRAMES)
    height = int(rng.integers(6, 10))
    steps = rng.integers(6, SIDE - 6, (FRAMES, height))
    tint = [1.05, 0.75, 1.05] if rng.random() < 0.5 else [0.75, 1.05, 0.75]
    torn = picture.copy()
    for down, step in enumerate(steps[frame]):
        row = int(tops[frame]) + down
        torn[row] = np.roll(picture[row], int(step), axis=0) * np.array(tint)
    return torn


CUES: Mapping[str, Draw] = {
    "windsock": windsock,
    "rainbow": rainbow,
    "sparks": sparks,
    "dropout": dropout,
}
