"""Is the background a new one, the one that was asked for, and is nothing else in it."""

import cv2
import numpy as np
from jaxtyping import Float

from cuescope_covar_build.quality.cases import (
    Mask,
    Matrix,
    Pixels,
    View,
    channel_max,
    channel_sum,
    covered,
    grow,
    move,
    smooth,
)

SIMILAR = 5.0  # grey levels
SHADE = 0.4  # a shadow leaves at least this share of the light
DIFFERENT = 12.0  # grey levels, beyond what a shadow explains
BAND = 6  # px beside the object
EDGE = (1.0, 1.0, 0.8, 0.4, 0.0)  # share of the object's colour, 0 to 4 px outside of the edge
LEAST = 64  # pixels of background that are compared at all
FINE, WINDOW = 1.0, 15  # px: blur and window of the correlation
SMOOTH = 1.5  # grey levels: standard deviation of a channel in a smooth window
SIDE = 96  # px, longest side of the copy in which further objects are looked for
WINDOWS = (4, 6, 9, 13, 18)  # px in that copy, sides of what may be an object
CONTRAST_FLOOR = 4.0  # grey levels
USUAL = 0.8  # quantile over the windows
COLOURS, RATIO, COPIES = 8, 3.0, (5, 9, 14)  # levels a channel, nats, px


def background_scores(view: View) -> dict[str, float | None]:
    """Amounts of what is wrong with the background; 0 is nothing."""
    scores: dict[str, float | None] = {"background_unchanged": unchanged_share(view)}
    expected = expected_background(view)
    if expected is not None:
        pixels, covers = expected
        known = view.background & covers
        scores["border_image"] = strange_border(view, pixels, covers)
    if expected is not None and known.sum() >= LEAST:
        residual = unexplained(pixels, view.edited)
        if view.asked_background is not None:
            scores["background_image"] = float((residual[known] > DIFFERENT).mean())
        scores["second_object_known"] = largest_patch(residual, known)
    scores["second_object"] = compact_region(view.edited, view.background)
    scores["second_copy"] = like_object(view)
    return scores


def expected_background(view: View) -> tuple[Pixels, Mask] | None:
    """What the background should look like and where that is known; None where nothing is.

    The asked background, else what a variant was made from, under the known geometry.
    """
    if view.asked_background is not None:
        return view.asked_background, np.ones(view.size, bool)
    if view.geometry is None or view.case.base.key == view.case.source.key:
        return None
    if view.base.shape != view.source.shape:
        return None
    pixels = view.base if view.in_place else move(view.base, view.geometry, view.size)
    known = view.kept & covered(view.base.shape, view.geometry, view.size)
    return (pixels, known) if known.any() else None


def unchanged_share(view: View) -> float | None:
    """How much of the background is the source's own, 0 to 1: its mean likeness.

    Compared where the source would lie under the known geometry, and in place; the larger counts.
    """
    geometries: list[Matrix] = []
    if view.geometry is not None:
        geometries.append(view.geometry)
    if view.source.shape == view.edited.shape and not view.in_place:
        geometries.append(np.eye(3))
    found = [_likeness(view, geometry) for geometry in geometries]
    return max((value for value in found if value is not None), default=None)


def _likeness(view: View, geometry: Matrix) -> float | None:
    source, object_mask = view.source, view.source_mask
    where = covered(source.shape, geometry, view.size)
    if not np.allclose(geometry, np.eye(3)) or source.shape != view.edited.shape:
        source = move(source, geometry, view.size)
        object_mask = move(object_mask.astype(np.float32), geometry, view.size) > 0.01
    where &= view.background & ~grow(object_mask, 3)
    if where.sum() < LEAST:
        return None
    return float(
        local_likeness(smooth(source, FINE), smooth(view.edited, FINE), where)[where].mean()
    )


def local_likeness(first: Pixels, second: Pixels, where: Mask) -> Float[np.ndarray, "row col"]:
    """Correlation of two images in a window about each pixel, 0 to 1; a change of tone keeps it.

    Where both are smooth there is nothing to correlate, and the mean colours are compared.
    """
    inside = where.astype(np.float32)
    weight = np.maximum(cv2.blur(inside, (WINDOW, WINDOW)), 1e-3)[..., None]

    def mean(pixels: Pixels) -> Pixels:
        return np.asarray(cv2.blur(pixels * inside[..., None], (WINDOW, WINDOW)) / weight)

    mean_first, mean_second = mean(first), mean(second)
    first, second = first - mean_first, second - mean_second
    product = channel_sum(mean(first * second))
    power = channel_sum(mean(first**2)), channel_sum(mean(second**2))
    correlation = product / np.sqrt(np.maximum(power[0] * power[1], 1e-3))
    smooth_both = np.maximum(*power) < 3 * SMOOTH**2
    near = channel_max(np.abs(mean_first - mean_second)) < SIMILAR
    return np.asarray(np.where(smooth_both, near, correlation.clip(0, 1)))


def unexplained(expected: Pixels, edited: Pixels) -> Float[np.ndarray, "row col"]:
    """Grey levels by which an image differs from what was expected, a shadow on it forgiven.

    A shadow multiplies all channels by one number between `SHADE` and 1.
    """
    expected, edited = smooth(expected, 0.7), smooth(edited, 0.7)
    return channel_max(np.abs(edited - _shaded(expected, edited)))


def _shaded(expected: Pixels, edited: Pixels) -> Pixels:
    """What was expected, under the shadow that explains most of the image."""
    light = channel_sum(edited * expected) / np.maximum(channel_sum(expected**2), 1.0)
    return np.asarray(expected * light.clip(SHADE, 1.0)[..., None])


