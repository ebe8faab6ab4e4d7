"""The object's border: no seam along it, and no colour of the object outside of it."""

import cv2
import numpy as np
from jaxtyping import Float, Int

from cuescope_covar_build.quality.cases import (
    Mask,
    Pixels,
    Plane,
    Scores,
    View,
    channel_sum,
    depth_of,
    share_along,
    smooth,
)

POINTS = 480  # of the border that are looked at
INNER = -10  # px along the normal, outside is positive
OUTER = 30
REACH = 16  # px that a normal must run clear of the object
WIDTHS = (1, 2, 4)  # px, of seams
AROUND = (7, 10, 13, 18, 23)  # px from the edge, where a ridge is no seam
ALONG = 11  # points of the border over which a colour is averaged
GRAIN = 10.0  # grey levels, added to energies: noise that nobody sees
FAINT = 25.0  # grey levels: an object this close to the background can hardly leak
LEAST = 12  # points of the border

Profiles = Float[np.ndarray, "point offset 3"]
Depths = Float[np.ndarray, "point offset"]
Colours = Float[np.ndarray, "point 3"]


def border_scores(view: View) -> Scores:
    """Amounts of seam, beyond that at the source's own border, and of leaked colour."""
    edited = read_border(view.edited, view.edited_mask)
    if edited is None:
        return {}
    source = read_border(view.source, view.source_mask)
    # below 0 is no credit: it would raise the score of the edited border
    usual = 0.0 if source is None else max(0.0, seam(source))
    return {"seam": seam(edited) - usual, "leak": max(0.0, leak(edited))}


def read_border(pixels: Pixels, mask: Mask) -> Profiles | None:
    """Colours along the normals of a mask's border; None where too little lies in the image."""
    signed = signed_distance(mask)
    # smoothed: the border is a staircase of pixels, whose slopes jump
    slopes = np.stack(np.gradient(smooth(signed, 1.5)), axis=-1)
    col, row = border_points(mask).T
    slope = slopes[row, col]
    length = np.linalg.norm(slope, axis=1)
    normal = slope / np.maximum(length, 1e-3)[:, None]
    # the edge is half a pixel off the last one inside
    offset = np.arange(INNER, OUTER + 1) + 0.5
    down, right = normal.T[..., None] * offset
    rows = (row[:, None] + down).astype(np.float32)
    cols = (col[:, None] + right).astype(np.float32)
    # beside the image counts as deep inside, so that no such normal is clear
    depth = cv2.remap(signed, cols, rows, cv2.INTER_LINEAR, borderValue=-99)
    # a normal that runs into another part of the object, or out of the image, tells nothing
    outside = (depth[:, 2 - INNER : REACH - INNER] > 0.5).all(axis=1)
    # the slope of a distance is 1; far less lies on a ridge, where no way leads outwards
    clear = outside & (length > 0.3)
    if clear.sum() < LEAST:
        return None
    pixels = smooth(pixels, 0.5)
    profiles = cv2.remap(pixels, cols[clear], rows[clear], cv2.INTER_LINEAR)
    extend_profiles(profiles, depth[clear])
    return cv2.blur(profiles, (1, ALONG), borderType=cv2.BORDER_REPLICATE)


def border_points(mask: Mask) -> Int[np.ndarray, "point 2"]:
    """(column, row) of some pixels along the border, about `POINTS`."""
    # RETR_CCOMP: holes have a border too
    contours, _ = cv2.findContours(
        mask.astype(np.uint8),
        cv2.RETR_CCOMP,
        cv2.CHAIN_APPROX_NONE,
    )
    every = max(1, sum(map(len, contours)) // POINTS)
    return np.concatenate([contour[::every, 0] for contour in contours])


def signed_distance(mask: Mask) -> Plane:
    """Distance from the edge, px, negative inside."""
    # where the image cuts the object off is an edge too
    padded = np.pad(mask, 1)
    # the edge is half a pixel from the middles on both sides
    signed = np.where(padded, 0.5 - depth_of(padded), depth_of(~padded) - 0.5)
    return signed[1:-1, 1:-1].astype(np.float32)


def extend_profiles(profiles: Profiles, depth: Depths) -> None:
    """Where a normal ends early, in a thin part or at the frame, its last colour goes on."""
    ended = np.zeros(len(profiles), bool)
    for column in range(-INNER - 2, -1, -1):  # inwards
        ended |= depth[:, column] >= 0
        profiles[ended, column] = profiles[ended, column + 1]
    ended[:] = False
    for column in range(REACH - INNER, profiles.shape[1]):  # outwards
        ended |= depth[:, column] <= 3
        profiles[ended, column] = profiles[ended, column - 1]


def strip(border: Profiles, first: int, last: int) -> Colours:
    """Mean colour between two offsets from the edge, both included."""
    mean: Colours = border[:, first - INNER : last - INNER + 1].mean(axis=1)
    return mean


def seam(border: Profiles) -> float:
    """log2 of the ridge energy along the border over that just inside and outside.

    A ridge is a colour that lies off the way between the colours on both of its sides. The width
    of the strip that is most unusual counts.
    """
    ratios = []
    for width in WIDTHS:
        along = max(ridge(border, at, width) for at in range(3))
        # -6 is inside; a strip of 4 px there would be compared with the edge itself
        places = (*AROUND, -6) if width < 4 else AROUND
        around = np.median([ridge(border, at, width) for at in places])
        ratios.append(np.log2((along + GRAIN) / (around + GRAIN)))
    return float(max(ratios))


def ridge(border: Profiles, at: int, width: int) -> float:
    """Mean distance of the colour of a strip from the line between those on its sides."""
    here = strip(border, at, at + width - 1)
    before = strip(border, at - 3, at - 2)
    after = strip(border, at + width + 1, at + width + 2)
    way = after - before
    share = share_along(here - before, way).clip(0, 1)
    nearest = before + share[:, None] * way
    return float(np.linalg.norm(here - nearest, axis=1).mean())


def leak(border: Profiles) -> float:
    """Share of the object's colour in the background beside it, beyond that further out.

    A least-squares fit over the border: the colour near is the colour further out, made darker by
    a shadow, plus a share of the object's own colour.
    """
    own = strip(border, -4, -2)
    closer = leaked_share(strip(border, 3, 4), own, strip(border, 8, 12))
    wider = leaked_share(strip(border, 3, 6), own, strip(border, 14, 22))
    return (closer + wider) / 2


def leaked_share(near: Colours, own: Colours, far: Colours) -> float:
    """How far the colour near lies on the way from the colour further out to the object's own."""
    way = own - far
    change = near - far
    # a shadow points to black: where it grew darker that part of the way is left out
    brightness = np.linalg.norm(far, axis=1, keepdims=True)
    dark = far / np.maximum(brightness, 1.0)
    darker = channel_sum(change * dark) < 0
    part = channel_sum(way * dark)
    shaded = way - part[:, None] * dark
    way = np.where(darker[:, None], shaded, way)
    power = (way**2).sum() + FAINT**2 * len(way)
    return float((change * way).sum() / power)
