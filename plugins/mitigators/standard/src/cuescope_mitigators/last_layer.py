"""Last-layer retraining (DFR; Kirichenko et al., 2023): a head that is balanced over the groups."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field, NonNegativeFloat, PositiveFloat

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


class LastLayerOptions(Options):
    """How the head is learned, and where it answers."""

    strengths: tuple[PositiveFloat, ...] = Field(
        (0.0001, 0.0003, 0.001, 0.01, 0.1, 1.0),
        min_length=1,
        description="inverse strengths of the penalty on what departs from the model's own head; "
        "of those that cost at most `cost`, the best for the `goal` in two halves of the fitting "
        "part is taken",
    )
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
    after_refit: bool = Field(
        False,
        description="all samples are answered by a plain refit first, which knows no cue; what is "
        "learned for samples with a cue is added to that",
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


@dataclass(frozen=True)
class HeadAfterRefit(Head):
    """The same, added to the answers of `first`."""

    first: Head

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """`first` answers in place of the model."""
        return super().answer(trials, lambda asked: self.first.answer(asked, ask))


class LastLayer(Mitigator):
    """Logistic regression on the frozen embeddings, where each group weighs the same.

    Deviates from the paper, which fits a head anew on equally many samples of each group: all are
    used, weighted, which spares rare groups that loss; the penalty is on the difference to the
    model's own head, so that what the groups do not ask for stays; the strength of the penalty may
    not cost more than a share of all answers; and the head answers where a cue is shown.
    """

    title = "Last-layer retraining, balanced over the groups"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = LastLayerOptions
    options: LastLayerOptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """A new head; raises UserError where the part to fit on lacks a label."""
        require_labels(task, "last-layer")
        if not self.options.after_refit:
            return self._fit(task)
        first = refit_of(task)
        # learned of a model that answers as the refit does
        then = replace(task, ask=lambda trials: first.answer(trials, task.ask))
        return HeadAfterRefit(**vars(self._fit(then)), first=first)

    def _fit(self, task: Task) -> Head:
        learns = np.asarray(task.shows.any(axis=1) | self.options.everywhere)
        if len(np.unique(task.targets[learns])) < 2:
            task.context.announce(
                "last-layer: in the part that is fitted on, cues are met with one label alone; it "
                "learns from samples without a cue, too"
            )
            learns[:] = True
        rows = np.flatnonzero(learns)
        embedding = task.embedding[rows]
        # one spread for all: with one for each dimension noise would weigh as much
        scaler = Scaler.of(embedding)
        head = self._head(task, rows, scaler.inputs(embedding))
        weights, bias = scaler.unscale(head)
        return Head(
            labels=task.labels,
            weights=weights,
            bias=bias,
            everywhere=self.options.everywhere,
            router=task.router,
        )

    def _head(
        self,
        task: Task,
        rows: Int[np.ndarray, " row"],
        inputs: Float[np.ndarray, "row dim"],
    ) -> Float[np.ndarray, "label dim"]:
        """Fitted to these rows of the task, with the strength that two halves of them ask for."""
        offset = task.logits[rows]
        targets = task.targets[rows]
        groups = task.groups[rows]
        before = task.logits.argmax(axis=1) == task.targets

        def head(which: slice | np.ndarray, strength: float) -> np.ndarray:
            weights = balanced_weights(groups[which], targets[which])
            return LinearHead.fit(
                inputs[which], offset[which], targets[which], weights, strength
            )

        # the strongest penalty first: best_setting takes the smallest departure of equals
        strengths = sorted(self.options.strengths)
        # samples that show no cue are answered as before
        right = {strength: before.copy() for strength in strengths}
        half = halves(groups)
        # groups of one sample each leave the second half empty
        if len(strengths) > 1 and half.any():
            for strength in strengths:
                for tested in (half == 0, half == 1):
                    gains = inputs[tested] @ head(~tested, strength).T
                    answers = (offset[tested] + gains).argmax(axis=1)
                    right[strength][rows[tested]] = answers == targets[tested]
        loss = gap_left(task, range(task.shows.shape[1]))
        if self.options.goal == "worst-group":
            loss = worst_group(task.groups)
        most = self.options.cost * len(before)
        return head(slice(None), best_setting(right, before, most, loss))


def refit_of(task: Task) -> Head:
    """What a plain refit adds to the model's logits, everywhere."""
    weights, bias = LinearHead.refit(task.embedding, task.logits, task.targets)
    return Head(
        labels=task.labels,
        weights=weights,
        bias=bias,
        everywhere=True,
        router=task.router,
    )
