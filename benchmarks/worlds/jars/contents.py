"""What fills a jar: a heap of grains, of which the highest is seen at each place.

Their shape tells the label. Places are `around` the glass, as if it were unrolled, and `down` it,
in pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from worlds.canvas import Field

Places = np.ndarray  # float (place,)


@dataclass(frozen=True)
class Grain:
    """Half its length and half its width, how far apart they lie, and how far from its middle
    a place is, where 1 is its rim; both parts are in halves. How a grain is turned varies.
    """

    long: float
    wide: float
    pitch: float
    far: Callable[[Field, Field], Field]
    varies: float = np.pi / 2  # to both sides of upright


@dataclass(frozen=True)
class Heap:
    """What is seen of a heap at each place: which grain, how bright, and gaps as dark."""

    grain: np.ndarray  # int (place,)
    tone: Places


def heap(
    rng: np.random.Generator, grain: Grain, size: float, around: Places, down: Places
) -> Heap:
    """Grains at places that are shaken a bit, each turned and deep at random."""
    middles = _shaken(rng, grain.pitch * size, around, down)
    count = len(middles)
    turns = np.pi / 2 + grain.varies * rng.uniform(-1, 1, (count, 1))
    cos, sin = np.cos(turns).astype(np.float32), np.sin(turns).astype(np.float32)
    x = around - middles[:, :1]
    y = down - middles[:, 1:]
    sizes = size * rng.uniform(0.9, 1.1, (count, 1)).astype(np.float32)
    along = (x * cos + y * sin) / (grain.long * sizes)
    aside = (y * cos - x * sin) / (grain.wide * sizes)
    far = grain.far(along, aside)
    height = 1 - far + rng.uniform(0, 0.9, (count, 1)).astype(np.float32)
    height[far > 1] = -1
    seen = height.argmax(axis=0)
    place = np.arange(len(around))
    turned = cos[seen, 0], sin[seen, 0]
    own = along[seen, place], aside[seen, place]
    tone = _shaded(turned, own, far[seen, place])
    return Heap(seen, np.where(height[seen, place] < 0, 0.1, tone))


def _shaken(
    rng: np.random.Generator, pitch: float, around: Places, down: Places
) -> np.ndarray:
    """Middles of grains over all places, float (grain, 2)."""
    cols = np.arange(around.min() - pitch, around.max() + pitch, pitch)
    rows = np.arange(down.min() - pitch, down.max() + pitch, pitch)
    middles = np.stack(np.meshgrid(cols, rows), axis=-1)
    middles[1::2, :, 0] += pitch / 2
    middles = middles.reshape(-1, 2)
    shaken = middles + rng.normal(0, 0.2 * pitch, middles.shape)
    return shaken.astype(np.float32)


def _shaded(turned: tuple, own: tuple, far: Places) -> Places:
    """Brighter on the slopes that look up and to the left, darker towards the rim."""
    (cos, sin), (along, aside) = turned, own
    right = along * cos - aside * sin
    below = along * sin + aside * cos
    return 1.15 - 0.6 * far**2 - 0.25 * right - 0.35 * below


def _round(along: Field, aside: Field) -> Field:
    return np.hypot(along, aside)


def _bent(along: Field, aside: Field) -> Field:
    return np.hypot(along, aside + 0.75 * along**2 - 0.3)


def _tube(along: Field, aside: Field) -> Field:
    return np.maximum(abs(along), aside**2)


GRAINS = {
    "peas": Grain(2.7, 2.7, 4.2, _round),
    "beans": Grain(4.3, 2.5, 5.0, _bent),
    "penne": Grain(8.0, 1.7, 5.2, _tube),
    "spaghetti": Grain(15.0, 1.2, 3.6, _tube, varies=0.12),
    "rice": Grain(2.8, 0.9, 2.7, _round),
}
