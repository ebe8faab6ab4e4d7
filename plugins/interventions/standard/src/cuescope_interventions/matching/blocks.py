"""Blocks of compression: a frame is as blocky as another one."""

from io import BytesIO

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_interventions.arrays import Mask, Pixels, as_bytes
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

SIDE = 8  # pixels along a block of JPEG, H.264 and most others
REACH = 4  # pixels beside a border that are changed
QUALITIES = (5, 8, 12, 18, 25, 35, 50, 70, 90)  # of JPEG, the worst first
CLOSE = 0.1  # of its blockiness, by which a frame is left as it is


def match_blocks(
    frame: Frame,
    inside: Mask | None,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """As blocky as the donor: its borders are smoothed, or it is compressed once more.

    Detail that compression has lost inside of blocks does not come back.
    """
    wanted = blockiness(np.asarray(open_frame(frame)))
    own = blockiness(pixels)
    if wanted < own * (1 - CLOSE):
        return _smooth_borders(pixels, 1 - wanted / own)
    if wanted <= own * (1 + CLOSE):
        return pixels
    candidates = [_compress(pixels, quality) for quality in QUALITIES]
    candidates.append(pixels)

    def off_target(candidate: Pixels) -> float:
        return abs(blockiness(candidate) - wanted)

    # of two as near the more compressed one
    return min(candidates, key=off_target)


def blockiness(pixels: Pixels) -> float:
    """By how many grey levels steps are larger at borders of blocks than midway between them."""
    excess = []
    for axis in (0, 1):
        levels = np.moveaxis(pixels, axis, 0).astype(np.float64)
        changes = np.abs(np.diff(levels, axis=0))
        steps = changes.mean(axis=(1, 2))
        # step n lies between pixels n and n + 1
        phase = np.arange(len(steps)) % SIDE
        border = steps[phase == SIDE - 1]
        inner = steps[phase == SIDE // 2 - 1]
        if len(border) and len(inner):
            excess.append(border.mean() - inner.mean())
    # a frame may be too small to have both
    if not excess:
        return 0.0
    return max(float(np.mean(excess)), 0.0)


def _smooth_borders(pixels: Pixels, share: float) -> Pixels:
    levels = pixels.astype(np.float64)
    for axis in (0, 1):
        # a view: what changes in it changes in the levels
        turned = np.moveaxis(levels, axis, 0)
        for border in range(SIDE, len(turned) - REACH + 1, SIDE):
            _smooth_border(turned, border, share)
    return as_bytes(levels)


def _smooth_border(
    levels: Float[np.ndarray, "row col 3"], border: int, share: float
) -> None:
    """Takes a share of the step that leads to the row `border`."""
    # what goes on evenly over the border is no step
    slope_before = levels[border - 1] - levels[border - 2]
    even = (slope_before + levels[border + 1] - levels[border]) / 2
    whole = levels[border] - levels[border - 1]
    step = share * (whole - even)
    for away in range(REACH):
        # less and less with the distance from the border
        fading = 1 - (away + 0.5) / REACH
        part = step / 2 * fading
        levels[border - 1 - away] += part
        levels[border + away] -= part


def _compress(pixels: Pixels, quality: int) -> Pixels:
    file = BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file))
