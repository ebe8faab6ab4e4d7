"""Solids of plane faces, within the unit sphere: x to the right, y up, z to the front."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, product
from math import tau

import numpy as np
from jaxtyping import Float

Points = Float[np.ndarray, "corner 3"]
ROUND = 20  # corners of a circle


@dataclass(frozen=True, eq=False)
class Part:
    """A convex body: faces as rows of corners, and each face's normal to the outside."""

    faces: tuple[Points, ...]
    normals: Float[np.ndarray, "face 3"]
    middle: Float[np.ndarray, " 3"]


@cache
def solid(name: str) -> tuple[Part, ...]:
    """The convex bodies that an object is made of."""
    return tuple(_SOLIDS[name]())


def _part(faces: Sequence[Points]) -> Part:
    corners = np.concatenate(faces)
    middle = (corners.max(axis=0) + corners.min(axis=0)) / 2
    normals = []
    for face in faces:
        normal = np.cross(face[1] - face[0], face[2] - face[1])
        normal /= np.linalg.norm(normal)
        outwards = face.mean(axis=0) - middle
        # a convex body lies behind each of its faces, however the corners are ordered
        if normal @ outwards <= 0:
            normal = -normal
        normals.append(normal)
    return Part(tuple(faces), np.stack(normals), middle)


def _box(low: Sequence[float], high: Sequence[float]) -> Part:
    ends = zip(low, high, strict=True)
    corners = np.array(list(product(*ends))).reshape(2, 2, 2, 3)
    faces = []
    for axis in range(3):
        for face in corners.swapaxes(0, axis):
            # around the face, for two corners after each other share an edge
            around = face.reshape(4, 3)[[0, 1, 3, 2]]
            faces.append(around)
    return _part(faces)


def _ring(corners: int, radius: float, height: float) -> Points:
    """A level polygon; one of its sides, not a corner, is in front."""
    angle = tau * (np.arange(corners) + 0.5) / corners
    level = np.full(corners, height)
    right = radius * np.sin(angle)
    front = radius * np.cos(angle)
    return np.stack([right, level, front], axis=1)


def _tower(corners: int, *levels: tuple[float, float]) -> list[Part]:
    """The convex hull of rings, given as (radius, height) from the lowest; one may be a point."""
    rings = [_ring(corners, radius, height) for radius, height in levels]
    faces = []
    if levels[0][0] > 0:
        faces.append(rings[0])
    if levels[-1][0] > 0:
        faces.append(rings[-1])
    for low, high in pairwise(rings):
        for index in range(corners):
            after = (index + 1) % corners
            face = np.stack([low[index], low[after], high[after], high[index]])
            # of a ring that is a point, two corners are one
            repeats = np.isclose(face, np.roll(face, 1, axis=0)).all(axis=1)
            faces.append(face[~repeats])
    return [_part(faces)]


def _ball() -> list[Part]:
    up = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)
    levels = 0.9 * np.stack([np.cos(up), np.sin(up)], axis=1)
    levels[[0, -1], 0] = 0.0  # the poles are points, exactly
    return _tower(ROUND, *levels.tolist())


def _blocks(places: Sequence[tuple[int, int, int]], side: float) -> list[Part]:
    """Equal cubes on a lattice about the origin: equal bodies are drawn in the right order."""
    centres = np.array(places, float) * side
    centres -= (centres.max(axis=0) + centres.min(axis=0)) / 2
    half = side / 2
    blocks = []
    for centre in centres:
        low = centre - half
        high = centre + half
        blocks.append(_box(low.tolist(), high.tolist()))
    return blocks


_ARMS = [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]
_STEPS = [
    (x, y, z)
    for x, y in ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2))
    for z in (0, 1)
]
_SOLIDS: dict[str, Callable[[], list[Part]]] = {
    "cube": partial(_blocks, [(0, 0, 0)], 1.16),
    "cylinder": partial(_tower, ROUND, (0.6, -0.75), (0.6, 0.75)),
    "pyramid": partial(_tower, 4, (0.9, -0.6), (0.0, 0.9)),
    "cone": partial(_tower, ROUND, (0.75, -0.6), (0.0, 0.95)),
    "ball": _ball,
    "diamond": partial(_tower, 4, (0.0, -0.95), (0.75, 0.0), (0.0, 0.95)),
    "cross": partial(_blocks, _ARMS, 0.6),
    "stairs": partial(_blocks, _STEPS, 0.48),
}
