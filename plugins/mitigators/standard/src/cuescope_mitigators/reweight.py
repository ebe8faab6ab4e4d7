"""Weights for the user's own training: each group of label and cue counts the same."""

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_mitigators.reading import Trials
from cuescope_sdk import Response
from cuescope_sdk.mitigation import Ask, Mitigation, Mitigator, Task


@dataclass(frozen=True)
class TrainingWeights(Mitigation):
    """A weight for each sample, by key."""

    keys: tuple[str, ...]
    label: tuple[str, ...]
    group: tuple[int, ...]
    weights: Float[np.ndarray, " sample"]

    def answer(self, trials: Trials, ask: Ask) -> list[Response]:
        """As before: the weights are for a training."""
        return list(ask(trials))

    def files(self) -> Mapping[str, bytes]:
        """`weights.parquet`: sample, label, group, weight."""
        # imported late: a list of plugins must not wait for it
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(
            {
                "sample": self.keys,
                "label": self.label,
                "group": self.group,
                "weight": self.weights,
            }
        )
        out = io.BytesIO()
        pq.write_table(table, out)
        return {"weights.parquet": out.getvalue()}


class Reweight(Mitigator):
    """The model stays as it is; a training with these weights cannot rely on how often cues go."""

    title = "Weights for the next training"
    learned = TrainingWeights
    changes_answers = False

    def fit(self, task: Task) -> TrainingWeights:
        """Each label weighs the same, and in a label each group."""
        return TrainingWeights(
            keys=tuple(sample.key for sample in task.samples),
            label=tuple(str(sample.label) for sample in task.samples),
            group=tuple(task.groups.tolist()),
            weights=balanced_weights(task.groups, task.targets),
        )


def balanced_weights(
    groups: Int[np.ndarray, " sample"], targets: Int[np.ndarray, " sample"]
) -> Float[np.ndarray, " sample"]:
    """Weights of mean 1: each label weighs the same, and in a label each of its groups."""
    _, first = np.unique(groups, return_index=True)
    # a group has one label, which its first sample tells
    groups_of_label = np.bincount(targets[first])
    sizes = np.bincount(groups)
    weights = 1.0 / (sizes[groups] * groups_of_label[targets])
    return np.asarray(weights / weights.mean())
