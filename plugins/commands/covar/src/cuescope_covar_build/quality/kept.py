"""Was the object kept: its pixels, its colours, its place and its size."""

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.quality.cases import (
    Mask,
    Pixels,
    View,
    channel_max,
    channel_sum,
    grow,
    smooth,
)

SAME = 2.0  # grey levels: rounding, where the pixels must be equal
LEVEL, SLOPE = 10.0, 0.6  # grey levels, and share of the local range: what resampling changes
BLEND = (1.0, 0.6, 0.3, 0.0, 0.0)  # share of the background, 0 to 4.5 px inside of the edge
LEAST = 12  # pixels of an object that are compared at all


def object_scores(view: View) -> dict[str, float | None]:
    """Amounts of damage to the object; 0 is none."""
    moved, mask = view.moved_source, view.moved_mask
    scores: dict[str, float | None] = {"object_size": size_error(view)}
    if moved is None or mask is None:
        scores["object_colours"] = colour_distance(
            view.source[view.source_mask], view.edited[view.edited_mask]
        )
        return scores
    scores["object_place"] = misplaced_share(mask, view.edited_mask)
    both = mask & view.edited_mask
    if int(both.sum()) < LEAST:  # too small, or elsewhere: then its place tells
        return scores
    change = change_inside(view, moved, both)
    allowed = SAME if view.exact else LEVEL + SLOPE * local_range(moved)
    scores["object_pixels"] = float((channel_max(np.abs(change)) > allowed)[both].mean())
    scores["object_colour"] = largest_shift(change, both)
    return scores


def change_inside(view: View, moved: Pixels, inside: Mask) -> Pixels:
    """By how much the object's colours differ, grey levels, blending at its edge forgiven.

    An editor may mix the background into the object's edge, less with each pixel further inside
    (`BLEND`); a change towards the colour of the background beside it counts only beyond that.
    """
    edited = view.edited
    if not view.exact:  # resampling sharpens or softens
        edited, moved = smooth(edited, 0.7, inside), smooth(moved, 0.7, inside)
    change = edited - moved
    if view.exact:
        return np.asarray(change * inside[..., None])
    depth = cv2.distanceTransform(np.pad(view.edited_mask, 1).astype(np.uint8), cv2.DIST_L2, 3)
    share = np.interp(depth[1:-1, 1:-1], (0, 1, 2, 3, 4.5), BLEND).astype(np.float32)
    beside = smooth(view.edited, 4.0, grow(view.edited_mask, 6) & ~grow(view.edited_mask, 1))
    way = beside - moved
    mixed = channel_sum(change * way) / np.maximum(channel_sum(way**2), 1.0)
    return np.asarray((change - mixed.clip(0, share)[..., None] * way) * inside[..., None])


def local_range(pixels: Pixels) -> Float[np.ndarray, "row col"]:
    """Largest minus smallest value of the 3 x 3 neighbourhood, the largest of the channels."""
    window = np.ones((3, 3), np.uint8)
    return channel_max(cv2.dilate(pixels, window) - cv2.erode(pixels, window))


def largest_shift(change: Pixels, inside: Mask) -> float:
    """The largest shift of the mean colour of a part of the object, grey levels.

    A part is a Gaussian window of about a tenth of the object's side: a faint stain that no single
    pixel shows.
    """
    sigma = max(1.0, 0.06 * float(np.sqrt(inside.sum())))
    return float(np.abs(smooth(change, sigma, inside)[inside]).max())


def colour_distance(source: np.ndarray, edited: np.ndarray) -> float:
    """Mean distance of the colours' quantiles, (pixel, 3) each, grey levels.

    The Wasserstein distance of each channel and of the three differences of channels, the largest.
    """
    level = np.linspace(0.02, 0.98, 33)
    channels = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -1, 0), (0, 1, -1), (1, 0, -1)]).T
    before, after = (np.quantile(pixels @ channels, level, axis=0) for pixels in (source, edited))
    return float(np.abs(before - after).mean(axis=0).max())


def misplaced_share(expected: Mask, found: Mask) -> float:
    """1 - Dice of where the object should be and where it is, a pixel's width forgiven."""
    total = int(expected.sum()) + int(found.sum())
    if not expected.any():
        return 1.0
    agreeing = int((grow(expected, 1) & found).sum()) + int((expected & grow(found, 1)).sum())
    return 1 - agreeing / total


def size_error(view: View) -> float:
    """How far the object's side is from what was asked, in doublings: 1 is half or twice as large.

    With a known geometry the part of the object that is cut off by the frame counts as asked.
    """
    asked = view.case.scale**2 * int(view.source_mask.sum()) * _resolution(view) ** 2
    if view.moved_mask is not None:
        asked = int(view.moved_mask.sum())
    found = int(view.edited_mask.sum())
    return abs(0.5 * float(np.log2((found + 4) / (asked + 4))))  # 4 px: edges of a tiny object


def _resolution(view: View) -> float:
    """How much larger the compared copy of the edited image is than that of the source."""
    return view.edited_factor / view.source_factor
