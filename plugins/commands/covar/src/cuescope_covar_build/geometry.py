"""Geometry of a picture and the mask of its object, by OpenCV; masks by nearest neighbour.

A flip or a shift moves pixels and changes none. A rotation, a crop and a shrinking resample the
picture once.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Bool, UInt8

Pixels = UInt8[np.ndarray, "row col 3"]
Mask = Bool[np.ndarray, "row col"]


@dataclass(frozen=True, eq=False)
class Moved:
    """A picture of the same size as before, with its mask; `known` is what came from the picture.

    The rest is the border that an editor is to fill. It holds the picture's mirror image or its
    edge until then. `matrix` (2, 3) says where the picture's pixel (column, row) lies now; the
    middles of pixels are whole numbers.
    """

    image: Pixels
    mask: Mask
    known: Mask
    matrix: np.ndarray


def flip(image: Pixels, mask: Mask, *, vertical: bool = False) -> Moved:
    """Left and right exchanged, or top and bottom."""
    rows, cols = mask.shape
    axis = 0 if vertical else 1
    turned, turned_mask = (np.ascontiguousarray(np.flip(each, axis)) for each in (image, mask))
    matrix = [[1, 0, 0], [0, -1, rows - 1]] if vertical else [[-1, 0, cols - 1], [0, 1, 0]]
    return Moved(turned, turned_mask, np.ones(mask.shape, bool), np.array(matrix, float))


def translate(image: Pixels, mask: Mask, right: int, down: int) -> Moved:
    """Shifted by whole pixels."""
    matrix = np.array([[1, 0, right], [0, 1, down]], float)
    return _warped(image, mask, matrix, cv2.INTER_NEAREST)


def rotate(image: Pixels, mask: Mask, degrees: float) -> Moved:
    """Turned about the middle, counter-clockwise."""
    rows, cols = mask.shape
    matrix = cv2.getRotationMatrix2D(((cols - 1) / 2, (rows - 1) / 2), degrees, 1.0)
    return _warped(image, mask, matrix, cv2.INTER_LINEAR)


def crop(image: Pixels, mask: Mask, area: float) -> Moved:
    """The middle part with this share of the area, as large as the whole again."""
    rows, cols = mask.shape
    high, wide = (max(1, round(side * area**0.5)) for side in (rows, cols))
    top, left = (rows - high) // 2, (cols - wide) // 2
    part = slice(top, top + high), slice(left, left + wide)
    size = (cols, rows)
    return Moved(
        cv2.resize(np.ascontiguousarray(image[part]), size, interpolation=cv2.INTER_CUBIC),
        _resized(mask[part], size),
        np.ones(mask.shape, bool),
        _zoom(cols / wide, rows / high, -left, -top),
    )


def shrink(image: Pixels, mask: Mask, scale: float) -> Moved:
    """`scale` times smaller on each side, with the middle of the object's box in the middle."""
    rows, cols = mask.shape
    size = (max(1, round(cols / scale)), max(1, round(rows / scale)))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    small_mask, zoom = _resized(mask, size), _zoom(size[0] / cols, size[1] / rows, 0, 0)
    across, along = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    top = round(rows / 2 - (across[0] + across[-1] + 1) / 2 * size[1] / rows)
    left = round(cols / 2 - (along[0] + along[-1] + 1) / 2 * size[0] / cols)
    place = np.array([[1, 0, left], [0, 1, top]], float)
    canvas = (cols, rows)
    inside = np.ones(small_mask.shape, np.uint8)
    how, edge = cv2.INTER_NEAREST, cv2.BORDER_REPLICATE
    return Moved(
        np.asarray(cv2.warpAffine(small, place, canvas, flags=how, borderMode=edge)),
        _moved(small_mask, place, canvas),
        np.asarray(cv2.warpAffine(inside, place, canvas, flags=how)) > 0,
        place @ np.vstack([zoom, (0, 0, 1)]),
    )


def _warped(image: Pixels, mask: Mask, matrix: np.ndarray, how: int) -> Moved:
    size = (mask.shape[1], mask.shape[0])
    whole, mirror = np.full(mask.shape, 255, np.uint8), cv2.BORDER_REFLECT_101
    known = np.asarray(cv2.warpAffine(whole, matrix, size, flags=how)) == 255
    return Moved(
        np.asarray(cv2.warpAffine(image, matrix, size, flags=how, borderMode=mirror)),
        _moved(mask, matrix, size) & known,
        known,
        matrix,
    )


def _moved(mask: Mask, matrix: np.ndarray, size: tuple[int, int]) -> Mask:
    grey = mask.astype(np.uint8)
    return np.asarray(cv2.warpAffine(grey, matrix, size, flags=cv2.INTER_NEAREST)) > 0


def _zoom(wide: float, high: float, right: float, down: float) -> np.ndarray:
    """Moved, then larger by these factors about the corner of the corner pixel."""
    return np.array(
        [[wide, 0, wide * (right + 0.5) - 0.5], [0, high, high * (down + 0.5) - 0.5]], float
    )


def _resized(mask: Mask, size: tuple[int, int]) -> Mask:
    grey = np.ascontiguousarray(mask, np.uint8)
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_NEAREST_EXACT)) > 0
