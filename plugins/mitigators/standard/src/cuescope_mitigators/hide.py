"""The cue's patches are absent while the model answers: what the model can hide, by its edits."""

from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from cuescope_mitigators.reading import Trials, read
from cuescope_sdk import (
    HideTokens,
    Options,
    Readout,
    Requirements,
    Response,
    Trial,
    UserError,
)
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Router, Task

Mask = Bool[np.ndarray, "frame row col"]


class HideOptions(Options):
    """How the cue's patches are told."""

    spared: float = Field(
        0.95,
        gt=0,
        lt=1,
        description="share of the patches of samples without the cue that stays visible, which "
        "sets how like the cue a patch must be to be hidden",
    )


class MeanPatch(Readout):
    """The mean of all patch tokens of a sample, (dim)."""

    name: ClassVar[str] = "mean-patch"
    gives: ClassVar[Any] = Float[np.ndarray, " dim"]

    def read(self, model: Any, trials: Trials) -> list[np.ndarray]:
        """One row a trial."""
        means = []
        for trial in trials:
            grids = model.patch_features(trial.sample.frames)
            means.append(np.mean([grid.mean(axis=(0, 1)) for grid in grids], axis=0))
        return means

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row."""
        return super().accepts(array, trial) and array.size > 0


class PatchProjection(Readout):
    """How far each patch token lies along a direction, (frame, row, col)."""

    name: ClassVar[str] = "patch-projection"
    gives: ClassVar[Any] = Float[np.ndarray, "frame row col"]
    # bytes: the fields of a readout are its key in the cache
    direction: bytes  # float32 (dim)

    def read(self, model: Any, trials: Trials) -> list[np.ndarray]:
        """One grid of numbers a frame."""
        direction = np.frombuffer(self.direction, np.float32)
        projections = []
        for trial in trials:
            grids = model.patch_features(trial.sample.frames)
            # a number a patch is stored, and not all of its features
            projections.append(np.stack([grid @ direction for grid in grids]))
        return projections

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A grid for each frame."""
        is_grids = super().accepts(array, trial)
        return is_grids and len(array) == len(trial.sample.frames) and array.size > 0


@dataclass(frozen=True)
class HiddenPatches(Mitigation):
    """For each cue a direction among patch tokens (cue, dim), and from where on it is the cue."""

    directions: Float[np.ndarray, "cue dim"]
    thresholds: Float[np.ndarray, " cue"]
    router: Router

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """With the patches of the cues that a sample shows hidden; a trial's own edit stands."""
        free = np.flatnonzero(list(map(_is_free, trials))).tolist()
        if not free:
            return list(ask(trials))
        shown = self.router.route([trials[number] for number in free], ask)
        masks: dict[int, Mask] = {}
        for cue in range(len(self.directions)):
            numbers = list(compress(free, shown[:, cue]))
            samples = [trials[number].sample for number in numbers]
            likenesses = read(ask, projection(self.directions[cue]), samples)
            for number, likeness in zip(numbers, likenesses, strict=True):
                mask = likeness > self.thresholds[cue]
                # a sample may show several cues
                masks[number] = masks.get(number, False) | mask
        changed = list(trials)
        for number, mask in masks.items():
            if mask.any():
                # a frame of which all is like a cue must stay to be answered by
                mask[mask.all(axis=(1, 2))] = False
                edit = HideTokens.from_mask(mask)
                changed[number] = replace(trials[number], edit=edit)
        return list(ask(changed))


def _is_free(trial: Trial) -> bool:
    """Whether it has patches, and asks for nothing that hiding some would change."""
    is_plain = trial.edit is None and trial.readout is None
    return is_plain and bool(trial.sample.frames)


def projection(direction: Float[np.ndarray, " dim"]) -> PatchProjection:
    """The readout of a direction."""
    return PatchProjection(direction=np.asarray(direction, np.float32).tobytes())


class Hide(Mitigator):
    """A direction tells the cue's patches: the mean patch of samples with it minus those without.

    Means are taken label by label, so that the object itself does not enter the direction.
    """

    title = "Hiding the patches that are like the cue"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches"}),
        labels=2,
    )
    Options = HideOptions
    options: HideOptions
    learned = HiddenPatches

    def fit(self, task: Task) -> HiddenPatches:
        """A direction for each cue; raises UserError for a cue that all samples show, or none."""
        means = np.stack(read(task.ask, MeanPatch(), task.samples))
        directions = []
        thresholds = []
        for shows in task.shows.T:
            direction = _direction(means, shows, task.targets)
            without = compress(task.samples, ~shows)
            likeness = read(task.ask, projection(direction), without)
            # flat: samples may have grids of different sizes
            values = np.concatenate(list(map(np.ravel, likeness)))
            directions.append(direction)
            thresholds.append(np.quantile(values, self.options.spared))
        return HiddenPatches(
            directions=np.stack(directions),
            thresholds=np.array(thresholds),
            router=task.router,
        )


def _direction(
    means: Float[np.ndarray, "sample dim"],
    shows: Bool[np.ndarray, " sample"],
    targets: np.ndarray,
) -> Float[np.ndarray, " dim"]:
    gaps = []
    for target in np.unique(targets):
        shown = means[(targets == target) & shows]
        others = means[(targets == target) & ~shows]
        if len(shown) and len(others):
            gaps.append(shown.mean(axis=0) - others.mean(axis=0))
    if not gaps:
        raise UserError(
            "hide: nothing tells the cue from its label in the part that is fitted on",
            expected="a label with samples that show the cue and samples that do not",
            got="none",
            remedy="Take more samples, or fewer cues (--top)",
        )
    gap = np.mean(gaps, axis=0)
    # equal means have no direction, and a length of 0
    return np.asarray(gap / max(np.linalg.norm(gap), 1e-12))
