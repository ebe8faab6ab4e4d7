"""Last-layer retraining (DFR; Kirichenko et al., 2023): a head that is balanced over the groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field, NonNegativeFloat

from cuescope_mitigators.choosing import best_setting, gap_left, worst_group
from cuescope_mitigators.reading import Trials, best_cues, require_labels, wants_logits
from cuescope_mitigators.weighing import balanced_weights
from cuescope_sdk import Options, Requirements, Response
from cuescope_sdk.mitigation import (
    Ask,
    LinearHead,
    Mitigation,
    Mitigator,
    Router,
    Scaler,
    Task,
    halves,
)

SampleMask = Bool[np.ndarray, " sample"]
# inverse strengths of the penalty on what departs from the model's own head, the strongest first;
# of those that cost at most `cost`, the best for the `goal` in two halves is taken
STRENGTHS = (0.0001, 0.0003, 0.001, 0.01, 0.1, 1.0)
ENOUGH = 20  # samples of each of two labels that show a cue, to learn of these alone


class LastLayerOptions(Options):
    """How the head is learned, and where it answers."""

    goal: Literal["gap", "worst-group"] = Field(
        "gap",
        description="gap: the hurt labels are as right with their cues as without; worst-group: "
        "the group of label and cue with the lowest accuracy is best, as published",
    )
    cost: NonNegativeFloat = Field(
        0.01,
        description="overall accuracy that may be lost in these halves; 1: any, as published",
    )
    everywhere: bool = Field(
        False,
        description="the head learns from samples without a cue too, and answers them, as "
        "published",
    )


@dataclass(frozen=True)
class Head(Mitigation):
    """Logits gain `weights` (label, dim) times the embedding, plus `bias`, where a cue is shown."""

    labels: tuple[str, ...]
    weights: Float[np.ndarray, "label dim"]
    bias: Float[np.ndarray, " label"]
    everywhere: bool
    router: Router

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """By the new head where the sample shows a cue; without one, as before."""
        # a head for all samples need not know which of them show a cue
        cues = [0] * len(trials)
        if not self.everywhere:
            cues = best_cues(self.router, trials, wants_logits, ask)

        def logits(place: int, answer: Response) -> np.ndarray:
            if cues[place] < 0:
                return np.asarray(answer.logits)
            embedding = np.asarray(answer.embedding, np.float64)
            gains = self.weights @ embedding + self.bias
            columns = self.columns(trials[place])
            return np.asarray(answer.logits + gains[columns])

        return self.rescore(trials, ask, logits)


class LastLayer(Mitigator):
    """Logistic regression on the frozen embeddings, where each group weighs the same.

    Deviates from the paper, which fits a head anew on equally many samples of each group: all are
    used, weighted, which spares rare groups that loss; the penalty is on the difference to the
    model's own head, so that what the groups do not ask for stays; the strength of the penalty may
    not cost more than a share of all answers; the head answers where a cue is shown, and learns
    there too, or of all samples where those with a cue are few and two halves say that this is
    better.
    """

    title = "Last-layer retraining, balanced over the groups"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = LastLayerOptions
    options: LastLayerOptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """A new head; raises UserError where the part to fit on lacks a label."""
        require_labels(task, "last-layer")
        answered = np.asarray(task.shows.any(axis=1) | self.options.everywhere)
        lessons = list(_lessons(task, answered))
        lesson, strength = self._choose(task, answered, lessons)
        weights, bias = lesson.scaler.unscale(lesson.head(slice(None), strength))
        return Head(
            labels=task.labels,
            weights=weights,
            bias=bias,
            everywhere=self.options.everywhere,
            router=task.router,
        )

    def _choose(
        self, task: Task, answered: SampleMask, lessons: Sequence["Lesson"]
    ) -> tuple["Lesson", float]:
        """What two halves ask for; some samples are `answered` by the head, the others stay."""
        before = task.logits.argmax(axis=1) == task.targets
        # best_setting takes the first of equals: samples with a cue alone, the strongest penalty
        settings = list(product(range(len(lessons)), STRENGTHS))
        right = {}
        for setting in settings:
            number, strength = setting
            # what is not answered by the head stays as it was, as when the remedy is used
            right[setting] = np.where(
                answered, lessons[number].right(strength, before), before
            )
        loss = gap_left(task, range(task.shows.shape[1]))
        if self.options.goal == "worst-group":
            loss = worst_group(task.groups)
        most = self.options.cost * len(before)
        number, strength = best_setting(right, before, most, loss)
        return lessons[number], strength


@dataclass(frozen=True, eq=False)
class Lesson:
    """The samples at some `rows` of a task, of which a head learns; each group weighs the same."""

    rows: Int[np.ndarray, " row"]
    inputs: Float[np.ndarray, "row input"]
    offset: Float[np.ndarray, "row label"]
    targets: Int[np.ndarray, " row"]
    groups: Int[np.ndarray, " row"]
    scaler: Scaler

    @classmethod
    def of(cls, task: Task, learns: SampleMask) -> "Lesson":
        """Of the samples that a mask chooses."""
        rows = np.flatnonzero(learns)
        embedding = task.embedding[rows]
        # one spread for all: with one for each dimension noise would weigh as much
        scaler = Scaler.of(embedding)
        return cls(
            rows=rows,
            inputs=scaler.inputs(embedding),
            offset=task.logits[rows],
            targets=task.targets[rows],
            groups=task.groups[rows],
            scaler=scaler,
        )

    def head(
        self, which: slice | np.ndarray, strength: float
    ) -> Float[np.ndarray, "label input"]:
        """What some of them teach."""
        return LinearHead.fit(
            self.inputs[which],
            self.offset[which],
            self.targets[which],
            balanced_weights(self.groups[which], self.targets[which]),
            strength,
        )

    def right(self, strength: float, before: SampleMask) -> SampleMask:
        """Which samples of the task are right, where each half is answered by the other's head.

        Those of no half are as they were `before`.
        """
        right = before.copy()
        half = halves(self.groups)
        # groups of one sample each leave the second half empty
        if not half.any():
            return right
        for tested in (half == 0, half == 1):
            gains = self.inputs[tested] @ self.head(~tested, strength).T
            answers = (self.offset[tested] + gains).argmax(axis=1)
            right[self.rows[tested]] = answers == self.targets[tested]
        return right


def _lessons(task: Task, answered: SampleMask) -> Iterator[Lesson]:
    """Of which samples a head may learn: of those that it will answer; where these are few, of all.

    One or two samples of a label with a cue teach as little as none, and weigh as much as all
    others: what is learned of them is no remedy.
    """
    counts = np.sort(np.bincount(task.targets[answered], minlength=len(task.labels)))
    second = counts[-2]  # samples of one label alone tell no labels apart
    if second:
        yield Lesson.of(task, answered)
    else:
        task.context.announce(
            "last-layer: in the part that is fitted on, cues are met with one label alone; it "
            "learns from samples without a cue, too"
        )
    if second < ENOUGH and not (second and answered.all()):
        yield Lesson.of(task, np.ones_like(answered))
