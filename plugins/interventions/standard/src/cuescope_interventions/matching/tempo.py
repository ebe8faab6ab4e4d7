"""How fast a clip is, and the same clip at another tempo."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

GRID = 32  # cells along a side: motion of less than a cell is noise
MOST = 4.0  # times as fast, at most
STILL = 0.1  # grey levels: a clip with less motion stands still


def motion(frames: Sequence[Frame]) -> float:
    """Mean change from frame to frame, in grey levels."""
    grids = []
    for frame in frames:
        small = open_frame(frame).resize((GRID, GRID), Image.Resampling.BOX)
        grids.append(np.asarray(small, np.float64))
    changes = np.abs(np.diff(grids, axis=0)) if len(grids) > 1 else np.zeros(1)
    return float(changes.mean())


def tempo(frames: Sequence[Frame], others: Sequence[Frame]) -> float:
    """How many times as fast other frames move."""
    times = max(motion(others), STILL) / max(motion(frames), STILL)
    return min(max(times, 1 / MOST), MOST)


def in_tempo(frames: Sequence[Frame], times: float) -> list[Frame]:
    """As many frames of the clip, so far apart that it moves so many times as fast.

    A clip that ends too early runs back.
    """
    last = max(len(frames) - 1, 1)
    picked = []
    for number in range(len(frames)):
        there = round(number * times) % (2 * last)
        picked.append(frames[min(there, 2 * last - there)])
    return picked
