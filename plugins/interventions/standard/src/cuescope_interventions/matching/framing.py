"""Where the thing of a frame is, how large, and moves of all of a frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from cuescope_interventions.arrays import Mask, Pixels, as_bytes, cells_of
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

GRID = 48  # cells along a side, in which the thing is looked for
BORDER = 2  # cells
INNER = np.s_[BORDER:-BORDER, BORDER:-BORDER]
ALIKE = 8  # cells of the border that a cell of the background is like
MOST = 2.0  # times as large, at most
SMOOTH = 2.0  # cells: the frame as a whole has a direction, things in it have theirs
FOLDS = 4  # what stands upright and what lies level have one direction


@dataclass(frozen=True)
class Layout:
    """Centre and spread of the thing, in shares of the frame."""

    row: float
    col: float
    spread: float


def layout_of(frames: Sequence[Frame]) -> Layout:
    """Where the thing is, in the middle of these frames.

    The thing is what has other colours than the frame's border (the boundary prior of saliency; Wei
    et al., 2012), by the threshold of Otsu (1979). Nobody has to annotate it.
    """
    shown = np.mean([_thing_in(frame) for frame in frames], axis=0)
    # of a frame of one colour every cell counts alike
    weights = shown + 1e-9
    weights /= weights.sum()
    centres = (np.arange(GRID) + 0.5) / GRID
    row = float(weights.sum(axis=1) @ centres)
    col = float(weights.sum(axis=0) @ centres)
    down = centres[:, None] - row
    across = centres[None, :] - col
    variance = (weights * (down**2 + across**2)).sum()
    return Layout(row, col, spread=float(np.sqrt(variance)))


# a frame is the donor of many, and asked for its place and for its size
@lru_cache(maxsize=2048)
def _thing_in(frame: Frame) -> Mask:
    from scipy.ndimage import gaussian_filter
    from scipy.spatial import KDTree

    cells = cells_of(open_frame(frame), GRID)
    # smoothed: grain is unlike any border
    colours = gaussian_filter(cells, (1, 1, 0))
    border = np.ones((GRID, GRID), bool)
    border[INNER] = False
    of_border = KDTree(colours[border])
    distances, _ = of_border.query(colours.reshape(-1, 3), ALIKE)
    unlike = distances.mean(axis=1)
    shown = unlike > _threshold(unlike)
    return np.asarray(shown.reshape(GRID, GRID))


def _threshold(values: Float[np.ndarray, " cell"]) -> float:
    """Otsu's: both sides differ most in their means."""
    values = np.sort(values)
    # each value as the last one below the threshold
    below = np.arange(1, len(values))
    above = len(values) - below
    sum_below = np.cumsum(values)[:-1]
    sum_above = values.sum() - sum_below
    apart = sum_below / below - sum_above / above
    between = below * above * apart**2
    return float(values[np.argmax(between)])


def direction_of(frames: Sequence[Frame]) -> float:
    """How far most edges of these frames are turned from upright or level, in radians.

    Between an eighth of a turn to the left and to the right.
    """
    edges = sum(map(_edges_in, frames))
    return float(np.angle(edges)) / FOLDS


@lru_cache(maxsize=2048)
def _edges_in(frame: Frame) -> complex:
    """The sum of all edges, each at `FOLDS` times its angle (as Fisher, 1993, for axes)."""
    from scipy.ndimage import gaussian_filter

    colours = cells_of(open_frame(frame), GRID)
    # none along the colours
    smooth = (SMOOTH, SMOOTH, 0)
    down = gaussian_filter(colours, smooth, order=(1, 0, 0))
    across = gaussian_filter(colours, smooth, order=(0, 1, 0))
    slopes = (across + 1j * down)[INNER]
    # each counts by its strength
    strength = np.abs(slopes)
    angle = np.angle(slopes)
    directions = strength * np.exp(1j * FOLDS * angle)
    return complex(directions.sum())


def turn(
    angle: float,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """Turned about its middle, from across to down; beyond the edges it is mirrored."""
    cos = np.cos(angle)
    sin = np.sin(angle)
    # where each pixel of the result is taken from
    back = np.array([[cos, -sin], [sin, cos]])
    size = np.array(pixels.shape[:2])
    middle = (size - 1) / 2
    return _taken_from(pixels, back, middle - back @ middle)


def move(
    axis: int,
    share: float,
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """Moved by a share of the frame, round the edges; by whole pixels, which keeps it sharp."""
    step = round(share * pixels.shape[axis])
    return np.roll(pixels, step, axis)


def zoom(
    scale: float,
    centre: tuple[float, float],
    pixels: Pixels,
    mask: Mask,
) -> Pixels:
    """Magnified about (row, col) in shares of the frame; beyond the edges it is mirrored."""
    # in pixels, whose centres lie at whole numbers
    fixed = np.array(centre) * pixels.shape[:2] - 0.5
    offset = fixed * (1 - 1 / scale)
    return _taken_from(pixels, np.eye(2) / scale, offset)


def _taken_from(
    pixels: Pixels,
    back: Float[np.ndarray, "2 2"],
    offset: Float[np.ndarray, "2"],
) -> Pixels:
    """Each pixel is that at `back` times its own (row, col), plus the offset."""
    from scipy.ndimage import affine_transform

    channels = np.moveaxis(pixels.astype(np.float32), -1, 0)
    # by channel: a spline along the colours as well would take four times as long
    moved = [
        affine_transform(channel, back, offset, mode="reflect") for channel in channels
    ]
    return as_bytes(np.stack(moved, axis=-1))
