"""Images whose most important pixels are deleted or inserted, made when they are loaded."""

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from jaxtyping import Float, UInt, UInt8
from PIL import Image

from cuescope_core.digest import digest
from cuescope_core.seeds import generator
from cuescope_core.types import Frame
from cuescope_sdk.maths._maps import rank_pixels, upsample

Direction = Literal["deletion", "insertion"]
Fill = Literal["noise", "black"]
Pixels = UInt8[np.ndarray, "row col 3"]
REMEMBERED_GROUNDS = 16  # a batch's worth of images, each with its fill


@dataclass(frozen=True, eq=False)
class Ranking:
    """Each pixel's `rank` (row, col), 0 the most important one; `key` digests them."""

    rank: UInt[np.ndarray, "row col"]
    key: str

    @classmethod
    def of(
        cls,
        importance: Float[np.ndarray, "map_row map_col"],
        size: tuple[int, int],
        rng: np.random.Generator,
    ) -> "Ranking":
        """From a map of any size, for an image of (row, col) pixels; `rng` orders equals."""
        order = rank_pixels(upsample(importance, size), rng)
        # 16 bits for the canvas of most models: it is digested and kept
        rank = np.empty(order.size, dtype=np.min_scalar_type(order.size))
        rank[order] = np.arange(order.size)
        return cls(rank.reshape(size), digest(rank))


@dataclass(frozen=True)
class FilledImage:
    """An image, and the fill that stands where it does not show: equal keys, equal pixels."""

    key: str
    frame: Frame = field(compare=False)
    fill: Fill
    seed: int

    @classmethod
    def of(cls, frame: Frame, fill: Fill, seed: int) -> "FilledImage":
        """`seed` is that of the noise; the same image has the same noise at each step."""
        return cls(
            digest(frame.key, fill, seed if fill == "noise" else None),
            frame,
            fill,
            seed,
        )


def perturb_image(
    ground: FilledImage,
    ranking: Ranking,
    direction: Direction,
    count: int,
) -> Frame:
    """The image with its `count` most important pixels deleted, or with no others inserted.

    What has no pixel deleted is the image itself, and what has none left does not depend on the
    ranking: such a trial is asked once for every explainer.
    """
    shown = count if direction == "insertion" else ranking.rank.size - count
    if shown == ranking.rank.size:
        return ground.frame
    if shown == 0:
        return Frame(ground.key, partial(_fill_image, ground))
    key = digest(ground.key, ranking.key, direction, count)
    return Frame(key, partial(_mix, ground, ranking.rank, direction, count))


def _fill_image(ground: FilledImage) -> Image.Image:
    return _layers(ground)[1].copy()


def _mix(
    ground: FilledImage,
    rank: UInt[np.ndarray, "row col"],
    direction: Direction,
    count: int,
) -> Image.Image:
    image, fill = _layers(ground)
    is_first = Image.fromarray(rank < count)
    if direction == "deletion":
        return Image.composite(fill, image, is_first)
    return Image.composite(image, fill, is_first)


@lru_cache(maxsize=REMEMBERED_GROUNDS)
def _layers(ground: FilledImage) -> tuple[Image.Image, Image.Image]:
    """The image and its fill, both RGB: made once for the many steps that they are mixed in."""
    image = ground.frame.load()
    # not by step: noise that flickers would add a change of its own
    noise = generator(ground.seed, "faithfulness noise", ground.frame.key)
    pixels = fill_pixels(np.asarray(image), ground.fill, noise)
    return image, Image.fromarray(pixels)


def fill_pixels(pixels: Pixels, fill: Fill, rng: np.random.Generator) -> Pixels:
    """Noise: each value uniform in 0..255."""
    if fill == "black":
        return np.zeros_like(pixels)
    # what CCI deletes into; seeded here, so that two runs give one curve
    return rng.integers(0, 256, pixels.shape, dtype=np.uint8)
