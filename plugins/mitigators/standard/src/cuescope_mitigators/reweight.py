"""Weights for the user's own training: each group of label and cue counts the same."""

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from cuescope_mitigators.reading import Trials
from cuescope_mitigators.weighing import balanced_weights
from cuescope_sdk import Options, Response
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Task

FILE = "weights.parquet"


class ReweightOptions(Options):
    """How far weights may go."""

    most: float = Field(50.0, ge=1, description="largest weight, where the mean is 1")
    seed: int = Field(0, ge=0, description="of the balanced subset")


@dataclass(frozen=True)
class TrainingWeights(Mitigation):
    """A weight for each sample, by key, and whether it is in a subset with groups of equal size."""

    keys: tuple[str, ...]
    label: tuple[str, ...]
    group: tuple[int, ...]
    weights: Float[np.ndarray, " sample"]
    balanced: Bool[np.ndarray, " sample"]

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """As before: the weights are for a training."""
        return list(ask(trials))

    def files(self) -> Mapping[str, bytes]:
        """`weights.parquet`: sample, label, group, weight, balanced."""
        # imported late: a list of plugins must not wait for it
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(
            {
                "sample": self.keys,
                "label": self.label,
                "group": self.group,
                "weight": self.weights,
                "balanced": self.balanced,
            }
        )
        out = io.BytesIO()
        pq.write_table(table, out)
        return {FILE: out.getvalue()}


class Reweight(Mitigator):
    """The model stays as it is; a training with these weights cannot lean on how often cues go."""

    title = "Weights for the next training"
    Options = ReweightOptions
    options: ReweightOptions
    learned = TrainingWeights
    changes_answers = False

    def fit(self, task: Task) -> TrainingWeights:
        """Each label weighs the same, and in a label each group; groups of one size in a subset."""
        groups = task.groups
        # a group of two samples must not decide a training
        weights = np.minimum(balanced_weights(groups, task.targets), self.options.most)
        rng = np.random.default_rng(self.options.seed)
        # the subset is for a training that takes no weights
        names, sizes = np.unique(groups, return_counts=True)
        balanced = np.zeros(len(groups), dtype=bool)
        for group in names:
            order = rng.permutation(np.flatnonzero(groups == group))
            balanced[order[: sizes.min()]] = True
        return TrainingWeights(
            keys=tuple(sample.key for sample in task.samples),
            label=tuple(str(sample.label) for sample in task.samples),
            group=tuple(groups.tolist()),
            weights=weights,
            balanced=balanced,
        )
