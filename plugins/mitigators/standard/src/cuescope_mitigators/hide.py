"""The cue's patches are absent while the model answers: what the model can hide, by its edits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from cuescope_sdk import HideTokens, Options, Readout, Requirements, Response, Trial, UserError
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Router, Task


class HideOptions(Options):
    """How the cue's patches are told."""

    spared: float = Field(
        0.95,
        gt=0,
        lt=1,
        description="share of the patches of samples without the cue that stays visible, which "
        "sets how like the cue a patch must be to be hidden",
    )
    most: float = Field(
        0.8, gt=0, lt=1, description="most of a sample's patches that are hidden, the likest first"
    )


class MeanPatch(Readout):
    """The mean of all patch tokens of a sample, (dim)."""

    name: ClassVar[str] = "mean-patch"

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """One row a trial."""
        means = []
        for trial in trials:
            grids = model.patch_features(trial.sample.frames)
            mean = np.mean([grid.mean(axis=(0, 1)) for grid in grids], axis=0)
            means.append(mean)
        return means


class PatchProjection(Readout):
    """How far each patch token lies along a direction, (frame, row, col)."""

    name: ClassVar[str] = "patch-projection"
    direction: bytes  # float32 (dim)

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """One grid of numbers a frame."""
        along = np.frombuffer(self.direction, np.float32)
        projections = []
        for trial in trials:
            grids = model.patch_features(trial.sample.frames)
            projection = np.stack([grid @ along for grid in grids])
            projections.append(projection)
        return projections


@dataclass(frozen=True)
class HiddenPatches(Mitigation):
    """For each cue a direction among patch tokens (cue, dim), and from where on it is the cue."""

    directions: Float[np.ndarray, "cue dim"]
    thresholds: Float[np.ndarray, " cue"]
    most: float
    router: Router

    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        """With the patches of the cues that a sample shows hidden; a trial's own edit stands."""
        free = [number for number, trial in enumerate(trials) if _is_free(trial)]
        if not free:
            return list(ask(trials))
        shown = self.router.route([trials[number] for number in free], ask)
        masks: dict[int, Bool[np.ndarray, "frame row col"]] = {}
        for cue in range(len(self.directions)):
            numbers = [number for number, shows in zip(free, shown, strict=True) if shows[cue]]
            of_cue = self._masks([trials[number] for number in numbers], cue, ask)
            for number, mask in zip(numbers, of_cue, strict=True):
                masks[number] = masks.get(number, np.zeros_like(mask)) | mask
        changed = list(trials)
        for number, mask in masks.items():
            if mask.any():
                edit = HideTokens.from_mask(self._bounded(mask))
                changed[number] = replace(trials[number], edit=edit)
        return list(ask(changed))

    def _masks(self, trials: Sequence[Trial], cue: int, ask: Ask) -> list[np.ndarray]:
        readout = projection(self.directions[cue])
        answers = ask([readout.of(trial.sample) for trial in trials]) if trials else []
        masks = []
        for answer in answers:
            likeness = np.asarray(answer.readout)
            bound = np.quantile(likeness, 1 - self.most)
            masks.append(likeness > max(float(self.thresholds[cue]), float(bound)))
        return masks

    def _bounded(self, mask: Bool[np.ndarray, "frame row col"]) -> np.ndarray:
        """Something stays visible in each frame, whatever several cues hide together."""
        full = mask.all(axis=(1, 2))
        mask[full] = False
        return mask


def _is_free(trial: Trial) -> bool:
    """Whether it has patches, and asks for nothing that hiding some would change."""
    return trial.edit is None and trial.readout is None and bool(trial.sample.frames)


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
        readout = MeanPatch()
        answers = task.ask([readout.of(sample) for sample in task.samples])
        means = np.stack([np.asarray(answer.readout) for answer in answers])
        directions = []
        thresholds = []
        for cue in range(task.shows.shape[1]):
            shows = task.shows[:, cue]
            direction = _direction(means, shows, task.targets)
            readout_of_cue = projection(direction)
            without = compress(task.samples, ~shows)
            answers = task.ask([readout_of_cue.of(sample) for sample in without])
            likeness = np.concatenate([np.asarray(answer.readout).ravel() for answer in answers])
            directions.append(direction)
            thresholds.append(float(np.quantile(likeness, self.options.spared)))
        return HiddenPatches(
            directions=np.stack(directions),
            thresholds=np.array(thresholds),
            most=self.options.most,
            router=task.router,
        )


def _direction(
    means: Float[np.ndarray, "sample dim"], shows: Bool[np.ndarray, " sample"], targets: np.ndarray
) -> Float[np.ndarray, " dim"]:
    gaps = []
    for target in np.unique(targets):
        of_label = targets == target
        if shows[of_label].any() and not shows[of_label].all():
            gaps.append(means[of_label & shows].mean(0) - means[of_label & ~shows].mean(0))
    if not gaps:
        raise UserError(
            "hide: nothing tells the cue from its label in the part that is fitted on",
            expected="a label with samples that show the cue and samples that do not",
            got="none",
            remedy="Take more samples, or fewer cues (--top)",
        )
    gap = np.mean(gaps, axis=0)
    return np.asarray(gap / max(float(np.linalg.norm(gap)), 1e-12))
