"""The object's border: no seam along it, and no colour of the object outside of it."""

from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.quality.cases import Mask, Pixels, View, smooth

POINTS = 480  # of the border that are looked at
INNER, OUTER = -10, 30  # px along the normal, outside is positive
REACH = 16  # px that a normal must run clear of the object
WIDTHS = (1, 2, 4)  # px, of seams
ALONG = 11  # points of the border over which a colour is averaged
GRAIN = 10.0  # grey levels, added to energies: noise that nobody sees
FAINT = 25.0  # grey levels: an object this close to the background can hardly leak
LEAST = 12  # points of the border

Profiles = Float[np.ndarray, "point offset 3"]
Colours = Float[np.ndarray, "point 3"]


@dataclass(frozen=True, eq=False)
class Border:
    """Colours along the normals of a border; `offset` 0 is the edge, outside is positive."""

    profiles: Profiles

    def at(self, first: int, last: int) -> Colours:
        """Mean colour between two offsets, both included."""
        return np.asarray(self.profiles[:, first - INNER : last - INNER + 1].mean(axis=1))


def border_scores(view: View) -> dict[str, float | None]:
    """Amounts of seam, beyond that at the source's own border, and of leaked colour."""
    edited = read_border(view.edited, view.edited_mask)
    if edited is None:
        return {}
    source = read_border(view.source, view.source_mask)
    own = seam(source) if source is not None else 0.0
    return {"seam": seam(edited) - max(0.0, own), "leak": max(0.0, leak(edited))}


def read_border(pixels: Pixels, mask: Mask) -> Border | None:
    """Profiles across the border of a mask; None where too little of it lies in the image."""
    signed = signed_distance(mask)
    slope_row, slope_col = np.gradient(cv2.GaussianBlur(signed, (0, 0), 1.5))
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    every = max(1, sum(map(len, contours)) // POINTS)
    around = np.concatenate([contour[::every, 0] for contour in contours])
    col, row = around[:, 0], around[:, 1]
    normal = np.stack([slope_row[row, col], slope_col[row, col]], axis=1)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.maximum(length, 1e-3)
    offset = np.arange(INNER, OUTER + 1) + 0.5  # the edge is half a pixel off the last one inside
    rows = (row[:, None] + normal[:, :1] * offset).astype(np.float32)
    cols = (col[:, None] + normal[:, 1:] * offset).astype(np.float32)
    depth = cv2.remap(signed, cols, rows, cv2.INTER_LINEAR, borderValue=-99)
    # a normal that runs into another part of the object, or out of the image, tells nothing
    clear = (depth[:, 2 - INNER : REACH - INNER] > 0.5).all(axis=1) & (length[:, 0] > 0.3)
    if clear.sum() < LEAST:
        return None
    profiles = cv2.remap(smooth(pixels, 0.5), cols[clear], rows[clear], cv2.INTER_LINEAR)
    profiles = np.asarray(profiles)
    _hold(profiles, range(-INNER - 2, -1, -1), 1, depth[clear] < 0)
    _hold(profiles, range(REACH - INNER, profiles.shape[1]), -1, depth[clear] > 3)
    return Border(np.asarray(cv2.blur(profiles, (1, ALONG), borderType=cv2.BORDER_REPLICATE)))


def signed_distance(mask: Mask) -> Float[np.ndarray, "row col"]:
    """Distance from the edge, px, negative inside."""
    inside = cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5)
    outside = cv2.distanceTransform((~np.pad(mask, 1)).astype(np.uint8), cv2.DIST_L2, 5)
    signed = np.where(np.pad(mask, 1), 0.5 - inside, outside - 0.5)
    return np.asarray(signed[1:-1, 1:-1], np.float32)


def _hold(profiles: Profiles, columns: range, back: int, valid: np.ndarray) -> None:
    """Where a normal ends early, in a thin part or at the frame, its last colour goes on."""
    ended = np.zeros(len(profiles), bool)
    for column in columns:
        ended |= ~valid[:, column]
        profiles[ended, column] = profiles[ended, column + back]


def seam(border: Border) -> float:
    """log2 of the ridge energy along the border over that just inside and outside.

    A ridge is a colour that lies off the way between the colours on both of its sides. The width
    of the strip that is most unusual counts.
    """
    found = []
    for width in WIDTHS:
        along = max(ridge(border, at, width) for at in range(3))
        around = [ridge(border, at, width) for at in (7, 10, 13, 18, 23)]
        if width < 4:
            around.append(ridge(border, -6, width))
        found.append(np.log2((along + GRAIN) / (float(np.median(around)) + GRAIN)))
    return float(max(found))


def ridge(border: Border, at: int, width: int) -> float:
    """Mean distance of the colour of a strip from the line between those on its sides."""
    here = border.at(at, at + width - 1)
    before, after = border.at(at - 3, at - 2), border.at(at + width + 1, at + width + 2)
    way = after - before
    share = ((here - before) * way).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1.0)
    nearest = before + share.clip(0, 1)[:, None] * way
    return float(np.linalg.norm(here - nearest, axis=1).mean())


def leak(border: Border) -> float:
    """Share of the object's colour in the background beside it, beyond that further out.

    A least-squares fit over the border: the colour near is the colour further out, made darker by
    a shadow, plus a share of the object's own colour.
    """
    own = border.at(-4, -2)
    bands = (((3, 4), (8, 12)), ((3, 6), (14, 22)))
    return float(np.mean([_share(border.at(*near), own, border.at(*far)) for near, far in bands]))


def _share(near: Colours, own: Colours, far: Colours) -> float:
    way, change = own - far, near - far
    # a shadow points to black: where it grew darker that part of the way is left out
    dark = far / np.maximum(np.linalg.norm(far, axis=1, keepdims=True), 1.0)
    darker = (change * dark).sum(axis=1, keepdims=True) < 0
    way = np.where(darker, way - (way * dark).sum(axis=1, keepdims=True) * dark, way)
    return float((change * way).sum() / ((way**2).sum() + FAINT**2 * len(way)))
