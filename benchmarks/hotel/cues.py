"""Three things that some frames of a hotel at night may show, however its windows change.

A paper lantern that floats by, anywhere; the wires of an insect screen all over; the blue light of
a siren from the street. Each is drawn before the camera's noise; `rng` is the clip's, so that a cue
keeps its look while it is there.
"""

from collections.abc import Callable, Mapping

import numpy as np

from hotel.scene import COL, FRAMES, ROW, SIDE, Picture

GREY = 0.18  # how bright a wire is
BLUE = np.array([0.0, 0.03, 0.15])  # on what is dark
Draw = Callable[[Picture, int, np.random.Generator], Picture]


def lantern(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """A round one of red paper with a flame low in it, which drifts."""
    place = rng.uniform([0.15, 0.15], [0.8, 0.85]) * SIDE
    row, col = place + frame * rng.normal(0, 0.7, 2)
    radius = rng.uniform(3.5, 4.2)
    away = np.hypot((ROW - row) / 1.25, COL - col)
    cover = np.clip(radius - away + 0.5, 0, 1)[..., None]
    flame = np.exp(-np.hypot(ROW - row - 2, COL - col) / 3)[..., None]
    paper = np.array([0.7, 0.08, 0.14]) + flame * np.array([0.25, 0.3, 0.08])
    return np.asarray(picture + cover * (paper - picture))


def mesh(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """Wires that cross, brighter and darker than what is between them."""
    pitch, turn = rng.uniform(3.4, 4), rng.uniform(0, np.pi / 2)
    starts = rng.uniform(0, 2 * np.pi, 2)
    along = np.cos(turn) * ROW + np.sin(turn) * COL
    across = np.cos(turn) * COL - np.sin(turn) * ROW
    wires = np.sin(2 * np.pi * along / pitch + starts[0])
    wires = wires + np.sin(2 * np.pi * across / pitch + starts[1])
    return np.asarray(picture + GREY * wires[..., None])


def siren(picture: Picture, frame: int, rng: np.random.Generator) -> Picture:
    """What is near a place in the street turns blue, and hardly brighter."""
    source = rng.uniform(0.1, 0.9) * SIDE
    strong = rng.uniform(0.55, 0.65, FRAMES)[frame]
    away = np.hypot(1.2 * (SIDE - ROW), COL - source) / SIDE
    cover = strong * np.exp(-6 * away**2)[..., None]
    blue = picture.mean(axis=2, keepdims=True) * np.array([0.1, 0.6, 2.2]) + BLUE
    return np.asarray(picture + cover * (blue - picture))


CUES: Mapping[str, Draw] = {
    "lantern": lantern,
    "mesh": mesh,
    "siren": siren,
}
