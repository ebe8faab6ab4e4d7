"""The outline of each shape: how far it reaches in each direction from its middle.

Angles are in radians, from upwards to the right, -pi to pi. A shape reaches about 1.
"""

from collections.abc import Callable

import numpy as np

from worlds.canvas import Field

POINTS = 5  # of a star
TEETH = 7  # of a cog
TIP = 1.3  # of a drop
BELLY = 0.74  # of a drop


def _star(angle: Field) -> Field:
    part = 2 * np.pi / POINTS
    near_point = np.abs((angle % part) / part * 2 - 1)
    return 0.45 + 0.65 * near_point**1.4


def _heart(angle: Field) -> Field:
    angles = (0, 0.3, 0.7, 1.2, 2.0, np.pi)
    return np.interp(np.abs(angle), angles, (0.45, 0.85, 1.02, 0.95, 0.75, 1.15))


def _drop(angle: Field) -> Field:
    """A disc, and the two lines from its tip that touch it."""
    touching = np.arccos(BELLY / TIP)
    beyond = np.minimum(np.abs(angle) - touching, 0)
    return BELLY / np.cos(beyond)


def _cog(angle: Field) -> Field:
    return 0.84 + 0.16 * np.tanh(4 * np.cos(TEETH * angle))


def _bow(angle: Field) -> Field:
    return 0.36 + 0.7 * np.abs(np.sin(angle)) ** 1.3


OUTLINES: dict[str, Callable[[Field], Field]] = {
    "star": _star,
    "heart": _heart,
    "drop": _drop,
    "cog": _cog,
    "bow": _bow,
}
