"""The outline of each leaf: how deep inside a place is, in sizes.

Places are `along` from the middle of a leaf to its tip, where that is 1 and its base is -1, and
`aside` of that line.
"""

from collections.abc import Callable

import numpy as np

from worlds.canvas import Field

LOBES = np.radians((-105, -52, 0, 52, 105))  # of a maple, from its tip
LONG = (0.62, 0.92, 1.1, 0.92, 0.62)  # how far each lobe goes
PAIRS = (-0.62, -0.18, 0.26)  # where leaflets of an ash stand


def stem(along: Field, aside: Field, length: float) -> Field:
    """From the base downwards, and inside the leaf."""
    back = (-0.75 - along).clip(0, length + 0.25)
    return 0.045 - np.hypot(-0.75 - along - back, aside)


def _beech(along: Field, aside: Field) -> Field:
    part = ((along + 1) / 2).clip(0, 1)
    wide = 0.6 * np.sin(np.pi * part**0.85)
    return 0.85 * (wide - abs(aside)) - 2 * (abs(along) - 1).clip(0, None)


def _oak(along: Field, aside: Field) -> Field:
    """Wider towards the tip, with round lobes."""
    part = ((along + 1) / 2).clip(0, 1)
    wide = 0.52 * np.sin(np.pi * part**1.25) ** 0.7
    lobes = 1 + 0.42 * np.cos(2 * np.pi * (4 * part - 0.25))
    return 0.6 * (wide * lobes - abs(aside)) - 2 * (abs(along) - 1).clip(0, None)


def _maple(along: Field, aside: Field) -> Field:
    """Pointed lobes from one place, as the fingers of a hand."""
    along = along + 0.35
    far, angle = np.hypot(along, aside), np.arctan2(aside, along)
    reach = np.full_like(far, 0.4)
    for lobe, length in zip(LOBES, LONG, strict=True):
        sharp = (1 - abs(angle - lobe) / np.radians(30)).clip(0, 1)
        reach = np.maximum(reach, 0.4 + (1.2 * length - 0.4) * sharp)
    return 0.7 * (reach - far)


def _ginkgo(along: Field, aside: Field) -> Field:
    """A fan with a slit."""
    along = along + 0.95
    far, angle = np.hypot(along, aside), np.arctan2(aside, along)
    edge = 1.5 + 0.06 * np.cos(14 * angle) - far
    fan = np.minimum(edge, far * (np.radians(62) - abs(angle)))
    return np.minimum(fan, np.maximum(abs(aside) - 0.07, 0.75 - far))


def _ash(along: Field, aside: Field) -> Field:
    """Leaflets in pairs, and one at the tip."""
    depth = _leaflet(along - 0.72, aside)
    aside = abs(aside)
    cos, sin = np.cos(0.95), np.sin(0.95)
    for place in PAIRS:
        ahead = along - place
        own = (ahead * cos + aside * sin - 0.36, aside * cos - ahead * sin)
        depth = np.maximum(depth, _leaflet(*own))
    rachis = np.minimum(0.04 - aside, 1 - abs(along))
    return np.maximum(depth, rachis)


def _leaflet(along: Field, aside: Field) -> Field:
    far = np.hypot(along / 0.33, aside / 0.14)
    return 0.17 * (1 - far)


OUTLINES: dict[str, Callable[[Field, Field], Field]] = {
    "beech": _beech,
    "oak": _oak,
    "maple": _maple,
    "ginkgo": _ginkgo,
    "ash": _ash,
}
