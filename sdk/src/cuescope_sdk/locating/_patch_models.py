"""What tells a cue by patches, and how much of it a part of a frame holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage

from cuescope_sdk.locating._linear import Grid, Rates, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.statistics import Roc

ELSEWHERE = 0.9  # of the patches of frames without the cue: so many are in no place
Scores = Float[np.ndarray, "row col"]


class Reading(Protocol):
    """What the patches of a frame say for a cue."""

    @property
    def scores(self) -> Scores:
        """Of each patch."""

    def value(self, kept: Mask | None = None) -> float:
        """Of the frame, by all patches or by those that are kept."""


class PatchModel(Protocol):
    """What reads frames; a frame whose value is above the threshold shows the cue."""

    @property
    def threshold(self) -> float:
        """A value of `Reading`."""

    @property
    def rates(self) -> Rates:
        """Of frames that it has not learned from."""

    def read(self, grid: Grid) -> Reading:
        """A frame by its patches."""


@dataclass(frozen=True, eq=False)
class Halves:
    """Frames, each read by a model of the half that it is not in.

    `least` is what most patches of that half's frames without the cue do not exceed. `company` are
    patches that tell nothing of the cue itself. Where values are `of_likest` patches alone, a frame
    that loses these is told by that.
    """

    readings: Sequence[Reading]
    data: Training
    least: Sequence[float]
    company: Sequence[Mask]
    of_likest: bool = False

    @property
    def scores(self) -> list[Scores]:
        """Of each frame's patches."""
        return [reading.scores for reading in self.readings]

    def places(self, share: float) -> list[Mask]:
        """Where the cue is in each frame, or would be."""
        least = np.array(self.least)[:, None, None]
        return list(place_in(np.stack(self.scores), least, share))

    def frames_with_cue(self) -> Bool[np.ndarray, " frame"]:
        """Which frames the models take for those with the cue: a list may hold others too."""
        values = np.array([reading.value() for reading in self.readings])
        return values >= Roc(values, self.data.shows).youden_cut()

    def told_without(self, masks: Sequence[Mask]) -> float:
        """How well frames tell the cue without these patches and its company, as an AUROC."""
        values = [
            reading.value(~(mask | company))
            for reading, mask, company in zip(
                self.readings, masks, self.company, strict=True
            )
        ]
        return Roc(np.array(values), self.data.shows).auroc(self.data.labels) or 0.5


@dataclass(frozen=True, eq=False)
class Learned:
    """The model of all frames, its AUROC on groups held out, and what models of halves say.

    `least` is what most patches of frames without the cue do not exceed.
    """

    model: PatchModel
    auroc: float
    least: float
    halves: Halves


def place_in(
    scores: Float[np.ndarray, "*frame row col"],
    least: float | Float[np.ndarray, "frame 1 1"],
    share: float,
) -> Bool[np.ndarray, "*frame row col"]:
    """The patches above both bounds, and what lies between them; the highest where none is."""
    highest = scores.max(axis=(-2, -1), keepdims=True)
    place = fill_gaps(scores > np.maximum(least, share * highest))
    is_any = place.any(axis=(-2, -1), keepdims=True)
    return np.where(is_any, place, scores >= highest)


def fill_gaps(
    masks: Bool[np.ndarray, "*frame row col"],
) -> Bool[np.ndarray, "*frame row col"]:
    """With what lies between patches, as what stands between two letters."""
    rows, cols = masks.shape[-2:]
    # padded: at its edge a grid has nothing beside it that could be closed
    padded = np.zeros((*masks.shape[:-2], rows + 4, cols + 4), bool)
    padded[..., 2:-2, 2:-2] = masks
    touching = TOUCHING.reshape(*(1 for _ in masks.shape[:-2]), *TOUCHING.shape)
    closed = ndimage.binary_closing(padded, touching)[..., 2:-2, 2:-2]
    return np.asarray(closed | masks)


def likest_part(
    scores: Float[np.ndarray, "row col"],
    area: float,
) -> Bool[np.ndarray, "row col"]:
    """A share of the patches, the highest ones."""
    count = max(1, round(area * scores.size))
    order = np.argsort(-scores, axis=None, kind="stable")
    mask = np.zeros(scores.size, bool)
    mask[order[:count]] = True
    return mask.reshape(scores.shape)


def least_of(others: Sequence[Reading]) -> float:
    """What most patches of frames without the cue do not exceed."""
    scores = [reading.scores.ravel() for reading in others]
    return float(np.quantile(np.concatenate(scores), ELSEWHERE))
