"""Clouds of points that are splatted: of each pixel the nearest point that covers it is seen.

The scene is wider than the picture, so that a camera may be turned or shaken before it.
"""

from dataclasses import dataclass

import numpy as np

from cuescope_sdk import generator
from worlds.canvas import Colour, Field, Grid, Light
from worlds.design import Facts

SIDE = 64  # pixels of a picture
WIDE = 80  # pixels of a scene
FINE = 2  # of each side of a pixel, samples of the scene
SPAN = WIDE * FINE
LARGEST = 5  # samples from the middle of a point to its rim
Rng = np.random.Generator


def rng_of(facts: Facts, part: str) -> Rng:
    """Each part of a picture has its own, so that no cue moves another part."""
    return generator(facts.seed, "trees", part)


def colour(red: float, green: float, blue: float) -> Colour:
    """From 0 to 1."""
    return np.array((red, green, blue), np.float32)


def fine_grid() -> Grid:
    """Where the samples of a scene lie, from the middle, in pixels."""
    grid = Grid.whole(SPAN)
    return Grid(grid.x / FINE, grid.y / FINE)


def finer(light: Light) -> Light:
    """A scene of whole pixels, as samples."""
    return np.asarray(light.repeat(FINE, axis=0).repeat(FINE, axis=1), np.float32)


def coarse(light: Light) -> Light:
    """A mean of the samples of each pixel."""
    across = len(light) // FINE
    parts = light.reshape(across, FINE, across, FINE, 3)
    return np.asarray(parts.mean(axis=(1, 3)), np.float32)


@dataclass(frozen=True)
class Points:
    """Round and flat points: where, how near, and how large, in pixels of the scene."""

    x: Field
    y: Field
    near: Field
    radius: Field
    hue: Light  # float (point, 3)

    @classmethod
    def joined(cls, parts: list["Points"]) -> "Points":
        """One cloud of many."""
        fields = ("x", "y", "near", "radius", "hue")
        return cls(*(np.concatenate([getattr(p, f) for p in parts]) for f in fields))


def splat(light: Light, points: Points, haze: float = 0.0) -> Light:
    """Points over what is there; through haze some of that is seen."""
    order = np.argsort(points.near, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    row = np.floor((points.y + WIDE / 2) * FINE).astype(np.int64)
    column = np.floor((points.x + WIDE / 2) * FINE).astype(np.int64)
    radius = np.round(points.radius * FINE).clip(1, LARGEST)
    nearest = np.full(SPAN * SPAN, -1)
    for size in np.unique(radius):
        ids = np.flatnonzero(radius == size)
        down, across = _disc(int(size))
        rows, columns = row[ids, None] + down, column[ids, None] + across
        inside = (rows >= 0) & (rows < SPAN) & (columns >= 0) & (columns < SPAN)
        ranks = np.broadcast_to(rank[ids, None], rows.shape)
        np.maximum.at(nearest, (rows * SPAN + columns)[inside], ranks[inside])
    seen = np.flatnonzero(nearest >= 0)
    light = light.reshape(-1, 3).copy()
    hue = points.hue[order[nearest[seen]]]
    light[seen] += (1 - haze) * (hue - light[seen])
    return light.reshape(SPAN, SPAN, 3)


def _disc(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Steps downwards and to the right from the middle of a point to all it covers."""
    along = np.arange(1 - size, size)
    across, down = np.meshgrid(along, along)
    inside = across**2 + down**2 < (size - 0.4) ** 2
    return down[inside], across[inside]
