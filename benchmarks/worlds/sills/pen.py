"""Polygons in a finer picture, which is averaged down to the one that is seen."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw

FINER = 4  # pixels of the finer picture in one of the seen
STEPS = np.linspace(0, 1, 9)[:, None]  # along a curve
Points = np.ndarray  # float (point, 2): x to the right, y downwards, in pixels as seen
Colour = Sequence[float] | np.ndarray  # red, green and blue, 0 to 1


class Pen:
    """Draw on a picture whose sides are `FINER` times as long as they are seen."""

    def __init__(self, image: Image.Image) -> None:
        self._draw = ImageDraw.Draw(image, "RGBA")

    def polygon(self, points: ArrayLike, colour: Colour, cover: float = 1.0) -> None:
        """An area within corners."""
        corners = [tuple(corner) for corner in FINER * np.asarray(points, float)]
        self._draw.polygon(corners, fill=_bytes(colour, cover))

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        colour: Colour,
        cover: float = 1.0,
    ) -> None:
        """An upright rectangle."""
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        self.polygon(np.array(corners), colour, cover)

    def oval(
        self,
        middle: Sequence[float] | np.ndarray,
        half: Sequence[float] | np.ndarray,
        colour: Colour,
        cover: float = 1.0,
    ) -> None:
        """An ellipse along the sides of the picture."""
        x, y = middle
        wide, high = half
        ends = [FINER * end for end in (x - wide, y - high, x + wide, y + high)]
        self._draw.ellipse(ends, fill=_bytes(colour, cover))

    def line(
        self,
        points: ArrayLike,
        wide: float,
        colour: Colour,
        cover: float = 1.0,
    ) -> None:
        """A line of one width through points."""
        corners = [tuple(corner) for corner in FINER * np.asarray(points, float)]
        fill = _bytes(colour, cover)
        self._draw.line(corners, fill=fill, width=round(FINER * wide), joint="curve")


def curve(start: Points, middle: Points, end: Points) -> Points:
    """A quadratic Bezier curve."""
    first = start + STEPS * (middle - start)
    second = middle + STEPS * (end - middle)
    return first + STEPS * (second - first)


def blade(along: Points, wide: float) -> Points:
    """Corners of a leaf along a curve: widest in its lower half, and pointed."""
    ahead = np.gradient(along, axis=0)
    aside = ahead[:, ::-1] * (1, -1)
    aside = aside / np.linalg.norm(aside, axis=1, keepdims=True)
    half = wide / 2 * np.sqrt(1 - STEPS**2) * (0.6 + 0.8 * STEPS)
    return np.concatenate([along + half * aside, (along - half * aside)[::-1]])


def _bytes(colour: Colour, cover: float) -> tuple[int, ...]:
    parts = np.clip((*colour, cover), 0, 1)
    return tuple(np.rint(255 * parts).astype(int).tolist())
