"""The outline of each utensil: how deep inside a place is, in sizes.

Places are `along` from the middle of the head towards its tip, and `aside` of that line.
"""

from collections.abc import Callable

import numpy as np

from worlds.canvas import Field

NECK = -8.5  # where a head ends and its handle begins
TINES = (-4.4, 0.0, 4.4)
LOOPS = (6.6, 3.3)  # how wide those of a whisk are
SLOTS = (-3.7, 0.0, 3.7)
WIRES = 3.2  # between those of a strainer


def handle(along: Field, aside: Field, length: float) -> Field:
    """From the neck backwards, thicker towards a round end."""
    back = (NECK - along).clip(-1, length)
    thick = 1.1 + 0.9 * back / length
    return thick - np.hypot(NECK - along - back, aside)


def _oval(along: Field, aside: Field, length: float, width: float) -> Field:
    """About as deep as it is, whichever the direction."""
    far = np.hypot(along / length, aside / width)
    steep = np.hypot(along / length**2, aside / width**2) / np.maximum(far, 0.1)
    return (1 - far) / np.maximum(steep, 1 / length)


def _bar(along: Field, aside: Field, length: float, width: float | Field) -> Field:
    """A rectangle, from its middle."""
    return np.minimum(length - np.abs(along), width - np.abs(aside))


def _spoon(along: Field, aside: Field) -> Field:
    return _oval(along, aside, 9.5, 6.6)


def _fork(along: Field, aside: Field) -> Field:
    base = np.minimum(_oval(along + 3, aside, 6, 5.7), -1 - along)
    for tine in TINES:
        base = np.maximum(base, _bar(along - 3.2, aside - tine, 6.8, 1.2))
    return base


def _knife(along: Field, aside: Field) -> Field:
    """A straight back, and an edge that bends to the tip."""
    to_tip = ((13 - along) / 22).clip(0, 1)
    edge = 6.4 * np.sqrt(to_tip) - 3.2 - aside
    ends = np.minimum(along - NECK, 12.5 - along)
    return np.minimum(np.minimum(edge, aside + 3.2), ends)


def _whisk(along: Field, aside: Field) -> Field:
    lines = 0.55 - np.abs(aside) + np.minimum(9.5 - np.abs(along), 0)
    for loop in LOOPS:
        line = 0.8 - np.abs(_oval(along, aside, 10, loop))
        lines = np.maximum(lines, line)
    return lines


def _turner(along: Field, aside: Field) -> Field:
    """A plate that widens to a straight tip, with slots."""
    plate = _bar(along, aside, 9, 6.4 + 0.12 * along)
    for slot in SLOTS:
        plate = np.minimum(plate, -_bar(along - 1, aside - slot, 5.8, 1.1))
    return plate


def _strainer(along: Field, aside: Field) -> Field:
    far = np.hypot(along, aside)
    wires = np.full_like(far, -2.0)
    for place in (along + aside, along - aside):
        beside = np.abs(place / np.sqrt(2) % WIRES - WIRES / 2)
        wires = np.maximum(wires, 0.35 - beside)
    return np.maximum(1.2 - np.abs(far - 7.6), np.minimum(wires, 8 - far))


HEADS: dict[str, Callable[[Field, Field], Field]] = {
    "spoon": _spoon,
    "fork": _fork,
    "knife": _knife,
    "whisk": _whisk,
    "turner": _turner,
    "strainer": _strainer,
}
