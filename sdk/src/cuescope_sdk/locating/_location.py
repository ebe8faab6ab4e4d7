"""Where a cue is: at one place, at places that change, or everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Literal

import numpy as np
from numpy.random import Generator

from cuescope_core.types import Frame
from cuescope_sdk.locating._figures import auroc_of_wholes
from cuescope_sdk.locating._linear import Rows, Training
from cuescope_sdk.locating._masks import Mask
from cuescope_sdk.locating._patch_model import Region
from cuescope_sdk.locating._pictures import PixelPatches
from cuescope_sdk.statistics import Roc

TELLS = 0.7  # AUROC on groups held out: acceptable discrimination (Hosmer and Lemeshow, 2000)
RARE = 3.2e-5  # by chance, four standard errors
Spread = Literal["one place", "changing places", "everywhere"]


@dataclass(frozen=True, eq=False)
class Location:
    """Where a cue is in frames, and the AUROC by which frames of other groups are told.

    `mask` are its patches at one place, and `region` tells places that change.
    """

    spread: Spread
    auroc: float
    mask: Mask | None = None
    region: Region | None = None
    _outlines: dict[str, Mask] = field(default_factory=dict, repr=False)

    @property
    def has_place(self) -> bool:
        """True if it is in a part of the frame."""
        return self.mask is not None or self.region is not None

    def is_seen_in(self, frame: Frame) -> bool:
        """True if this frame shows it; what stays where it is can be looked for in all."""
        if self.region is None:
            return self.mask is not None
        [grid] = PixelPatches.FINE.of([frame])
        return self.region.shows(grid)

    def place_in(self, frame: Frame) -> Mask:
        """Where it is in this frame, or would be; all of the frame where it has no place."""
        if self.mask is not None:
            return self.mask
        # a report asks again for the frames that the place was judged by
        if frame.key not in self._outlines:
            [grid] = PixelPatches.FINE.of([frame])
            self._outlines[frame.key] = (
                np.ones(grid.shape[:2], bool)
                if self.region is None
                else self.region.mask(grid)
            )
        return self._outlines[frame.key]


def locate(
    frames: Sequence[Frame], wholes: Rows, data: Training, rng: Generator
) -> Location | None:
    """What tells frames with a cue from others: a place, places that change, or all of them.

    `wholes` describe all of each frame in a row. They and patches are judged on the same groups
    held out. A cue is everywhere where the whole tells it better by more than chance, or where
    covering the place that patches tell does not take it away. None where neither tells it.
    """
    region = Region.learn(
        PixelPatches.FINE.of(frames), data, rng, PixelPatches.FINE.overlap
    )
    whole = auroc_of_wholes(wholes, data, rng)
    best = whole if region is None else max(whole, region.auroc)
    if best < least_telling(data):
        return None
    chance = Roc.null_error(*data.groups_of_sides())
    if region is None or region.is_everywhere or region.auroc < whole - chance:
        return Location("everywhere", best)
    shown = PixelPatches.FINE.of(list(compress(frames, data.shows)))
    showing = list(filter(region.shows, shown)) or shown
    common = region.common_place(showing)
    if common is None:
        return Location("changing places", region.auroc, region=region)
    return Location("one place", region.auroc, mask=common)


def least_telling(data: Training) -> float:
    """The AUROC from which on frames are told: of few groups more is needed."""
    return max(TELLS, Roc.least_beyond(RARE, *data.groups_of_sides()))