def strange_border(view: View, expected: Pixels, covers: Mask) -> float | None:
    """Share of the pixels beside the object that are neither background nor the object's edge.

    An editor may mix the object's edge into the background, less with each pixel further out.
    """
    band = grow(view.edited_mask, BAND) & ~view.edited_mask & covers
    if band.sum() < LEAST:
        return None
    distance = cv2.distanceTransform((~view.edited_mask).astype(np.uint8), cv2.DIST_L2, 5)
    share = np.interp(distance, range(len(EDGE)), EDGE).astype(np.float32)
    own = smooth(view.edited, 2.0, view.edited_mask)
    shaded = _shaded(expected, view.edited)
    change, way = view.edited - shaded, own - shaded
    mixed = channel_sum(change * way) / np.maximum(channel_sum(way**2), 1.0)
    left = channel_max(np.abs(change - mixed.clip(0, share)[..., None] * way))
    return float((left[band] > DIFFERENT).mean())


def largest_patch(residual: Float[np.ndarray, "row col"], known: Mask) -> float:
    """The side of the largest connected patch that differs, as a share of the image's side."""
    differs = (residual > DIFFERENT) & known
    differs = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(differs, connectivity=8)
    if count < 2:
        return 0.0
    return float(np.sqrt(stats[1:, cv2.CC_STAT_AREA].max() / residual.size))


# ------------------------------------------------------------- nothing is known of the background


def compact_region(pixels: Pixels, where: Mask) -> float | None:
    """Contrast of the window that differs most from all sides, in units of the usual contrast.

    A window of the background is compared with its eight neighbours at its own distance: an object
    differs from each of them, an edge of the background only from some. The mean colour and the
    grain (mean absolute difference of neighbouring pixels) are compared. The unit is what 80% of
    the windows of that size stay below.
    """
    small, free = _small(pixels, where)
    planes = np.dstack([small, _grain(small)])
    found = [value for side in WINDOWS if (value := _contrast(planes, free, side)) is not None]
    return max(found, default=None)


def _grain(pixels: Pixels) -> Float[np.ndarray, "row col"]:
    grey = channel_sum(pixels) / 3
    fine = np.abs(grey - cv2.blur(grey, (3, 3)))
    return np.asarray(2 * fine)


def _contrast(planes: Float[np.ndarray, "row col 4"], free: Mask, side: int) -> float | None:
    """Largest least contrast with the neighbours, over the usual one, for windows of one side."""
    rows, cols = free.shape
    weight = np.maximum(cv2.blur(free.astype(np.float32), (side, side)), 1e-3)
    mean = cv2.blur(planes * free[..., None].astype(np.float32), (side, side)) / weight[..., None]
    # a window next to the object or the frame is compared with those neighbours that are free
    usable = weight > 0.6
    step = round(1.25 * side)
    shifts = [(r, c) for r in (-step, 0, step) for c in (-step, 0, step) if (r, c) != (0, 0)]
    padded = np.pad(mean, ((step, step), (step, step), (0, 0)))
    padded_usable = np.pad(usable, step)
    least = np.full((rows, cols), np.inf, np.float32)
    count = np.zeros((rows, cols), np.int32)
    for down, right in shifts:
        window = (slice(step + down, step + down + rows), slice(step + right, step + right + cols))
        there = padded_usable[window]
        difference = np.sqrt(channel_sum((padded[window] - mean) ** 2))
        least = np.where(there, np.minimum(least, difference), least)
        count += there
    valid = usable & (count >= 5)
    if valid.sum() < LEAST:
        return None
    values = least[valid]
    return float(values.max() / (np.quantile(values, USUAL) + CONTRAST_FLOOR))


def like_object(view: View) -> float | None:
    """How much a window of the background has the object's colours, over what is usual there.

    The log-likelihood ratio of each colour under the object and under the background, averaged over
    the window; the unit is nats a pixel.
    """
    if view.background.sum() < LEAST:
        return None
    small, free = _small(view.edited, view.background)
    code = _bins(small)
    own, other = _histogram(_bins(view.edited[view.edited_mask])), _histogram(code[free])
    ratio = (np.log(own / other)[code] * free).clip(-RATIO, RATIO).astype(np.float32)
    found = []
    for side in COPIES:
        weight = np.maximum(cv2.blur(free.astype(np.float32), (side, side)), 1e-3)
        mean, usable = cv2.blur(ratio, (side, side)) / weight, weight > 0.6
        if usable.sum() >= LEAST:
            found.append(float(mean[usable].max() - np.quantile(mean[usable], USUAL)))
    return max(found, default=None)


def _small(pixels: Pixels, where: Mask) -> tuple[Pixels, Mask]:
    """A copy of at most `SIDE` px a side, and what of it lies within the mask."""
    factor = min(1.0, SIDE / max(pixels.shape[:2]))
    size = tuple(max(1, round(factor * side)) for side in pixels.shape[1::-1])
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    free = cv2.resize(where.astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0.9
    return small, free


def _bins(pixels: np.ndarray) -> np.ndarray:
    """The number of each colour among `COLOURS` levels a channel."""
    level = (pixels * (COLOURS / 256)).astype(int).clip(0, COLOURS - 1)
    return np.asarray((level[..., 0] * COLOURS + level[..., 1]) * COLOURS + level[..., 2])


def _histogram(code: np.ndarray) -> Float[np.ndarray, " colour"]:
    """Share of each colour; one that does not occur has a thousandth."""
    counts = np.bincount(code.ravel(), minlength=COLOURS**3)
    return np.asarray(counts / max(code.size, 1) + 1e-3)
