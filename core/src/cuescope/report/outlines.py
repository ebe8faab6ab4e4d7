"""The line around some cells of a grid, as a path of SVG."""

import numpy as np


def path_around(mask: np.ndarray, width: int, height: int) -> str:
    """The edges between cells of the mask (row, col) and others, in a picture of this size.

    >>> path_around(np.array([[True, False]]), 20, 10)
    'M0 0H10M0 10H10M0 0V10M10 0V10'
    """
    rows, cols = mask.shape
    high = height / rows
    wide = width / cols
    # what lies outside of the frame is no part of the mask
    framed = np.pad(mask, 1)
    across = framed[1:, 1:-1] != framed[:-1, 1:-1]
    down = framed[1:-1, 1:] != framed[1:-1, :-1]
    path = []
    for row, start, end in _runs(across):
        path.append(f"M{start * wide:g} {row * high:g}H{end * wide:g}")
    for col, start, end in _runs(down.T):
        path.append(f"M{col * wide:g} {start * high:g}V{end * high:g}")
    return "".join(path)


def _runs(lines: np.ndarray) -> list[tuple[int, int, int]]:
    """Yield the number of each line, and where a run of True starts and ends."""
    steps = np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    numbers, starts = np.nonzero(steps == 1)
    _, ends = np.nonzero(steps == -1)
    return list(zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True))
