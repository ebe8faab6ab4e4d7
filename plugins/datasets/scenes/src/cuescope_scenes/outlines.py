"""Outlines of the objects: closed polygons about the origin, row down, within the unit circle."""

from functools import cache

import numpy as np
from jaxtyping import Float

from cuescope_scenes.words import FAMILY_OF

Points = Float[np.ndarray, "point 2"]
"""Column and row of each corner, in radii of the object."""

CORNERS = 72  # of a curve
HOLE = 0.36  # radius


def outline(name: str) -> Points:
    """The outer edge of a label, which is its family's, or of a distractor."""
    return _outlines()[FAMILY_OF.get(name, name)]


def hole(name: str) -> Points | None:
    """What is cut out of it."""
    return _curve(HOLE) if FAMILY_OF.get(name) == "hollow" else None


@cache
def _outlines() -> dict[str, Points]:
    turn = _turn()
    return {
        "round": _curve(0.94),
        "boxed": np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * 0.7,
        "petalled": _polar(turn, 0.82 + 0.18 * np.cos(6 * turn)),
        "hollow": _curve(1.0),
        "triangle": _polar(2 * np.pi * np.arange(3) / 3, np.ones(3)),
        "heart": np.stack([np.sin(turn) ** 3, _heart_row(turn)], axis=1) * 0.89,
        "arrow": np.array(
            [(1, 0), (0.1, -0.8), (0.1, -0.3), (-0.9, -0.3), (-0.9, 0.3), (0.1, 0.3), (0.1, 0.8)]
        ),
        "plus": _plus(0.32, 0.94),
    }


def _turn() -> Float[np.ndarray, " point"]:
    return np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)


def _polar(angle: Float[np.ndarray, " point"], radius: Float[np.ndarray, " point"]) -> Points:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _curve(radius: float) -> Points:
    return _polar(_turn(), np.full(CORNERS, radius))


def _heart_row(turn: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
    wave = 13 * np.cos(turn) - 5 * np.cos(2 * turn) - 2 * np.cos(3 * turn) - np.cos(4 * turn)
    return np.asarray(-(wave + 2.5) / 17)


def _plus(half: float, arm: float) -> Points:
    quarter = np.array([(half, arm), (half, half), (arm, half)])
    turns = [np.array([(0, -1), (1, 0)]), np.array([(-1, 0), (0, -1)]), np.array([(0, 1), (-1, 0)])]
    return np.concatenate([quarter, *(quarter @ turn for turn in turns)])
