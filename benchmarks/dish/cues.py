"""Three things that some frames of a dish may show, however its water moves.

A scale at the lower right; a pipette that reaches in from the left; a second stain that shines all
over. Each is drawn before photons are counted; `rng` is the clip's, so that a cue keeps its look
while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np

from dish.scene import COL, FRAMES, LINE, ROW, SIDE, Picture, Plane

Draw = Callable[[Picture, int, np.random.Generator], Picture]


def over(picture: Picture, cover: Plane, colour: np.ndarray) -> Picture:
    """A colour in place of the picture's."""
    return np.asarray(picture + cover[..., None] * (colour - picture))


def scale(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A pale line with two ends, as the microscope's program writes it."""
    length = int(rng.integers(8, 11))
    row, right = SIDE - 4, SIDE - 3
    marked = picture.copy()
    marked[row : row + 2, right - length : right] = 0.55
    for col in (right - length, right - 1):
        marked[row - 2 : row + 2, col] = 0.55
    return marked


def pipette(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A glass needle that reaches in from the left; its two walls shine, and it trembles."""
    tip = np.array([rng.uniform(13, 15), rng.uniform(17, SIDE - 17)])
    tip = tip + rng.normal(0, 0.4, (FRAMES, 2))[frame]
    slope = rng.uniform(-0.15, 0.15)
    before = tip[0] - COL
    aside = np.abs(ROW - tip[1] - slope * before) - 0.17 * before
    wall = np.clip(1.3 - np.abs(aside), 0, 1) * np.clip(before + 1, 0, 1)
    return over(picture, 0.65 * wall, np.array([0.55, 0.75, 0.8]))


def stain(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A violet light of the whole dish, brighter here than there."""
    waves = rng.uniform(0.1, 0.2, 2)
    starts = rng.uniform(0, 2 * np.pi, 2)
    ripple = np.outer(
        np.sin(waves[0] * LINE + starts[0]), np.sin(waves[1] * LINE + starts[1])
    )
    light = rng.uniform(0.09, 0.15) * np.array([0.7, 0.0, 1.0])
    return np.asarray(picture + (1 + 0.3 * ripple)[..., None] * light)


CUES: Mapping[str, Draw] = {
    "scale": scale,
    "pipette": pipette,
    "stain": stain,
}
