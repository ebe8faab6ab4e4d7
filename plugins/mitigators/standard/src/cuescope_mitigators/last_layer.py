"""Last-layer retraining (DFR; Kirichenko et al., 2023): a head that is balanced over the groups."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field, NonNegativeFloat, PositiveFloat

from cuescope_mitigators.choosing import best_setting, gap_left, halves, worst_group
from cuescope_mitigators.reading import Trials, best_cues, wants_logits
from cuescope_mitigators.weighing import balanced_weights
from cuescope_sdk import Options, Requirements, Response, UserError
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Router, Task

STEPS = 300  # of the search for a head; it is convex


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
        cues = best_cues(self.router, trials, wants_logits, ask)

        def logits(place: int, answer: Response) -> np.ndarray:
            if cues[place] < 0 and not self.everywhere:
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
    not cost more than a share of all answers; and the head answers where a cue is shown.
    """

    title = "Last-layer retraining, balanced over the groups"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = LastLayerOptions
    options: LastLayerOptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """A new head; raises UserError where the part to fit on has a single label."""
        missing = set(task.labels) - {sample.label for sample in task.samples}
        if missing:
            raise UserError(
                "last-layer: a label has no sample in the part that is fitted on",
                expected="samples of each label",
                got=f"none of {', '.join(sorted(missing)[:4])}",
                remedy="Take more samples, or fewer labels",
            )
        learns = np.asarray(task.shows.any(axis=1) | self.options.everywhere)
        if len(np.unique(task.targets[learns])) < 2:
            task.context.announce(
                "last-layer: in the part that is fitted on, cues are met with one label alone; it "
                "learns from samples without a cue, too"
            )
            learns[:] = True
        rows = np.flatnonzero(learns)
        embedding = task.embedding[rows]
        centre = embedding.mean(axis=0)
        # one number for all: with a spread for each dimension noise would weigh as much
        spread = embedding.std() or 1.0
        standard = (embedding - centre) / spread
        # the constant among them is penalised too: a shift of answers is not free
        inputs = np.column_stack([standard, np.ones(len(rows))])
        head = self._head(task, rows, inputs)
        # back to embeddings as the model gives them
        weights = head[:, :-1] / spread
        return Head(
            labels=task.labels,
            weights=weights,
            bias=head[:, -1] - weights @ centre,
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
            return fit_head(
                inputs[which], offset[which], targets[which], weights, strength
            )

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


def fit_head(
    inputs: Float[np.ndarray, "sample dim"],
    own: Float[np.ndarray, "sample label"],
    targets: Int[np.ndarray, " sample"],
    weights: Float[np.ndarray, " sample"],
    strength: float,
) -> Float[np.ndarray, "label dim"]:
    """What to add to a model's `own` logits: multinomial regression with these as its offset.

    The penalty, 1 / `strength`, is on all that is added, the constant of `inputs` too: a strong
    one leaves the model as it is.
    """
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    shape = own.shape[1], inputs.shape[1]
    right = np.eye(shape[0])[targets]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        head = flat.reshape(shape)
        likelihood = log_softmax(own + inputs @ head.T, axis=1)
        wrong = weights[:, None] * (np.exp(likelihood) - right)
        of_label = (likelihood * right).sum(axis=1)
        penalty = (head**2).sum() / (2 * strength)
        value = penalty - (weights * of_label).sum()
        # written out: by differences each step would cost a pass for every weight
        gradient = wrong.T @ inputs + head / strength
        return value, gradient.ravel()

    # at 0 nothing is added: the search begins with the model as it is
    start = np.zeros(shape[0] * shape[1])
    minimum = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS},
    )
    return np.asarray(minimum.x).reshape(shape)
