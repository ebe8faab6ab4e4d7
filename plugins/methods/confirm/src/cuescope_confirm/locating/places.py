"""Masks of frames, and a cue with the places that they make."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from cuescope_confirm.study import Cue
from cuescope_sdk import Frame
from cuescope_sdk.interventions import Localisation, LocatedCue, Place, open_frame

Masks = tuple[Bool[np.ndarray, "_row _col"], ...]
REMEMBERED = 100_000  # sizes of frames
_SIZES: dict[str, tuple[int, int]] = {}  # equal keys are equal pixels


def size_of(frame: Frame) -> tuple[int, int]:
    """Rows and columns; a frame is opened for them once, for each cue asks anew."""
    if frame.key not in _SIZES:
        if len(_SIZES) > REMEMBERED:
            _SIZES.clear()
        width, height = open_frame(frame).size
        _SIZES[frame.key] = height, width
    return _SIZES[frame.key]


def box_mask(
    boxes: Iterable[Sequence[float]], size: tuple[int, int]
) -> Bool[np.ndarray, "r c"]:
    """The pixels inside of any box (x0, y0, x1, y1)."""
    mask = np.zeros(size, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        # a start below 0 would count from the other edge
        top = max(int(np.floor(y0)), 0)
        left = max(int(np.floor(x0)), 0)
        # floor and ceil: a pixel that the box touches is inside of it
        mask[top : int(np.ceil(y1)), left : int(np.ceil(x1))] = True
    return mask


def stretch(grid: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """A grid at another size, (row, col): of each cell the nearest one's value."""
    # whole numbers: a rounded float may name a cell beyond the last one
    rows = np.arange(size[0]) * grid.shape[0] // size[0]
    cols = np.arange(size[1]) * grid.shape[1] // size[1]
    return np.asarray(grid[rows][:, cols])


def located_cue(
    cue: Cue,
    places: Mapping[str, Place],
    without: Iterable[str],
    by: str,
    *,
    auroc: float | None = None,
    word: str | None = None,
    has_regions: bool = False,
) -> LocatedCue:
    """The cue at these places; `without` are the samples that do not show it."""
    area = None
    if has_regions and places:
        area = float(np.mean([shown.area for shown in places.values()]))
    return LocatedCue(
        key=cue.feature.key,
        name=cue.name,
        label=cue.label,
        places=places,
        without=frozenset(without),
        quality=Localisation(by, auroc, area, len(places)),
        word=word,
    )
