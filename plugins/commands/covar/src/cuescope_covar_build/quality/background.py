"""Is the background a new one, the one that was asked for, and is nothing else in it."""

from collections.abc import Iterator
from itertools import product

import cv2
import numpy as np
from jaxtyping import Float, Int

from cuescope_covar_build.quality.cases import (
    Mask,
    Pixels,
    Plane,
    Scores,
    View,
    beyond_mixing,
    channel_max,
    channel_sum,
    coverage,
    depth_of,
    grow,
    move,
    share_along,
    shrink_to,
    smooth,
)

SIMILAR = 5.0  # grey levels
SHADE = 0.4  # a shadow leaves at least this share of the light
DIFFERENT = 12.0  # grey levels, beyond what a shadow explains
BAND = 6  # px beside the object
# share of the object's colour, 0 to 4 px outside of the edge
EDGE = (1.0, 1.0, 0.8, 0.4, 0.0)
LEAST = 64  # pixels of background that are compared at all
FINE = 1.0  # px, blur before the correlation
WINDOW = 15  # px, side of the window of the correlation
SMOOTH = 1.5  # grey levels: standard deviation of a channel in a smooth window
SIDE = 96  # px, longest side of the copy in which further objects are looked for
WINDOWS = (4, 6, 9, 13, 18)  # px in that copy, sides of what may be an object
FREE = 0.6  # share of a window that must be clear of the object
CONTRAST_FLOOR = 4.0  # grey levels
USUAL = 0.8  # quantile over the windows


def background_scores(view: View) -> Scores:
    """Amounts of what is wrong with the background; 0 is nothing."""
    scores: Scores = {
        "background_unchanged": most_alike(view),
    }
    expected = expected_background(view)
    if expected is not None:
        pixels, covers = expected
        known = view.background & covers
        scores["border_image"] = strange_border(view, pixels, covers)
        if known.sum() >= LEAST:
            edited = smooth(view.edited, 0.7)
            shaded = _add_shadow(smooth(pixels, 0.7), edited)
            residual = channel_max(np.abs(edited - shaded))
            if view.asked_background is not None:
                scores["background_image"] = float((residual[known] > DIFFERENT).mean())
            scores["second_object_known"] = largest_patch(residual, known)
    scores["second_object"] = compact_region(view.edited, view.background)
    return scores


def expected_background(view: View) -> tuple[Pixels, Mask] | None:
    """What the background should look like and where that is known; None where nothing is.

    The asked background, else what a variant was made from, under the known geometry.
    """
    if view.asked_background is not None:
        return view.asked_background, np.ones(view.size, bool)
    # a new background on the source itself: nothing says how it should look
    is_new = view.case.base.key == view.case.source.key
    if view.geometry is None or is_new or view.base.shape != view.source.shape:
        return None
    pixels = view.base if view.in_place else move(view.base, view.geometry, view.size)
    known = view.kept & coverage(view.base.shape, view.geometry, view.size)
    if not known.any():
        return None
    return pixels, known


def most_alike(view: View) -> float | None:
    """How much of the source's own background is still there; None where nothing can be compared.

    Compared where the source would lie under the known geometry, and in place; the larger counts.
    """
    figures = []
    for source, clear in _places_of_source(view):
        figures.append(likeness_of_details(source, view.edited, clear))
    known = [figure for figure in figures if figure is not None]
    return max(known, default=None)


def _places_of_source(view: View) -> Iterator[tuple[Pixels, Mask]]:
    """The source as it may lie over the edited image, and where both are clear of the object."""
    geometries = []
    if view.geometry is not None:
        geometries.append(view.geometry)
    # an editor that ignored the geometry leaves the source's background in place
    if view.source.shape == view.edited.shape and not view.in_place:
        geometries.append(np.eye(3))
    for geometry in geometries:
        source = view.source
        away = view.source_mask
        clear = coverage(source.shape, geometry, view.size)
        is_moved = not np.allclose(geometry, np.eye(3))
        if is_moved or source.shape != view.edited.shape:
            source = move(source, geometry, view.size)
            # a pixel with any of the object in it is left out
            away = move(away.astype(np.float32), geometry, view.size) > 0.01
        yield source, clear & view.background & ~grow(away, 3)


def likeness_of_details(first: Pixels, second: Pixels, inside: Mask) -> float | None:
    """Mean local likeness, 0 to 1; None where too little can be compared."""
    if inside.sum() < LEAST:
        return None
    likeness = local_likeness(smooth(first, FINE), smooth(second, FINE), inside)
    return float(likeness[inside].mean())


class Window:
    """A square window about each pixel, in which only the pixels of a mask count.

    `weight` is the share of the window that lies within the mask.
    """

    def __init__(self, inside: Mask, side: int) -> None:
        self.size = (side, side)
        self.inside = inside.astype(np.float32)
        # not 0, by which means are divided
        self.weight: Plane = np.maximum(cv2.blur(self.inside, self.size), 1e-3)

    def mean(self, pixels: np.ndarray) -> np.ndarray:
        """Mean of the pixels, (row, col, channel)."""
        total = cv2.blur(pixels * self.inside[..., None], self.size)
        mean: np.ndarray = total / self.weight[..., None]
        return mean


