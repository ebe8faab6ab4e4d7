"""Where a cue is, and how well that is known; masks of frames."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Frame
from cuescope_sdk.interventions import Place, open_frame

Mask = Bool[np.ndarray, "_row _col"]
Masks = tuple[Mask, ...]
Size = tuple[int, int]  # rows, columns
GOOD_AUROC = 0.75  # a localisation that ranks worse than this decides nothing
REMEMBERED = 100_000  # sizes of frames
_SIZES: dict[str, Size] = {}  # equal keys are equal pixels


@dataclass(frozen=True, eq=False)
class LocatedCue:
    """A cue's places, by the keys of the samples that show it, and `by` what they are known.

    `without` are the samples that do not show it; of a sample in neither nobody knows. `auroc` is
    how well the localiser tells samples with the cue from others that it has not learned from, None
    where places are annotated. `word` is what a person calls the cue, None where it has no such
    name. `objects` are the masks of what is asked for, where known. `likest` is where a localiser
    would see the cue in samples without it: what is done there is no more than chance. `purity` is
    the share of the samples in `places` that do show the cue, as the run's own lists tell it.
    """

    places: Mapping[str, Place]
    without: Set[str]
    by: str
    auroc: float | None = None
    word: str | None = None
    objects: Mapping[str, Masks] = field(default_factory=dict)
    likest: Mapping[str, Place] = field(default_factory=dict)
    purity: float = 1.0

    @property
    def is_sure(self) -> bool:
        """Whether what is done at these places is done to the cue."""
        return self.auroc is None or self.auroc >= GOOD_AUROC

    @property
    def known(self) -> Set[str]:
        """What is known in at least one sample; stills, where others are known to be without it."""
        named = {"name"} if self.word else set()
        known = named.union(*(shown.known for shown in self.places.values()))
        return known if self.without else known - {"still", "inside"}

    @cached_property
    def area(self) -> float | None:
        """The mean share of the pixels of frames that show it; None where no region is known."""
        areas = [
            shown.area
            for shown in self.places.values()
            # all of a modality is no region
            if shown.masks and shown.modality is None
        ]
        return float(np.mean(areas)) if areas else None


def size_of(frame: Frame) -> Size:
    """Rows and columns; a frame is opened for them once, for each cue asks anew."""
    if frame.key not in _SIZES:
        if len(_SIZES) > REMEMBERED:
            _SIZES.clear()
        width, height = open_frame(frame).size
        _SIZES[frame.key] = height, width
    return _SIZES[frame.key]


def box_mask(
    boxes: Iterable[Sequence[float]],
    size: Size,
) -> Mask:
    """The pixels inside of any box (x0, y0, x1, y1)."""
    mask = np.zeros(size, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        # a start below 0 would count from the other edge
        top = max(floor(y0), 0)
        left = max(floor(x0), 0)
        # floor and ceil: a pixel that the box touches is inside of it
        mask[top : ceil(y1), left : ceil(x1)] = True
    return mask
