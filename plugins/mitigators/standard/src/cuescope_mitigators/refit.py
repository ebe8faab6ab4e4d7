"""A plain refit of the last layer, which knows no cue: what every remedy is held against."""

from cuescope_mitigators.last_layer import Head
from cuescope_mitigators.reading import require_labels
from cuescope_sdk import Requirements
from cuescope_sdk.mitigation import LinearHead, Mitigator, Task


class Refit(Mitigator):
    """The model's own head, trained on with all samples alike; cues are not looked at."""

    title = "A plain refit of the last layer, which knows no cue"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    learned = Head

    def fit(self, task: Task) -> Head:
        """What it adds to the model's logits, everywhere."""
        require_labels(task, "refit")
        weights, bias = LinearHead.refit(task.embedding, task.logits, task.targets)
        return Head(
            labels=task.labels,
            weights=weights,
            bias=bias,
            everywhere=True,
            router=task.router,
        )
