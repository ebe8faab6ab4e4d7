"""Where pixels lie, and how a colour is laid over what is there; worlds 14 and after draw on it.

Places are x to the right and y downwards from the middle of the picture, in pixels.
"""

from dataclasses import dataclass

import numpy as np

Field = np.ndarray  # float (row, col)
Light = np.ndarray  # float (row, col, 3), 0 to 1
Colour = np.ndarray  # float (3,)


@dataclass(frozen=True)
class Grid:
    """What place each pixel shows."""

    x: Field
    y: Field

    @classmethod
    def whole(cls, side: int) -> "Grid":
        """A square picture as the camera has it."""
        along = np.arange(side, dtype=np.float32) + 0.5 - side / 2
        x, y = np.meshgrid(along, along)
        return cls(x, y)

    def around(self, x: float, y: float) -> "Grid":
        """The same places, from another middle."""
        return Grid(self.x - x, self.y - y)

    def turned(self, angle: float, zoom: float = 1.0) -> "Grid":
        """The places that are seen where the view is turned and nearer."""
        cos, sin = np.cos(angle) / zoom, np.sin(angle) / zoom
        return Grid(self.x * cos + self.y * sin, self.y * cos - self.x * sin)

    def nearer(self, zoom: float) -> "Grid":
        """The places that are seen from nearer."""
        return Grid(self.x / zoom, self.y / zoom)


def paint(light: Light, cover: Field, colour: Colour | tuple | Light) -> Light:
    """A colour over what is there, as far as each pixel is covered."""
    return light + cover[..., None] * (np.asarray(colour, np.float32) - light)


def cover_of(depth: Field) -> Field:
    """From 0 to 1 over one pixel, of places that are so deep inside, in pixels."""
    return (depth + 0.5).clip(0, 1)
