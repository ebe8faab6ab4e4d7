"""Heads learned anew on frozen embeddings, as published: what they are taught, and how far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_mitigators.choosing import worst_group
from cuescope_mitigators.reading import Trials, require_labels
from cuescope_sdk import Response, UserError
from cuescope_sdk.mitigation import Ask, Mitigation, Scaler, Task, halves
from cuescope_sdk.report import count_of

Setting = TypeVar("Setting")
InputHead = Float[np.ndarray, "label input"]


@dataclass(frozen=True)
class NewHead(Mitigation):
    """Logits are `weights` (label, dim) times the embedding, plus `bias`, for every sample."""

    labels: tuple[str, ...]
    weights: Float[np.ndarray, "label dim"]
    bias: Float[np.ndarray, " label"]

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """By the new head alone: what the model's own says does not enter."""

        def logits(place: int, answer: Response) -> np.ndarray:
            embedding = np.asarray(answer.embedding, np.float64)
            columns = self.columns(trials[place])
            return np.asarray(self.weights @ embedding + self.bias)[columns]

        return self.rescore(trials, ask, logits)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a head is taught: samples in groups of label and cue; `wrong` where the model errs."""

    inputs: Float[np.ndarray, "sample input"]
    targets: Int[np.ndarray, " sample"]
    groups: Int[np.ndarray, " sample"]
    wrong: Bool[np.ndarray, " sample"]
    labels: int

    def take(self, rows: np.ndarray) -> "Lesson":
        """Some of the samples."""
        return replace(
            self,
            inputs=self.inputs[rows],
            targets=self.targets[rows],
            groups=self.groups[rows],
            wrong=self.wrong[rows],
        )


Learn = Callable[[Lesson, Setting], InputHead]


def new_head(
    task: Task,
    name: str,
    *,
    settings: Sequence[Setting],
    tried: Learn[Setting],
    learn: Learn[Setting],
    least: int,
) -> NewHead:
    """A head that `learn` makes of the task, with the setting that its halves ask for.

    `tried` is what makes those of the halves, `least` the samples that a group must have. Raises
    UserError where the groups of a label have fewer.
    """
    require_labels(task, name)
    sizes = np.bincount(task.groups)
    rows = np.flatnonzero(sizes[task.groups] >= least)
    targets = task.targets[rows]
    # without a group of one label, another label's samples would be answered by luck
    if len(np.unique(targets)) < len(task.labels):
        raise UserError(
            f"{name}: a label has no group of {least} samples in the part that is fitted on",
            expected=f"{count_of(least, 'samples')} of each label, with a cue or without",
            remedy="Take more samples, or -O least=2",
        )
    embedding = task.embedding[rows]
    scaler = Scaler.of(embedding, each=True)
    # numbers without gaps: groups that are too small are gone
    _, groups = np.unique(task.groups[rows], return_inverse=True)
    lesson = Lesson(
        inputs=scaler.inputs(embedding),
        targets=targets,
        groups=groups.ravel(),
        wrong=task.logits[rows].argmax(axis=1) != targets,
        labels=len(task.labels),
    )
    weights, bias = scaler.unscale(
        learn(lesson, best_for_worst(lesson, settings, tried))
    )
    return NewHead(labels=task.labels, weights=weights, bias=bias)


def best_for_worst(
    lesson: Lesson, settings: Sequence[Setting], learn: Learn[Setting]
) -> Setting:
    """The setting whose worst group is best, where each half is answered by the other's head."""
    half = halves(lesson.groups)
    loss = worst_group(lesson.groups)

    def worst(setting: Setting) -> float:
        right = np.zeros(len(half), dtype=bool)
        for tested in (half == 0, half == 1):
            head = learn(lesson.take(~tested), setting)
            answers = (lesson.inputs[tested] @ head.T).argmax(axis=1)
            right[tested] = answers == lesson.targets[tested]
        return loss(right).value

    return settings[0] if len(settings) == 1 else min(settings, key=worst)
