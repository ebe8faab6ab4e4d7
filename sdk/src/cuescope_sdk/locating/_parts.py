"""A cue's place by its parts: patches of some frames with it that are found again in others.

A kind of patch that few frames have is no word of its own, and a small thing that moves is made of
such. So each patch of frames with the cue is a detector, the whitened direction from the middle of
all patches to it (Hariharan, Malik and Ramanan, 2012), and a frame has as much of it as its likest
place. Those by which frames of other groups are told are kept (Singh, Gupta and Efros, 2012).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator
from scipy import ndimage

from cuescope_sdk.locating._linear import (
    FLAWLESS,
    FOLDS,
    BoolPerFrame,
    Grid,
    Rates,
    Training,
)
from cuescope_sdk.locating._masks import Mask
from cuescope_sdk.locating._patch_models import Halves, Learned, Scores, least_of
from cuescope_sdk.locating._whitening import Whitening, drawn_patches
from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics import Roc

KEPT = 40  # principal components of a patch
FLAT = 0.01  # of the largest variance
SOURCES = 24  # frames with the cue, one of a group, whose patches are tried
TRIED = 3000  # patches of these
CHOSEN = 20
DEALS = 5  # of groups into folds: by one of a few groups the AUROC is a matter of luck
STEEP = 4  # power of a patch's likeness: of half of the likest one's it has a sixteenth
TINY = 1e-9  # of likeness
Patches = Float[np.ndarray, "patch kept"]


@dataclass(frozen=True, eq=False)
class PartReading:
    """How much each patch of a frame is of each part.

    `overlap` is how many patches along a side share pixels.
    """

    likeness: Float[np.ndarray, "row col part"]
    overlap: int

    @cached_property
    def scores(self) -> Scores:
        """Of each patch, or of one that shares its pixels: what it adds to the frame's value.

        Where it is the likest one of a part, all that the part adds; else less, and the less the
        less it is like it.
        """
        likeness = np.maximum(self.likeness, 0.0)
        most = likeness.max(axis=(0, 1))
        share = likeness / np.maximum(most, TINY)
        added = (most * share**STEEP).mean(axis=-1)
        return np.asarray(ndimage.maximum_filter(added, self.overlap))

    def value(self, kept: Mask | None = None) -> float:
        """Of each part as much as the likest patch has, on average."""
        rows, cols, parts = self.likeness.shape
        patches = self.likeness.reshape(rows * cols, parts)
        patches = patches if kept is None else patches[kept.ravel()]
        return float(patches.max(axis=0, initial=0.0).mean())


@dataclass(frozen=True, eq=False)
class Parts:
    """Directions of patches, in units of what frames without the cue have of each at most."""

    whitening: Whitening
    directions: Float[np.ndarray, "part kept"]
    overlap: int
    threshold: float = 0.0
    rates: Rates = FLAWLESS

    @on_one_thread
    def read(self, grid: Grid) -> PartReading:
        """A frame by its likeness to each part."""
        likeness = self.whitening.of(grid) @ self.directions.T
        return PartReading(likeness.reshape(*grid.shape[:2], -1), self.overlap)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Patches that are tried, the group that each is of, and how much of it frames have at most."""

    directions: Patches
    groups: Int[np.ndarray, " patch"]
    most: Float[np.ndarray, "patch frame"]

    def choose(
        self, data: Training, rows: BoolPerFrame
    ) -> tuple[Int[np.ndarray, " part"], Float[np.ndarray, "part 1"]]:
        """Those that tell these frames best, and what frames without the cue have of each at most.

        None is judged by frames of its own group, where it is found because it is from there.
        """
        aurocs = np.zeros(len(self.groups))
        codes = data.groups.codes
        for group in np.unique(codes[rows & data.shows]):
            own = self.groups == group
            others = np.flatnonzero(rows & (codes != group))
            if own.any() and data.has_both(others):
                most = self.most[own][:, others]
                aurocs[own] = Roc.aurocs(most, data.shows[others], data.labels[others])
        best = np.argsort(-aurocs, kind="stable")[:CHOSEN]
        of_others = self.most[best][:, rows & ~data.shows]
        units = np.sqrt((of_others**2).mean(axis=1, keepdims=True))
        return best, np.maximum(units, TINY)

    def held_out_values(
        self, data: Training, rng: Generator
    ) -> Float[np.ndarray, " frame"] | None:
        """What parts of other groups say of each frame; None where a fold has one side."""
        values = np.zeros(len(data.shows))
        for _ in range(DEALS):
            folds = data.folds(rng)
            for fold in range(FOLDS):
                held = folds == fold
                if not data.has_both(~held):
                    return None
                best, units = self.choose(data, ~held)
                most = np.maximum(self.most[best][:, held], 0.0)
                values[held] += (most / units).mean(axis=0) / DEALS
        return values


def learn_parts(
    grids: Sequence[Grid], data: Training, rng: Generator, overlap: int
) -> Learned | None:
    """The parts that tell a cue; None where a half or a fold has one side."""
    whitening = Whitening.learn(drawn_patches(grids, rng), KEPT, FLAT).halved()
    candidates = _candidates(grids, whitening, data, rng)

    values = candidates.held_out_values(data, rng)
    if values is None:
        return None

    def learn(rows: BoolPerFrame) -> Parts:
        best, units = candidates.choose(data, rows)
        return Parts(whitening, candidates.directions[best] / units, overlap)

    halves = _in_halves(grids, data, data.folds(rng) % 2, learn)
    if halves is None:
        return None
    roc = Roc(values, data.shows)
    model = learn(np.ones(len(grids), bool))
    cut = roc.youden_cut()
    model = replace(model, threshold=cut, rates=Rates.of(values, data.shows, cut))
    others = np.flatnonzero(~data.shows).tolist()
    least = least_of([model.read(grids[row]) for row in others])
    return Learned(model, roc.auroc(data.labels) or 0.5, least, halves)


def _in_halves(
    grids: Sequence[Grid],
    data: Training,
    halves: Int[np.ndarray, " frame"],
    learn: Callable[[BoolPerFrame], Parts],
) -> Halves | None:
    models = []
    least = []
    for half in range(2):
        learned = halves != half
        if not data.has_both(learned):
            return None
        model = learn(learned)
        others = np.flatnonzero(learned & ~data.shows).tolist()
        least.append(least_of([model.read(grids[row]) for row in others]))
        models.append(model)
    readings = [
        models[half].read(grid)
        for half, grid in zip(halves.tolist(), grids, strict=True)
    ]
    nothing = [np.zeros(grid.shape[:2], bool) for grid in grids]
    of_frames = [least[half] for half in halves.tolist()]
    return Halves(readings, data, of_frames, nothing, of_likest=True)


@on_one_thread
def _candidates(
    grids: Sequence[Grid], whitening: Whitening, data: Training, rng: Generator
) -> _Candidates:
    codes = data.groups.codes
    shown = rng.permutation(np.flatnonzero(data.shows))
    # frames of a clip are alike: one has all that the others have
    _, first = np.unique(codes[shown], return_index=True)
    sources = shown[np.sort(first)][:SOURCES]
    directions = []
    for row in sources.tolist():
        shape = grids[row].shape[:2]
        of_cue = np.flatnonzero(data.candidates(row, shape))
        some = rng.permutation(of_cue)[: TRIED // len(sources)]
        directions.append(whitening.of(grids[row])[some])
    groups = np.repeat(codes[sources], list(map(len, directions)))
    together = np.concatenate(directions)
    most = [(together @ whitening.of(grid).T).max(axis=1) for grid in grids]
    return _Candidates(together, groups, np.stack(most, axis=1))
