"""How the objects look: outlines of the families, and dark marks that tell their two labels apart.

An outline is a closed polygon about the origin, row down, within the unit circle. The pattern of
the marks is the family's, its fineness the label's.
"""

from collections.abc import Callable
from functools import partial
from math import tau

import numpy as np
from jaxtyping import Bool, Float

from cuescope_scenes.textures import Plane
from cuescope_scenes.words import FAMILY_OF

Points = Float[
    np.ndarray, "point 2"
]  # column and row of each corner, in radii of the object
Curve = Float[np.ndarray, " point"]
Marks = Bool[np.ndarray, "row col"]

# the polygon is closed: a last corner would be the first again
TURN = np.linspace(0, tau, 72, endpoint=False)  # angles of the corners of a curve
HOLE = 0.36  # radius
INK = (28.0, 20.0, 20.0)  # of the marks


def outline(name: str) -> Points:
    """The outer edge of a label, which is its family's, or of a distractor."""
    return OUTLINES[FAMILY_OF.get(name, name)]


def hole(name: str) -> Points | None:
    """What is cut out of it."""
    if FAMILY_OF.get(name) != "hollow":
        return None
    return _polar(TURN, HOLE)


def _polar(angle: Curve, radius: Curve | float) -> Points:
    col = radius * np.cos(angle)
    row = radius * np.sin(angle)
    return np.stack([col, row], axis=1)


def _heart() -> Points:
    wave = 13 * np.cos(TURN)
    for times, share in ((2, 5), (3, 2), (4, 1)):
        wave -= share * np.cos(times * TURN)
    row = -(wave + 2.5) / 17
    points = np.stack([np.sin(TURN) ** 3, row], axis=1)
    return points * 0.89


def _plus(half: float, arm: float) -> Points:
    quarter = np.array([(half, arm), (half, half), (arm, half)])
    by_right_angle = np.array([(0, -1), (1, 0)])
    quarters = [quarter]
    for _ in range(3):
        quarter = quarter @ by_right_angle
        quarters.append(quarter)
    return np.concatenate(quarters)


ARROW = [
    (1, 0),
    (0.1, -0.8),
    (0.1, -0.3),
    (-0.9, -0.3),
    (-0.9, 0.3),
    (0.1, 0.3),
    (0.1, 0.8),
]
OUTLINES: dict[str, Points] = {
    "round": _polar(TURN, 0.94),
    # 0.7, so that its corners lie within the unit circle
    "boxed": np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * 0.7,
    "petalled": _polar(TURN, 0.82 + 0.18 * np.cos(6 * TURN)),
    "hollow": _polar(TURN, 1.0),
    "triangle": _polar(tau * np.arange(3) / 3, 1.0),
    "heart": _heart(),
    "arrow": np.array(ARROW),
    "plus": _plus(0.32, 0.94),
}


# --------------------------------------------------------------------------------------- marks


def marks(name: str, across: Plane, down: Plane) -> Marks | None:
    """Which pixels are marked; None for a plain object.

    `across` and `down` are each pixel's place in the object's own axes, px from its centre.
    """
    draw = _MARKS.get(name)
    return None if draw is None else draw(across, down)


def _spots(across: Plane, down: Plane, *, pitch: float, radius: float) -> Marks:
    """Spots on a square lattice, px."""
    distance = np.hypot(_offset(across, pitch), _offset(down, pitch))
    spots: Marks = distance < radius
    return spots


def _weave(across: Plane, down: Plane, *, pitch: float) -> Marks:
    """Crossing lines; three tenths of the pitch wide, px."""
    to_column = np.abs(_offset(across, pitch))
    to_row = np.abs(_offset(down, pitch))
    distance = np.minimum(to_column, to_row)
    lines: Marks = distance < 0.15 * pitch
    return lines


def _rays(across: Plane, down: Plane, *, count: int) -> Marks:
    """Dark rays from the centre, as wide as the gaps between."""
    rays: Marks = np.cos(count * np.arctan2(down, across)) > 0
    return rays


def _chequers(across: Plane, down: Plane, *, pitch: float) -> Marks:
    """A chequerboard, px."""
    square = across // pitch + down // pitch
    chequers: Marks = square % 2 == 0
    return chequers


def _offset(position: Plane, pitch: float) -> Plane:
    """Signed way to the nearest multiple of `pitch`."""
    offset: Plane = (position + pitch / 2) % pitch - pitch / 2
    return offset


# coarse or fine, so that small or blurred look-alikes are confused
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
