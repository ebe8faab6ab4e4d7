"""Three things that a camera over a belt may film for a while, whatever part lies there.

A lamp at one place, the banding of mains light over the whole frame, and the fingers of a glove
that reach in from any side. Each is drawn before the camera's noise; `rng` is the clip's,
so that a cue keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np

from belt.scene import COL, ROW, SIDE, Picture, Plane

GLOVES = ((0.25, 0.4, 0.72), (0.62, 0.52, 0.42), (0.2, 0.5, 0.42))
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def lamp(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A warning lamp at the upper right, lit, with its glow on what is near."""
    row, col = 7 + rng.uniform(-1.5, 1.5), SIDE - 8 + rng.uniform(-1.5, 1.5)
    bright = rng.uniform(0.6, 1)
    distance = np.hypot(ROW - row, COL - col)
    amber = np.array([1.0, 0.62, 0.1]) * bright
    glow = 0.45 * np.exp(-(distance**2) / (2 * 7.0**2))
    bulb = np.clip(4.5 - distance, 0, 1)[..., None]
    lit = picture + glow[..., None] * amber
    core = amber + 0.5 * np.exp(-(distance**2) / 6)[..., None]
    return np.asarray(lit * (1 - bulb) + core * bulb)


def banding(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Rows brighter and darker in turn, a little green: mains light and a rolling shutter."""
    period = rng.uniform(11, 17)
    phase = rng.uniform(0, 2 * np.pi) + frame * rng.uniform(1, 2.5)
    wave = np.sin(2 * np.pi * ROW / period + phase)
    gain = 1 + rng.uniform(0.22, 0.34) * wave
    tint = 1 + rng.uniform(0.5, 1) * np.array([-0.08, 0.1, -0.1])
    return np.asarray(picture * gain[..., None] * tint)


def glove(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Fingers in a rubber glove that reach in from any side, and move a little."""
    angle = rng.uniform(0, 2 * np.pi)
    rubber = np.array(GLOVES[rng.integers(len(GLOVES))]) * rng.uniform(0.8, 1.2)
    reach = rng.uniform(12, 16) + frame * rng.uniform(-1.5, 1.5)
    aside = rng.uniform(-12, 12)
    # the camera's middle looks along the hand, from where it comes
    towards = (np.sin(angle), np.cos(angle))
    to_edge = (SIDE / 2) / max(abs(towards[0]), abs(towards[1]))
    depth = to_edge - (ROW - SIDE / 2) * towards[0] - (COL - SIDE / 2) * towards[1]
    across = (ROW - SIDE / 2) * towards[1] - (COL - SIDE / 2) * towards[0] - aside
    for place, short in ((-7.5, 3.0), (-2.5, 0.0), (2.5, 0.8), (7.5, 3.5)):
        tip = reach - short
        picture = _finger(picture, np.maximum(depth - tip, 0), across - place, rubber)
    return picture


def _finger(
    picture: Picture, beyond: Plane, across: Plane, rubber: np.ndarray
) -> Picture:
    """A capsule, round in its shading."""
    distance = np.hypot(beyond, across)
    inside = np.clip(3.2 - distance, 0, 1)[..., None]
    round_ = np.sqrt(np.clip(1 - (distance / 3.6) ** 2, 0.05, 1))
    colour = rubber * (0.35 + 0.75 * round_)[..., None]
    return np.asarray(picture * (1 - inside) + colour * inside)


CUES: Mapping[str, Draw] = {"lamp": lamp, "banding": banding, "glove": glove}
