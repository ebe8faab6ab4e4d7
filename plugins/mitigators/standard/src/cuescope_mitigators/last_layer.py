"""Last-layer retraining (DFR; Kirichenko et al., 2023): a head that is balanced over the groups."""

import numpy as np
from jaxtyping import Float

from cuescope_mitigators.new_head import Head, Lesson, learn_head
from cuescope_mitigators.reweight import balanced_weights
from cuescope_sdk import Requirements
from cuescope_sdk.mitigation import LinearHead, Mitigator, Task

# inverse strengths of the penalty on what departs from the model's own head, the strongest first
STRENGTHS = (0.0001, 0.0003, 0.001, 0.01, 0.1, 1.0)


class LastLayer(Mitigator):
    """Logistic regression on the frozen embeddings, where each group weighs the same.

    Deviates from the paper, which fits a head anew on equally many samples of each group: all are
    used, weighted, which spares rare groups that loss; and the penalty is on the difference to the
    model's own head, so that what the groups do not ask for stays.
    """

    title = "Last-layer retraining, balanced over the groups"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    learned = Head

    def fit(self, task: Task) -> Head:
        """A new head; raises UserError where the part to fit on lacks a label."""
        return learn_head(
            task, "last-layer", settings=STRENGTHS, learn=balanced_head, adds=True
        )


def balanced_head(lesson: Lesson, strength: float) -> Float[np.ndarray, "label input"]:
    """A head added to the model's own, for which each group weighs the same."""
    weights = balanced_weights(lesson.groups, lesson.targets)
    return LinearHead.fit(lesson.inputs, lesson.own, lesson.targets, weights, strength)