def local_likeness(first: Pixels, second: Pixels, inside: Mask) -> Plane:
    """Correlation of two images in a window about each pixel, 0 to 1; a change of tone keeps it.

    Where both are smooth there is nothing to correlate, and the mean colours are compared.
    """
    window = Window(inside, WINDOW)
    mean_first = window.mean(first)
    mean_second = window.mean(second)
    first = first - mean_first
    second = second - mean_second
    covariance = channel_sum(window.mean(first * second))
    power_first = channel_sum(window.mean(first**2))
    power_second = channel_sum(window.mean(second**2))
    scale = np.sqrt(np.maximum(power_first * power_second, 1e-3))
    correlation = covariance / scale
    # 3: the powers are sums over the channels
    smooth_both = np.maximum(power_first, power_second) < 3 * SMOOTH**2
    near = channel_max(np.abs(mean_first - mean_second)) < SIMILAR
    return np.where(smooth_both, near, correlation.clip(0, 1))


def _add_shadow(expected: Pixels, edited: Pixels) -> Pixels:
    """What was expected, under the shadow that explains most of the image.

    A shadow multiplies all channels by one number between `SHADE` and 1.
    """
    light = share_along(edited, expected).clip(SHADE, 1.0)
    shaded: Pixels = expected * light[..., None]
    return shaded


def strange_border(view: View, expected: Pixels, covers: Mask) -> float | None:
    """Share of the pixels beside the object that are neither background nor the object's edge.

    An editor may mix the object's edge into the background, less with each pixel further out.
    """
    band = grow(view.edited_mask, BAND) & ~view.edited_mask & covers
    if band.sum() < LEAST:
        return None
    distance = depth_of(~view.edited_mask)
    most = np.interp(distance, range(len(EDGE)), EDGE).astype(np.float32)
    shaded = _add_shadow(expected, view.edited)
    change = view.edited - shaded
    way = smooth(view.edited, 2.0, view.edited_mask) - shaded
    left = channel_max(np.abs(beyond_mixing(change, way, most)))
    return float((left[band] > DIFFERENT).mean())


def largest_patch(residual: Plane, known: Mask) -> float:
    """The side of the largest connected patch that differs, as a share of the image's side."""
    differs = (residual > DIFFERENT) & known
    # opened: a line of one pixel is no object
    square = np.ones((2, 2), np.uint8)
    opened = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, square)
    count, _, stats, _ = cv2.connectedComponentsWithStats(opened)
    if count < 2:
        return 0.0
    # from 1: component 0 is all that does not differ
    largest = stats[1:, cv2.CC_STAT_AREA].max()
    return float(np.sqrt(largest / residual.size))


# ------------------------------------------------------------- nothing is known of the background


def compact_region(pixels: Pixels, where: Mask) -> float | None:
    """Contrast of the window that differs most from all sides, in units of the usual contrast.

    A window of the background is compared with its eight neighbours at its own distance: an object
    differs from each of them, an edge of the background only from some. The mean colour and the
    grain (mean absolute difference of neighbouring pixels) are compared. The unit is what 80% of
    the windows of that size stay below.
    """
    small, free = _small(pixels, where)
    grey = channel_sum(small) / 3
    grain = 2 * np.abs(grey - cv2.blur(grey, (3, 3)))
    planes = np.dstack([small, grain])
    contrasts: list[float] = []
    for side in WINDOWS:
        contrasts += _contrast(planes, free, side)
    return max(contrasts, default=None)


def _contrast(
    planes: Float[np.ndarray, "row col 4"],
    free: Mask,
    side: int,
) -> list[float]:
    """Largest least contrast with the neighbours, over the usual one, for windows of one side.

    Nothing where too few windows have neighbours.
    """
    window = Window(free, side)
    # a window next to the object or the frame is compared with those neighbours that are free
    usable = window.weight > FREE
    least, neighbours = _least_contrast(window.mean(planes), usable, round(1.25 * side))
    # 5 of 8: at the frame and beside the object some are missing
    valid = usable & (neighbours >= 5)
    if valid.sum() < LEAST:
        return []
    contrasts = least[valid]
    usual = np.quantile(contrasts, USUAL)
    # the floor: on an even background faint noise would look large
    return [float(contrasts.max() / (usual + CONTRAST_FLOOR))]


def _least_contrast(
    mean: Float[np.ndarray, "row col 4"],
    usable: Mask,
    step: int,
) -> tuple[Plane, Int[np.ndarray, "row col"]]:
    """Of each window with the usable ones of its eight neighbours, and how many these are."""
    rows, cols = usable.shape
    around = (step, step)
    padded = np.pad(mean, (around, around, (0, 0)))
    # beside the image nothing is usable
    padded_usable = np.pad(usable, step)
    least = np.full(usable.shape, np.inf, np.float32)
    neighbours = np.zeros(usable.shape, np.int32)
    for top, left in product((0, step, 2 * step), repeat=2):
        if top == left == step:
            continue  # the window itself
        shifted = (slice(top, top + rows), slice(left, left + cols))
        there = padded_usable[shifted]
        difference = np.sqrt(channel_sum((padded[shifted] - mean) ** 2))
        np.minimum(least, difference, out=least, where=there)
        neighbours += there
    return least, neighbours


def _small(pixels: Pixels, where: Mask) -> tuple[Pixels, Mask]:
    """A copy of at most `SIDE` px a side, and what of it lies within the mask."""
    factor = min(1.0, SIDE / max(where.shape))
    rows, cols = where.shape
    size = (max(1, round(factor * rows)), max(1, round(factor * cols)))
    # a pixel of the copy that is mixed with the object is no background
    return shrink_to(pixels, size), shrink_to(where, size) > 0.9
