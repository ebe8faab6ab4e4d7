"""Last-layer retraining (DFR; Kirichenko et al., 2023): a new head, balanced over the groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from pydantic import Field, PositiveFloat

from cuescope_sdk import Options, Requirements, Response, Trial, UserError
from cuescope_sdk.mitigation import (
    Ask,
    Mitigation,
    Mitigator,
    Task,
    balanced_weights,
    columns_of,
    rescored,
)

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression


class LastLayerOptions(Options):
    """How the head is learned."""

    strengths: tuple[PositiveFloat, ...] = Field(
        (0.01, 0.1, 1.0, 10.0),
        min_length=1,
        description="inverse strengths of the L2 penalty that are tried; the one with the best "
        "worst group in two halves of the fitting part is taken",
    )


@dataclass(frozen=True)
class Head(Mitigation):
    """Logits are `weights` (label, dim) times the embedding, plus `bias`."""

    labels: tuple[str, ...]
    weights: Float[np.ndarray, "label dim"]
    bias: Float[np.ndarray, " label"]

    def answer(self, trials: Sequence[Trial], ask: Ask) -> list[Response]:
        """Logits of the new head."""

        def logits(place: int, answer: Response) -> np.ndarray:
            scores = self.weights @ np.asarray(answer.embedding, np.float64) + self.bias
            return np.asarray(scores[columns_of(trials[place].sample.choices, self.labels)])

        return rescored(trials, ask, logits)


class LastLayer(Mitigator):
    """Logistic regression on the frozen embeddings, where each group weighs the same.

    The paper draws equally many samples of each group; here all are used, weighted, which spares
    rare groups that loss.
    """

    title = "Last-layer retraining, balanced over the groups"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = LastLayerOptions
    options: LastLayerOptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """A new head; raises UserError where the part to fit on has a single label."""
        if len(set(task.targets.tolist())) < len(task.labels):
            there = {task.labels[target] for target in task.targets.tolist()}
            raise UserError(
                "last-layer: a label has no sample in the part that is fitted on",
                expected="samples of each label",
                got=f"none of {', '.join(sorted(set(task.labels) - there)[:4])}",
                remedy="Take more samples, or fewer labels",
            )
        embedding, groups = task.embedding, task.groups
        centre, spread = embedding.mean(axis=0), embedding.std() or 1.0
        inputs = (embedding - centre) / spread
        strength = self._best_strength(inputs, task.targets, groups)
        model = _fitted(inputs, task.targets, balanced_weights(groups, task.targets), strength)
        weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
        if len(task.labels) == 2:  # sklearn keeps one row of two
            weights, bias = np.vstack([-weights, weights]) / 2, np.append(-bias, bias) / 2
        return Head(task.labels, weights / spread, bias - (weights / spread) @ centre)

    def _best_strength(self, inputs: np.ndarray, targets: np.ndarray, groups: np.ndarray) -> float:
        from sklearn.model_selection import StratifiedKFold

        if len(self.options.strengths) == 1 or np.bincount(targets).min() < 2:
            return self.options.strengths[0]
        halves = StratifiedKFold(2, shuffle=True, random_state=0)
        worst = dict.fromkeys(self.options.strengths, 0.0)
        for train, test in halves.split(inputs, targets):
            for strength in worst:
                weights = balanced_weights(groups[train], targets[train])
                model = _fitted(inputs[train], targets[train], weights, strength)
                right = model.predict(inputs[test]) == targets[test]
                sizes = np.bincount(groups[test])
                rates = np.bincount(groups[test], right) / np.maximum(sizes, 1)
                worst[strength] += rates[sizes > 0].min()
        return max(worst, key=lambda strength: (worst[strength], -strength))


def _fitted(
    inputs: np.ndarray, targets: np.ndarray, weights: np.ndarray, strength: float
) -> "LogisticRegression":
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=5000).fit(inputs, targets, weights)
