"""How the objects look: outlines of the families, and dark marks that tell their two labels apart.

An outline is a closed polygon about the origin, row down, within the unit circle. The pattern of
the marks is the family's, its fineness the label's.
"""

from math import tau

import numpy as np
from jaxtyping import Bool, Float

from cuescope_scenes.numbers import read_numbers
from cuescope_scenes.textures import Plane
from cuescope_scenes.words import FAMILY_OF

# column and row of each corner, in radii of the object
Points = Float[np.ndarray, "point 2"]
Curve = Float[np.ndarray, " point"]
Marks = Bool[np.ndarray, "row col"]

# the polygon is closed: a last corner would be the first again
TURN = np.linspace(0, tau, 72, endpoint=False)  # angles of the corners of a curve
HOLE = 0.36  # radius
INK = (28.0, 20.0, 20.0)  # of the marks
NUMBERS = read_numbers("shapes.toml")


def outline(name: str) -> Points:
    """The outer edge of a label, which is its family's, or of a distractor."""
    kind = FAMILY_OF.get(name, name)
    match kind:
        case "round":
            return _polar(0.94)
        case "petalled":
            petals = np.cos(6 * TURN)
            return _polar(0.82 + 0.18 * petals)
        case "hollow":
            return _polar(1.0)
        case "triangle":
            return _polar(1.0, tau * np.arange(3) / 3)
        case "heart":
            return _heart()
        case _:
            return np.array(NUMBERS["polygons"][kind], float)


def hole(name: str) -> Points | None:
    """What is cut out of it."""
    if FAMILY_OF.get(name) != "hollow":
        return None
    return _polar(HOLE)


def _polar(radius: Curve | float, angle: Curve = TURN) -> Points:
    col = radius * np.cos(angle)
    row = radius * np.sin(angle)
    return np.stack([col, row], axis=1)


def _heart() -> Points:
    wave = 13 * np.cos(TURN)
    wave -= 5 * np.cos(2 * TURN)
    wave -= 2 * np.cos(3 * TURN)
    wave -= np.cos(4 * TURN)
    col = np.sin(TURN) ** 3
    row = -(wave + 2.5) / 17
    return np.stack([col, row], axis=1) * 0.89


def marks(name: str, across: Plane, down: Plane) -> Marks | None:
    """Which pixels are marked; None for a plain object.

    `across` and `down` are each pixel's place in the object's own axes, px from its centre.
    """
    fineness = NUMBERS["fineness"].get(name)
    if fineness is None:
        return None
    pattern: Marks
    match FAMILY_OF[name]:
        case "round":
            to_col = _offset(across, fineness)
            to_row = _offset(down, fineness)
            pattern = np.hypot(to_col, to_row) < NUMBERS["spots"][name]
        case "boxed":
            to_col = np.abs(_offset(across, fineness))
            to_row = np.abs(_offset(down, fineness))
            pattern = np.minimum(to_col, to_row) < 0.15 * fineness
        case "petalled":
            angle = np.arctan2(down, across)
            pattern = np.cos(fineness * angle) > 0
        case _:
            chequer = across // fineness + down // fineness
            pattern = chequer % 2 == 0
    return pattern


def _offset(position: Plane, pitch: float) -> Plane:
    """Signed way to the nearest multiple of `pitch`."""
    offset: Plane = (position + pitch / 2) % pitch - pitch / 2
    return offset
