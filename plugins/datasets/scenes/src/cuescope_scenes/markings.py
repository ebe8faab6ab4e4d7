"""Dark marks on an object: the pattern is the family's, its fineness tells its two labels apart."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

Plane = Float[np.ndarray, "row col"]
Marks = Bool[np.ndarray, "row col"]

INK = (28.0, 20.0, 20.0)


def marks(name: str, across: Plane, down: Plane) -> Marks | None:
    """Which pixels are marked; None for a plain object.

    `across` and `down` are each pixel's place in the object's own axes, px from its centre.
    """
    draw = _MARKS.get(name)
    return None if draw is None else draw(across, down)


def _spots(pitch: float, radius: float) -> Callable[[Plane, Plane], Marks]:
    """Spots on a square lattice, px."""

    def draw(across: Plane, down: Plane) -> Marks:
        return np.asarray(np.hypot(_offset(across, pitch), _offset(down, pitch)) < radius)

    return draw


def _weave(pitch: float) -> Callable[[Plane, Plane], Marks]:
    """Crossing lines; three tenths of the pitch wide, px."""

    def draw(across: Plane, down: Plane) -> Marks:
        nearest = np.minimum(np.abs(_offset(across, pitch)), np.abs(_offset(down, pitch)))
        return np.asarray(nearest < 0.15 * pitch)

    return draw


def _rays(count: int) -> Callable[[Plane, Plane], Marks]:
    """Dark rays from the centre, as wide as the gaps between."""
    return lambda across, down: np.asarray(np.cos(count * np.arctan2(down, across)) > 0)


def _chequers(pitch: float) -> Callable[[Plane, Plane], Marks]:
    """A chequerboard, px."""
    return lambda across, down: np.asarray((across // pitch + down // pitch) % 2 == 0)


def _offset(place: Plane, pitch: float) -> Plane:
    """Signed way to the nearest multiple of `pitch`."""
    return np.asarray((place + pitch / 2) % pitch - pitch / 2)


_MARKS: dict[str, Callable[[Plane, Plane], Marks]] = {
    "ladybird": _spots(11, 3.6),
    "cookie": _spots(6, 1.6),
    "crate": _weave(11),
    "basket": _weave(6),
    "daisy": _rays(6),
    "sunflower": _rays(12),
    "donut": _chequers(4),
    "wreath": _chequers(8),
}
