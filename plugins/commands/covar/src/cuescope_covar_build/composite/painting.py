"""Pixels of a composite: a background under the mask, a shadow, and edges without a step."""

import cv2
import numpy as np
from jaxtyping import Float, Int

from cuescope_covar_build.geometry import Mask, Pixels

Plane = Float[np.ndarray, "row col"]

RIM = 0.65  # share of the image's rim that may change where the mask runs around an object
FILLED = 0.97  # share of its tightest box that a picture fills
BAND = 0.06  # of the shorter side: how wide a picture fades into what continues it
SHADOW_SIZE = 0.03  # of the shorter side: how soft it is
SHADOW_DROP = 0.025  # of the shorter side: how far below the object it lies


def paint(
    source: Pixels,
    mask: Mask,
    background: Pixels,
    shadow: float,
    feather: int,
) -> Pixels:
    """`background` where `mask` is True, the source's own pixels elsewhere, to the bit.

    Around an object the background has a shadow of this strength, and its first `feather` pixels
    take on the colour of the object's edge. Around a picture the fading is wider, and there is no
    shadow.
    """
    # no edge is there that could fade, and nothing that casts a shadow
    if mask.all() or not mask.any():
        return np.where(mask[..., None], background, source)
    width = feather
    picture = keeps_picture(mask)
    if picture:
        width = max(feather, round(BAND * min(mask.shape)))
    scene = background.astype(np.float32)
    if shadow and not picture:
        scene *= 1 - shadow * cast_shadow(~mask)[..., None]
    if width:
        distance, nearest = nearest_outside(mask)
        colours = source.reshape(-1, 3)[nearest].astype(np.float32)
        if picture:
            # without the streaks that single pixels of the border would draw
            colours = _smooth(colours, width / 4)
        share = _share_of_scene(distance, width)[..., None]
        scene = share * scene + (1 - share) * colours
    painted = np.rint(scene).astype(np.uint8)
    # smoothed and rounded colours would not be the source's own
    return np.where(mask[..., None], painted, source)


def _share_of_scene(distance: Plane, width: int) -> Plane:
    """0 at the edge, 1 beyond `width` pixels from it."""
    # + 1: the last of `width` pixels still has some of the edge's colour
    share = np.minimum(distance / (width + 1), 1)
    # smoothstep: no crease where the fading begins and ends
    smooth_share: Plane = share * share * (3 - 2 * share)
    return smooth_share


def keeps_picture(mask: Mask) -> bool:
    """Whether the part that stays is a picture that was moved, turned or shrunk, not an object.

    An object has the mask almost all around it at the rim of the image, and fills no box. A moved
    picture reaches the rim of the image, a shrunken one is a box.
    """
    top_and_bottom = mask[[0, -1]].ravel()
    left_and_right = mask[:, [0, -1]].ravel()
    rim = np.concatenate([top_and_bottom, left_and_right])
    if rim.mean() <= RIM:
        return True
    points = cv2.findNonZero((~mask).astype(np.uint8))
    _, (width, height), _ = cv2.minAreaRect(points)
    # + 1: OpenCV measures between the middles of the outer pixels
    return len(points) >= FILLED * (width + 1) * (height + 1)


def cast_shadow(kept: Mask) -> Plane:
    """How dark the shadow of what stays is, from 0 to 1: soft, and a little below it."""
    side = min(kept.shape)
    drop = round(SHADOW_DROP * side)
    moved = np.zeros(kept.shape, np.float32)
    # not [:-drop], which is empty for a drop of 0
    moved[drop:] = kept[: len(kept) - drop]
    return _smooth(moved, SHADOW_SIZE * side)


def nearest_outside(mask: Mask) -> tuple[Plane, Int[np.ndarray, "row col"]]:
    """The distance in pixels to the nearest pixel that stays, and its place in the flat image."""
    distance, label = cv2.distanceTransformWithLabels(
        mask.astype(np.uint8),
        cv2.DIST_L2,
        5,
        labelType=cv2.DIST_LABEL_PIXEL,
    )
    # OpenCV numbers the pixels that stay in its own order
    place = np.zeros(label.max() + 1, np.int64)
    outside = np.flatnonzero(~mask)
    place[label.ravel()[outside]] = outside
    return distance, place[label]


def _smooth(pixels: np.ndarray, sigma: float) -> np.ndarray:
    return cv2.GaussianBlur(pixels, (0, 0), max(0.6, sigma))
