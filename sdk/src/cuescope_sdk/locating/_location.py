"""Where a cue is: at one place, at places that change, or everywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy import ndimage

from cuescope_core.types import Frame
from cuescope_sdk.locating._cells import (
    HALF,
    Cells,
    Pixels,
    auroc_of_place,
    auroc_of_rest,
    cells_of,
    chance_bound,
    clear_cells,
    pixels_of,
)
from cuescope_sdk.locating._linear import Grid, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask, pieces_of, stretch
from cuescope_sdk.locating._pictures import PixelPatches
from cuescope_sdk.locating._regions import LARGE, PLACED, Region
from cuescope_sdk.statistics import Roc

# AUROC on groups held out: what tells frames worse has no place and no name
TELLS = 0.7
# by chance, four standard errors: models of several folds are pooled, which doubles its spread
RARE = 3.2e-5
SURE = 0.9  # from here on nothing else is tried
TIE = 0.05  # of AUROC
INSIDE = 0.75  # of the cells that differ, in a place that patches tell as well,
SPREAD = 2  # cells, by which patches tell a place larger than it is
BESIDE = 0.25  # of the place, that lies beyond
SMALL = 0.03  # of the frame: cells that are no more may be a part of a larger thing
WIDE = 2 / 3  # of the frame: more is everywhere
Spread = Literal["one place", "changing places", "everywhere", "unknown"]


@dataclass(frozen=True, eq=False)
class Location:
    """Where a cue is in frames, and the AUROC by which frames of other groups are told.

    `mask` are its cells at one place, `region` tells places that change, and `masks` are those of
    some frames, by their keys: of others it is not known.
    """

    spread: Spread
    auroc: float
    mask: Mask | None = None
    region: Region | None = None
    masks: Mapping[str, Mask] = field(default_factory=dict)
    _outlines: dict[str, Mask] = field(default_factory=dict, repr=False)

    @classmethod
    def of_masks(cls, masks: Mapping[str, Mask], auroc: float) -> "Location":
        """Of frames by their keys, in each of which the place was found by itself."""
        common = shared_place([*masks.values()])
        if common is not None:
            return cls("one place", auroc, mask=common)
        return cls("changing places", auroc, masks=masks)

    @property
    def has_place(self) -> bool:
        """Whether it is in a part of the frame."""
        return self.mask is not None or self.region is not None or bool(self.masks)

    def pieces(self) -> list[Mask]:
        """Its cells at one place, those that touch together; [] where it has none."""
        return [] if self.mask is None else pieces_of(self.mask)

    def is_seen_in(self, frame: Frame) -> bool:
        """Whether this frame shows it; what stays where it is can be looked for in all."""
        if self.region is None:
            return self.mask is not None or frame.key in self.masks
        [grid] = PixelPatches.FINE.of([frame])
        return self.region.shows(grid)

    def place_in(self, frame: Frame) -> Mask:
        """Where it is in this frame, or would be; all of the frame where it has no place."""
        if self.mask is not None:
            return self.mask
        if frame.key in self.masks:
            return self.masks[frame.key]
        # a report asks again for the frames that the place was judged by
        if frame.key not in self._outlines:
            [grid] = PixelPatches.FINE.of([frame])
            self._outlines[frame.key] = (
                np.ones(grid.shape[:2], bool)
                if self.region is None
                else self.region.outline(grid)
            )
        return self._outlines[frame.key]


@dataclass(frozen=True, eq=False)
class Pictures:
    """Frames as the localiser sees them."""

    frames: Sequence[Frame]

    @cached_property
    def pixels(self) -> Pixels:
        """Small squares, 0 to 1."""
        return pixels_of(self.frames)

    @cached_property
    def cells(self) -> Cells:
        """What each cell looks like."""
        return cells_of(self.pixels)

    def locate(self, data: Training, rng: Generator) -> Location:
        """What tells frames with a cue from others: a place, places that change, or all of it.

        Two localisers are held against each other on groups that they have not learned from:
        cells that stay where they are, and kinds of patches wherever they are. A cue is everywhere
        where frames are told as well by all that is left of them.
        """
        clues = self._clues(data, rng)
        found = clues.found()
        if found is None:
            spread: Spread = "everywhere" if clues.is_all_over else "unknown"
            return Location(spread, clues.best)
        if self._is_everywhere(found, clues, data, rng):
            return Location("everywhere", clues.best)
        return found

    def _clues(self, data: Training, rng: Generator) -> "_Clues":
        cells = self.cells
        bound = chance_bound(cells, data, rng)
        mask = clear_cells(cells, data, bound)
        whole = auroc_of_rest(cells, data, rng)
        of_place = auroc_of_place(cells, data, rng, bound) if mask.any() else 0.5
        clues = _Clues(mask, of_place, whole, least_telling(data))
        if clues.is_sure and mask.mean() > SMALL:
            return clues
        grids = PixelPatches.FINE.of(self.frames)
        region = Region.learn(grids, data, rng, PixelPatches.FINE.overlap)
        if region is None:
            return clues
        shown = list(compress(grids, data.shows))
        return replace(clues, region=region, shown=shown)

    def _is_everywhere(
        self, found: Location, clues: "_Clues", data: Training, rng: Generator
    ) -> bool:
        """Whether frames are told as well by what is left without the place."""
        outlines = list(map(found.place_in, self.frames))
        if float(np.mean([outline.mean() for outline in outlines])) > WIDE:
            return True
        places = [stretch(outline, clues.mask.shape) for outline in outlines]
        rest = auroc_of_rest(self.cells, data, rng, places)
        # a place that changes is outlined less exactly, and leaves some of the cue behind
        held = TIE if found.mask is None else PLACED * (clues.best - 0.5)
        if rest > clues.best - held:
            return True
        if found.region is None or not found.region.is_everywhere:
            return False
        # by all patches no proof alone: on plain surroundings these tell a small thing too
        area = float(np.mean([found.region.mask(grid).mean() for grid in clues.shown]))
        return bool(found.region.of_likest or area > LARGE)


@dataclass(frozen=True, eq=False)
class _Clues:
    """What tells frames with a cue: cells that stay, the `whole` picture, and kinds of patches.

    `mask` are the cells that differ, which tell frames with the AUROC `of_place`; `least` is the
    AUROC that says anything. `shown` are the patches of frames with the cue.
    """

    mask: Mask
    of_place: float
    whole: float
    least: float
    region: Region | None = None
    shown: Sequence[Grid] = ()

    @property
    def is_sure(self) -> bool:
        """Whether cells alone tell the place."""
        # what is told by the whole picture may have no place, however well cells tell it
        return max(self.of_place, self.whole) >= SURE and self.whole < TELLS

    @cached_property
    def common(self) -> Mask | None:
        """Where most frames with the cue have the patches that tell it."""
        return None if self.region is None else self.region.common_place(self.shown)

    @property
    def by_patches(self) -> Region | None:
        """The patches, where they tell frames as well as anything does."""
        best = max(self.of_place, self.whole)
        if self.region is None or self.is_sure:
            return None
        return self.region if self.region.auroc >= max(self.least, best - TIE) else None

    @property
    def best(self) -> float:
        """How well frames are told."""
        best = max(self.of_place, self.whole)
        return best if self.by_patches is None else max(best, self.by_patches.auroc)

    @property
    def is_all_over(self) -> bool:
        """Whether the cue may be in all of the picture."""
        if self.whole >= self.least:
            return True
        # what is all over the picture stands where most have it, and no cell tells it
        if self.by_patches is None or self.common is None:
            return False
        return bool(self.common.mean() > LARGE)

    def found(self) -> Location | None:
        """By patches where cells do not tell better."""
        region = self.by_patches
        if region is None:
            return self.at_one_place()
        if self.common is None:
            return Location("changing places", region.auroc, region=region)
        if overlap(self.common, self.mask) >= HALF:
            # of few frames each half tells its cells worse, and both agree where they are
            return Location("one place", region.auroc, mask=self.mask)
        by_cells = self.at_one_place()
        if by_cells is not None or self.common.mean() > LARGE or region.is_everywhere:
            return by_cells
        # a thin thing is too little of each cell for cells to tell it
        place = stretch(self.common, self.mask.shape)
        return Location("one place", region.auroc, mask=place)

    def at_one_place(self) -> Location | None:
        """By cells; the place that patches tell as well may be larger."""
        if self.of_place < max(TELLS, self.best - TIE):
            return None
        place = self.mask
        agrees = self.region is not None and self.region.auroc >= self.of_place - TIE
        if agrees and self.common is not None and is_a_part(self.mask, self.common):
            place = stretch(self.common, self.mask.shape)
        return Location("one place", self.of_place, mask=place)


def least_telling(data: Training) -> float:
    """The AUROC from which on frames are told: of few groups more is needed."""
    return max(TELLS, Roc.least_beyond(RARE, *data.groups_of_sides()))


def is_a_part(mask: Mask, common: Mask) -> bool:
    """Whether the cells that differ clearly are a small part of a place that patches tell.

    Patches spread a place over some cells more than it has: what they tell beside it is farther.
    """
    common = stretch(common, mask.shape)
    is_inside = (mask & common).sum() >= INSIDE * mask.sum()
    near = ndimage.binary_dilation(mask, TOUCHING, iterations=SPREAD)
    is_larger = (common & ~near).sum() >= BESIDE * common.sum()
    return bool(is_inside and is_larger and common.mean() <= LARGE)


def shared_place(places: Sequence[Mask]) -> Mask | None:
    """Where most places of several frames are; None where they have less in common than not."""
    common = np.mean(places, axis=0) >= HALF
    shares = [overlap(mask, common) for mask in places]
    return common if np.mean(shares) >= HALF else None


def overlap(one: Mask, other: Mask) -> float:
    """Intersection over union of two masks; 0 where both are empty."""
    other = stretch(other, one.shape)
    return float((one & other).sum() / max((one | other).sum(), 1))
