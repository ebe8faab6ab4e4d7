"""A plain refit of the last layer, which knows no cue: the control of every mitigator."""

from cuescope_mitigators.new_head import Head, require_labels
from cuescope_sdk import Requirements
from cuescope_sdk.mitigation import LinearHead, Mitigator, Task


class Refit(Mitigator):
    """The model's own head, trained on with all samples alike; cues are not looked at."""

    title = "A plain refit of the last layer, which knows no cue"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    learned = Head

    def fit(self, task: Task) -> Head:
        """Fit what the head adds to the model's logits, everywhere."""
        require_labels(task, "refit")
        weights, bias = LinearHead.refit(task.embedding, task.logits, task.targets)
        return Head(task.labels, weights, bias, adds=True)
