"""Heads on frozen embeddings: what they are taught, and with which strength."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field

from cuescope_mitigators.reading import Trials
from cuescope_sdk import Options, Response, UserError
from cuescope_sdk.mitigation import Ask, Mitigation, Scaler, Task, halves
from cuescope_sdk.report import count_of

Setting = TypeVar("Setting")
InputHead = Float[np.ndarray, "label input"]


class HeadOptions(Options):
    """Options of a head that is learned anew."""

    least: int = Field(
        4, ge=2, description="a group with fewer fitted samples is left out"
    )


@dataclass(frozen=True)
class Head(Mitigation):
    """Logits are `weights` (label, dim) times the embedding, plus `bias`, for every sample.

    With `adds` they are added to the model's own.
    """

    labels: tuple[str, ...]
    weights: Float[np.ndarray, "label dim"]
    bias: Float[np.ndarray, " label"]
    adds: bool

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """Answer by the head."""

        def logits(place: int, answer: Response) -> np.ndarray:
            embedding = np.asarray(answer.embedding, np.float64)
            columns = self.columns(trials[place])
            of_head = (self.weights @ embedding + self.bias)[columns]
            return np.asarray(answer.logits + of_head if self.adds else of_head)

        return self.rescore(trials, ask, logits)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Samples that a head is taught, in groups of label and cue; `wrong` where the model errs.

    `own` are the logits that the head is added to, 0 for one that answers alone.
    """

    inputs: Float[np.ndarray, "sample input"]
    own: Float[np.ndarray, "sample label"]
    targets: Int[np.ndarray, " sample"]
    groups: Int[np.ndarray, " sample"]
    wrong: Bool[np.ndarray, " sample"]

    @property
    def labels(self) -> int:
        """Number of labels."""
        return int(self.own.shape[1])

    def take(self, rows: np.ndarray) -> "Lesson":
        """Some of the samples."""
        return replace(
            self,
            inputs=self.inputs[rows],
            own=self.own[rows],
            targets=self.targets[rows],
            groups=self.groups[rows],
            wrong=self.wrong[rows],
        )


Learn = Callable[[Lesson, Setting], InputHead]


def learn_head(
    task: Task,
    name: str,
    *,
    settings: Sequence[Setting],
    learn: Learn[Setting],
    tried: Learn[Setting] | None = None,
    least: int = 1,
    adds: bool = False,
) -> Head:
    """A head that `learn` makes of the task, with the setting that is best for the worst group.

    `tried` is a quicker way to learn while settings are compared, `least` the samples that a group
    must have. Raises UserError where the groups of a label have fewer.
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
    # one spread for all where the head is added: with one for each noise would weigh as much
    scaler = Scaler.of(embedding, each=not adds)
    logits = task.logits[rows]
    # numbers without gaps: groups that are too small are gone
    _, groups = np.unique(task.groups[rows], return_inverse=True)
    lesson = Lesson(
        inputs=scaler.inputs(embedding),
        own=logits if adds else np.zeros_like(logits),
        targets=targets,
        groups=groups.ravel(),
        wrong=logits.argmax(axis=1) != targets,
    )
    best = best_for_worst(lesson, settings, tried or learn)
    weights, bias = scaler.unscale(learn(lesson, best))
    return Head(task.labels, weights, bias, adds)


def best_for_worst(
    lesson: Lesson, settings: Sequence[Setting], learn: Learn[Setting]
) -> Setting:
    """The setting whose worst group is best, where each half is answered by the other's head."""
    half = halves(lesson.groups)
    sizes = np.bincount(lesson.groups)

    def worst(setting: Setting) -> float:
        right = np.zeros(len(half), dtype=bool)
        for tested in (half == 0, half == 1):
            head = learn(lesson.take(~tested), setting)
            answers = (lesson.own + lesson.inputs @ head.T)[tested].argmax(axis=1)
            right[tested] = answers == lesson.targets[tested]
        rates = np.bincount(lesson.groups, right) / sizes
        return float(rates.min())

    return max(settings, key=worst)


def require_labels(task: Task, name: str) -> None:
    """Raise UserError where the part to fit on has no sample of a label."""
    missing = set(task.labels) - {sample.label for sample in task.samples}
    if missing:
        raise UserError(
            f"{name}: a label has no sample in the part that is fitted on",
            expected="samples of each label",
            got=f"none of {', '.join(sorted(missing)[:4])}",
            remedy="Take more samples, or fewer labels",
        )
