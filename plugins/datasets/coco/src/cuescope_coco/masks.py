"""COCO's outlines, polygons and run lengths, as masks."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from PIL import Image

_OFFSET = 48  # the code of '0' (rleToString of COCO's API; Lin et al., 2014)
_BITS = 5  # of a number in each letter (rleToString of COCO's API; Lin et al., 2014)
_MOST_BITS = 60
_CELLS = 2**22  # of edges and rows that are compared at once


def polygon_mask(
    points: Float[np.ndarray, "point 2"],
    height: int,
    width: int,
) -> Bool[np.ndarray, "row col"]:
    """The pixels whose centre lies inside a polygon of (x, y) in pixels, origin top left.

    By the even-odd rule: a line of sight from the left crosses the outline an odd number of times.
    Deviates from COCO's own code, which draws the outline five times as large and so takes in
    some pixels of which less than half is inside.
    """
    ends = np.stack([points, np.roll(points, -1, axis=0)])
    # Upwards whichever way it is drawn, so that neighbours agree on a pixel that an edge touches.
    ends = np.where(ends[0, :, 1:] < ends[1, :, 1:], ends, ends[::-1])
    # modulo 256, which is even: whether a count is odd is all that is asked
    crossed = np.zeros((height, width + 1), np.uint8)
    # a few edges at a time: a polygon may have a million of them
    most = max(1, _CELLS // height)
    for start in range(0, ends.shape[1], most):
        (x0, y0), (x1, y1) = ends[:, start : start + most].transpose(0, 2, 1)
        # Half open, [y0, y1): a corner of two edges that lies level with a centre is crossed once.
        centres = np.arange(height) + 0.5
        edge, row = np.nonzero((y0[:, None] <= centres) != (y1[:, None] <= centres))
        along = (centres[row] - y0[edge]) / (y1 - y0)[edge]
        x = x0[edge] + along * (x1 - x0)[edge]
        # the first centre right of it
        first = np.clip(np.ceil(x - 0.5), 0, width).astype(int)
        # add.at: two edges may cross at one pixel, and both count
        np.add.at(crossed, (row, first), 1)
    inside: np.ndarray = crossed.cumsum(axis=1, dtype=np.uint8)[:, :width] % 2 == 1
    return inside


def counts_mask(
    counts: Int[np.ndarray, " run"],
    height: int,
    width: int,
) -> Bool[np.ndarray, "row col"]:
    """The mask of run lengths: outside and inside in turn, down one column after the other."""
    inside = np.arange(len(counts)) % 2 == 1
    return np.repeat(inside, counts).reshape(width, height).T


def decoded_counts(text: str) -> list[int]:
    """The run lengths that COCO writes as text.

    Six bits a character, of which the highest says that more follow, and the fifth of the last
    one is the sign; from the fourth number on, each is the difference to the one before last.
    Raises ValueError for text that ends within a number, or holds other characters.
    """
    counts: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - _OFFSET
        if not 0 <= bits < 64:
            raise ValueError(f"{character!r} in run lengths")
        # such numbers grow with each letter, and the time with their square
        if shift > _MOST_BITS:
            raise ValueError("a number that is longer than any image")
        value |= (bits & 31) << shift
        shift += _BITS
        if bits & 32:
            continue
        # a negative number, in two's complement of the bits that were read
        if bits & 16:
            value -= 1 << shift
        if len(counts) > 2:
            value += counts[-2]
        counts.append(value)
        value = shift = 0
    if shift:
        raise ValueError("run lengths that end within a number")
    return counts


def union(
    outlines: Sequence[np.ndarray],
    height: int,
    width: int,
) -> Bool[np.ndarray, "row col"]:
    """The mask of several outlines: polygons (point, 2), or run lengths (run)."""
    mask = np.zeros((height, width), bool)
    for outline in outlines:
        draw = polygon_mask if outline.ndim == 2 else counts_mask
        mask |= draw(outline, height, width)
    return mask


def mask_image(outlines: Sequence[np.ndarray], height: int, width: int) -> Image.Image:
    """The union of the outlines, white on black, RGB."""
    white = union(outlines, height, width).astype(np.uint8) * 255
    return Image.fromarray(white).convert("RGB")
