"""Geometry of a picture and the mask of its object, by OpenCV; masks by nearest neighbour.

A flip or a shift moves pixels and changes none. A rotation, a crop and a shrinking resample the
picture once.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Bool, Float, UInt8

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]
Matrix = Float[np.ndarray, "2 3"]


@dataclass(frozen=True, eq=False)
class Moved:
    """A picture of the same size as before, with its mask; `known` is what came from the picture.

    The rest is the border that an editor is to fill. It holds the picture's mirror image or its
    edge until then.
    """

    image: Pixels
    mask: Mask
    known: Mask


def flip(image: Pixels, mask: Mask, *, vertical: bool = False) -> Moved:
    """Left and right exchanged, or top and bottom."""
    axis = 0 if vertical else 1
    # a copy: OpenCV takes no array that runs backwards
    image = np.flip(image, axis).copy()
    mask = np.flip(mask, axis).copy()
    return Moved(image, mask, np.ones_like(mask))


def translate(image: Pixels, mask: Mask, right: int, down: int) -> Moved:
    """Shifted by whole pixels."""
    return _warp(image, mask, _shift(right, down), cv2.INTER_NEAREST)


def rotate(image: Pixels, mask: Mask, degrees: float) -> Moved:
    """Turned about the middle, counter-clockwise."""
    rows, cols = mask.shape
    # between the middles of the outer pixels
    middle = ((cols - 1) / 2, (rows - 1) / 2)
    matrix = cv2.getRotationMatrix2D(middle, degrees, 1.0)
    return _warp(image, mask, matrix, cv2.INTER_LINEAR)


def crop(image: Pixels, mask: Mask, area: float) -> Moved:
    """The middle part with this share of the area, as large as the whole again."""
    rows, cols = mask.shape
    # a share of the area is its root on each side
    height = max(1, round(rows * area**0.5))
    width = max(1, round(cols * area**0.5))
    top = (rows - height) // 2
    left = (cols - width) // 2
    part = (slice(top, top + height), slice(left, left + width))
    return Moved(
        cv2.resize(image[part].copy(), (cols, rows), interpolation=cv2.INTER_CUBIC),
        resize_mask(mask[part], (cols, rows)),
        np.ones(mask.shape, bool),
    )


def shrink(image: Pixels, mask: Mask, scale: float) -> Moved:
    """`scale` times smaller on each side, with the middle of the object's box in the middle."""
    rows, cols = mask.shape
    width = max(1, round(cols / scale))
    height = max(1, round(rows / scale))
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    small_mask = resize_mask(mask, (width, height))
    box_left, box_top, box_width, box_height = cv2.boundingRect(mask.astype(np.uint8))
    middle_col = box_left + box_width / 2
    middle_row = box_top + box_height / 2
    left = round(cols / 2 - middle_col * width / cols)
    top = round(rows / 2 - middle_row * height / rows)
    shift = _shift(left, top)
    return Moved(
        _move(small, shift, mask, border=cv2.BORDER_REPLICATE),
        _move(small_mask, shift, mask) > 0,
        _move(np.ones_like(small_mask), shift, mask) > 0,
    )


def _shift(right: int, down: int) -> Matrix:
    return np.array([[1, 0, right], [0, 1, down]], float)


def _warp(
    image: Pixels,
    mask: Mask,
    matrix: Matrix,
    how: int,
) -> Moved:
    whole = np.full(mask.shape, 255, np.uint8)
    # a pixel that is mixed with the border is not known
    known = _move(whole, matrix, mask, flags=how) == 255
    return Moved(
        _move(image, matrix, mask, flags=how, border=cv2.BORDER_REFLECT_101),
        # the object's pixels there are mixed with the border, so an editor fills them
        (_move(mask, matrix, mask) > 0) & known,
        known,
    )


def _move(
    pixels: np.ndarray,
    matrix: Matrix,
    canvas: Mask,
    flags: int = cv2.INTER_NEAREST,
    border: int = cv2.BORDER_CONSTANT,
) -> np.ndarray:
    """Pixels under a geometry, on a canvas of this size."""
    rows, cols = canvas.shape
    levels = pixels.astype(np.uint8)
    return cv2.warpAffine(levels, matrix, (cols, rows), flags=flags, borderMode=border)


def resize_mask(mask: Mask, size: tuple[int, int]) -> Mask:
    """At this (width, height)."""
    levels = mask.astype(np.uint8)
    # EXACT counts from the middle of a pixel, as the picture is resized
    return cv2.resize(levels, size, interpolation=cv2.INTER_NEAREST_EXACT).astype(bool)
