"""How the objects look: outlines of the families, and dark marks that tell their two labels apart.

An outline is a closed polygon about the origin, row down, within the unit circle. The pattern of
the marks is the family's, its fineness the label's.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from jaxtyping import Bool, Float

from cuescope_scenes.words import FAMILY_OF

Points = Float[np.ndarray, "point 2"]  # column and row of each corner, in radii of the object
Plane = Float[np.ndarray, "row col"]
Marks = Bool[np.ndarray, "row col"]

TURN = np.linspace(0, 2 * np.pi, 72, endpoint=False)  # angles of the corners of a curve
HOLE = 0.36  # radius
INK = (28.0, 20.0, 20.0)  # of the marks


def outline(name: str) -> Points:
    """The outer edge of a label, which is its family's, or of a distractor."""
    return _outlines()[FAMILY_OF.get(name, name)]


def hole(name: str) -> Points | None:
    """What is cut out of it."""
    if FAMILY_OF.get(name) != "hollow":
        return None
    return _polar(TURN, HOLE)


@cache
def _outlines() -> dict[str, Points]:
    return {
        "round": _polar(TURN, 0.94),
        "boxed": np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * 0.7,
        "petalled": _polar(TURN, 0.82 + 0.18 * np.cos(6 * TURN)),
        "hollow": _polar(TURN, 1.0),
        "triangle": _polar(2 * np.pi * np.arange(3) / 3, 1.0),
        "heart": np.stack([np.sin(TURN) ** 3, _heart_row(TURN)], axis=1) * 0.89,
        "arrow": np.array(
            [(1, 0), (0.1, -0.8), (0.1, -0.3), (-0.9, -0.3), (-0.9, 0.3), (0.1, 0.3), (0.1, 0.8)]
        ),
        "plus": _plus(0.32, 0.94),
    }


def _polar(
    angle: Float[np.ndarray, " point"], radius: Float[np.ndarray, " point"] | float
) -> Points:
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _heart_row(turn: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
    wave = 13 * np.cos(turn) - 5 * np.cos(2 * turn) - 2 * np.cos(3 * turn) - np.cos(4 * turn)
    return np.asarray(-(wave + 2.5) / 17)


def _plus(half: float, arm: float) -> Points:
    quarter = np.array([(half, arm), (half, half), (arm, half)])
    turn = np.array([(0, -1), (1, 0)])  # by a right angle
    second = quarter @ turn
    third = second @ turn
    fourth = third @ turn
    return np.concatenate([quarter, second, third, fourth])


# --------------------------------------------------------------------------------------- marks


def marks(name: str, across: Plane, down: Plane) -> Marks | None:
    """Which pixels are marked; None for a plain object.

    `across` and `down` are each pixel's place in the object's own axes, px from its centre.
    """
    draw = _MARKS.get(name)
    return None if draw is None else draw(across, down)


def _spots(across: Plane, down: Plane, *, pitch: float, radius: float) -> Marks:
    """Spots on a square lattice, px."""
    return np.asarray(np.hypot(_offset(across, pitch), _offset(down, pitch)) < radius)


def _weave(across: Plane, down: Plane, *, pitch: float) -> Marks:
    """Crossing lines; three tenths of the pitch wide, px."""
    nearest = np.minimum(np.abs(_offset(across, pitch)), np.abs(_offset(down, pitch)))
    return np.asarray(nearest < 0.15 * pitch)


def _rays(across: Plane, down: Plane, *, count: int) -> Marks:
    """Dark rays from the centre, as wide as the gaps between."""
    return np.asarray(np.cos(count * np.arctan2(down, across)) > 0)


def _chequers(across: Plane, down: Plane, *, pitch: float) -> Marks:
    """A chequerboard, px."""
    return np.asarray((across // pitch + down // pitch) % 2 == 0)


def _offset(position: Plane, pitch: float) -> Plane:
    """Signed way to the nearest multiple of `pitch`."""
    return np.asarray((position + pitch / 2) % pitch - pitch / 2)


_MARKS: dict[str, Callable[[Plane, Plane], Marks]] = {
    "ladybird": partial(_spots, pitch=11, radius=3.6),
    "cookie": partial(_spots, pitch=6, radius=1.6),
    "crate": partial(_weave, pitch=11),
    "basket": partial(_weave, pitch=6),
    "daisy": partial(_rays, count=6),
    "sunflower": partial(_rays, count=12),
    "donut": partial(_chequers, pitch=4),
    "wreath": partial(_chequers, pitch=8),
}
