"""Was the object kept: its pixels, its colours, its place and its size."""

import cv2
import numpy as np

from cuescope_covar_build.quality.cases import (
    Mask,
    Pixels,
    Plane,
    Scores,
    View,
    beyond_mixing,
    channel_max,
    grow,
    smooth,
)

SAME = 2.0  # grey levels: rounding, where the pixels must be equal
LEVEL = 10.0  # grey levels that resampling changes anywhere
SLOPE = 0.6  # share of the local range that it changes beside
DEPTH = (0, 1, 2, 3, 4.5)  # px inside of the edge
# share of the background that may show at these depths
BLEND = (1.0, 0.6, 0.3, 0.0, 0.0)
LEAST = 12  # pixels of an object that are compared at all
LEVELS = np.linspace(0.02, 0.98, 33)  # quantiles of colours


def object_scores(view: View) -> Scores:
    """Amounts of damage to the object; 0 is none."""
    moved = view.moved_source
    mask = view.moved_mask
    scores: Scores = {"object_size": size_error(view)}
    # another viewpoint: no pixel has its counterpart, only colours can be compared
    if moved is None or mask is None:
        scores["object_colours"] = colour_distance(
            view.source[view.source_mask], view.edited[view.edited_mask]
        )
        return scores
    scores["object_place"] = misplaced_share(mask, view.edited_mask)
    both = mask & view.edited_mask
    if both.sum() < LEAST:  # too small, or elsewhere: then its place tells
        return scores
    change = change_inside(view, moved, both)
    # moved pixels must be equal, resampled ones take values of their neighbours
    allowed = SAME if view.exact else LEVEL + SLOPE * local_range(moved)
    differs = channel_max(np.abs(change)) > allowed
    scores["object_pixels"] = float(differs[both].mean())
    scores["object_colour"] = largest_shift(change, both)
    return scores


def change_inside(view: View, moved: Pixels, inside: Mask) -> Pixels:
    """By how much the object's colours differ, grey levels, blending at its edge forgiven.

    An editor may mix the background into the object's edge, less with each pixel further inside
    (`BLEND`); a change towards the colour of the background beside it counts only beyond that.
    """
    if view.exact:
        return np.where(inside[..., None], view.edited - moved, 0)
    # resampling sharpens or softens
    moved = smooth(moved, 0.7, inside)
    change = smooth(view.edited, 0.7, inside) - moved
    padded = np.pad(view.edited_mask, 1).astype(np.uint8)
    depth = cv2.distanceTransform(padded, cv2.DIST_L2, 3)[1:-1, 1:-1]
    most = np.interp(depth, DEPTH, BLEND).astype(np.float32)
    # from 1 px on: the edge itself is mixed
    ring = grow(view.edited_mask, 6) & ~grow(view.edited_mask, 1)
    way = smooth(view.edited, 4.0, ring) - moved
    return np.where(inside[..., None], beyond_mixing(change, way, most), 0)


def local_range(pixels: Pixels) -> Plane:
    """Largest minus smallest value of the 3 x 3 neighbourhood, the largest of the channels."""
    window = np.ones((3, 3), np.uint8)
    return channel_max(cv2.morphologyEx(pixels, cv2.MORPH_GRADIENT, window))


def largest_shift(change: Pixels, inside: Mask) -> float:
    """The largest shift of the mean colour of a part of the object, grey levels.

    A part is a Gaussian window of about a tenth of the object's side: a faint stain that no single
    pixel shows.
    """
    side = float(np.sqrt(inside.sum()))
    shift = smooth(change, max(1.0, 0.06 * side), inside)
    return float(np.abs(shift[inside]).max())


def colour_distance(source: np.ndarray, edited: np.ndarray) -> float:
    """Mean distance of the colours' quantiles, (pixel, 3) each, grey levels.

    The Wasserstein distance of each channel and of the three differences of channels, the largest.
    """
    before = np.quantile(_with_differences(source), LEVELS, axis=1)
    after = np.quantile(_with_differences(edited), LEVELS, axis=1)
    return float(np.abs(before - after).mean(axis=0).max())


def _with_differences(colours: np.ndarray) -> np.ndarray:
    """The three channels, and their three differences."""
    red, green, blue = colours.T.astype(float)
    return np.stack([red, green, blue, red - green, green - blue, red - blue])


def misplaced_share(expected: Mask, shown: Mask) -> float:
    """1 - Dice of where the object should be and where it is, a pixel's width forgiven."""
    # any object that is shown then is in the wrong place
    if not expected.any():
        return 1.0
    covered = np.count_nonzero(grow(expected, 1) & shown)
    covering = np.count_nonzero(expected & grow(shown, 1))
    total = np.count_nonzero(expected) + np.count_nonzero(shown)
    return 1 - (covered + covering) / total


def size_error(view: View) -> float:
    """How far the object's side is from what was asked, in doublings: 1 is half or twice as large.

    With a known geometry the part of the object that is cut off by the frame counts as asked.
    """
    if view.moved_mask is None:
        asked = view.case.scale**2 * view.source_mask.sum() * view.resolution**2
    else:
        asked = view.moved_mask.sum()
    shown = view.edited_mask.sum()
    # 4 px: edges of a tiny object
    doublings = np.log2((shown + 4) / (asked + 4)) / 2
    return abs(float(doublings))
