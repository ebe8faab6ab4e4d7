"""How fast a clip is, and the same clip at another tempo."""

from collections.abc import Sequence

import numpy as np

from cuescope_interventions.arrays import cells_of
from cuescope_sdk import Frame
from cuescope_sdk.interventions import open_frame

GRID = 32  # cells along a side: motion of less than a cell is noise
MOST = 4.0  # times as fast, at most
STILL = 0.1  # grey levels: a clip with less motion stands still


def motion(frames: Sequence[Frame]) -> float:
    """Mean change from frame to frame, in grey levels."""
    grids = [cells_of(open_frame(frame), GRID) for frame in frames]
    if len(grids) < 2:
        return 0.0
    changes = np.abs(np.diff(grids, axis=0))
    return float(changes.mean())


def tempo(frames: Sequence[Frame], others: Sequence[Frame]) -> float:
    """How many times as fast other frames move."""
    own = max(motion(frames), STILL)
    wanted = max(motion(others), STILL)
    return min(max(wanted / own, 1 / MOST), MOST)


def in_tempo(frames: Sequence[Frame], times: float) -> list[Frame]:
    """As many frames of the clip, so far apart that it moves so many times as fast.

    A clip that ends too early runs back.
    """
    last = max(len(frames) - 1, 1)
    there_and_back = 2 * last
    picked = []
    for number in range(len(frames)):
        step = round(number * times) % there_and_back
        picked.append(frames[min(step, there_and_back - step)])
    return picked
