"""Solids of plane faces, within the unit sphere: x to the right, y up, z to the front."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from math import tau

import numpy as np
from jaxtyping import Float

from cuescope_scenes.numbers import read_numbers

Points = Float[np.ndarray, "corner 3"]
Corner = Float[np.ndarray, " 3"]
ROUND = 20  # corners of a ball's circles
NUMBERS = read_numbers("camera/solids.toml")


@dataclass(frozen=True, eq=False)
class Part:
    """A convex body: faces as rows of corners, and each face's normal to the outside."""

    faces: tuple[Points, ...]
    normals: Float[np.ndarray, "face 3"]
    middle: Corner


@cache
def solid(name: str) -> tuple[Part, ...]:
    """The convex bodies that an object is made of."""
    if name == "ball":
        return (_ball(),)
    if name in NUMBERS["towers"]:
        return (_tower(**NUMBERS["towers"][name]),)
    return tuple(_blocks(**NUMBERS["blocks"][name]))


def _part(faces: Sequence[Points]) -> Part:
    corners = np.concatenate(faces)
    middle = _middle(corners)
    normals = []
    for face in faces:
        first, second, third = face[:3]
        normal = np.cross(second - first, third - second)
        normal /= np.linalg.norm(normal)
        outwards = face.mean(axis=0) - middle
        # a convex body lies behind each of its faces, however the corners are ordered
        if normal @ outwards <= 0:
            normal = -normal
        normals.append(normal)
    return Part(tuple(faces), np.stack(normals), middle)


def _middle(points: Points) -> Corner:
    """Of their bounding box."""
    ends = points.max(axis=0) + points.min(axis=0)
    return np.asarray(ends / 2)


def _box(low: Corner, high: Corner) -> Part:
    ends = np.stack([low, high], axis=1)
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


def _tower(corners: int, rings: Sequence[Sequence[float]]) -> Part:
    """The convex hull of level polygons, given as in `solids.toml`."""
    polygons = [_ring(corners, *ring) for ring in rings]
    faces = []
    for end in (0, -1):
        radius, _ = rings[end]
        # a ring that is a point has no face
        if radius > 0:
            faces.append(polygons[end])
    for low, high in pairwise(polygons):
        for index in range(corners):
            after = (index + 1) % corners
            face = np.stack([low[index], low[after], high[after], high[index]])
            # of a ring that is a point, two corners are one
            before = np.roll(face, 1, axis=0)
            repeats = np.isclose(face, before).all(axis=1)
            faces.append(face[~repeats])
    return _part(faces)


def _ball() -> Part:
    up = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)
    radius = np.cos(up)
    radius[[0, -1]] = 0.0  # the poles are points, exactly
    rings = 0.9 * np.stack([radius, np.sin(up)], axis=1)
    return _tower(ROUND, rings.tolist())


def _blocks(side: float, places: Sequence[Sequence[int]]) -> list[Part]:
    """Equal cubes on a lattice about the origin: equal bodies are drawn in the right order."""
    centres = np.array(places, float) * side
    centres -= _middle(centres)
    half = side / 2
    return [_box(centre - half, centre + half) for centre in centres]
