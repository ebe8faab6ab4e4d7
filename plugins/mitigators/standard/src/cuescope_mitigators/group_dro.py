"""Group DRO (Sagawa et al., 2020): groups weigh as much as they are still wrong."""

from itertools import product

import numpy as np
from jaxtyping import Float

from cuescope_mitigators.new_head import Head, HeadOptions, Lesson, learn_head
from cuescope_sdk import Requirements
from cuescope_sdk.mitigation import Mitigator, Task

# C: the loss of a group of n samples counts C / sqrt(n) more (Sagawa et al., 2020, section 3.3)
ADJUSTMENTS = (0.0, 1.0, 3.0)
# factors of the L2 penalty, as published (Sagawa et al., 2020)
DECAYS = (0.001, 0.1)
# of the weights of groups, the default of the authors' code (Sagawa et al., 2020)
GROUP_STEP = 0.01
STEPS = 1000  # of head and weights together


class GroupDRO(Mitigator):
    """Group DRO (Sagawa et al., 2020): a head anew, for which the worst groups weigh most.

    Algorithm 1 with the group adjustment of section 3.3, and a strong penalty, without which the
    paper sees no gain. Deviates: a head on frozen embeddings is learned, and not a network; and a
    step sees all samples of every group, and no batch.
    """

    title = "Group DRO: a last layer anew, for its worst group"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = HeadOptions
    options: HeadOptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """The head; raises UserError where a label has too few samples."""
        return learn_head(
            task,
            "group-dro",
            settings=list(product(ADJUSTMENTS, DECAYS)),
            learn=_head,
            least=self.options.least,
        )


def _head(
    lesson: Lesson, setting: tuple[float, float]
) -> Float[np.ndarray, "label input"]:
    adjustment, decay = setting
    return robust_head(lesson, adjustment=adjustment, decay=decay)


def robust_head(
    lesson: Lesson,
    *,
    adjustment: float,
    decay: float,
    group_step: float = GROUP_STEP,
    steps: int = STEPS,
) -> Float[np.ndarray, "label input"]:
    """The mean head of the last half of the steps: the paper proves convergence of means."""
    from scipy.special import log_softmax

    sizes = np.bincount(lesson.groups)
    handicap = adjustment / np.sqrt(sizes)
    share = np.full(len(sizes), 1 / len(sizes))
    # the loss bends no more than this, so that a step never goes too far
    rate = 1 / (np.square(lesson.inputs).sum(axis=1).mean() + decay)
    head = np.zeros((lesson.labels, lesson.inputs.shape[1]))
    total = np.zeros_like(head)
    right = np.eye(lesson.labels)[lesson.targets]
    kept = range(steps // 2, steps)
    for step in range(steps):
        likelihood = log_softmax(lesson.inputs @ head.T, axis=1)
        own = -(likelihood * right).sum(axis=1)
        losses = np.bincount(lesson.groups, own) / sizes
        # as in Algorithm 1: a factor, so no weight falls below 0
        share = share * np.exp(group_step * (losses + handicap))
        share /= share.sum()
        weights = (share / sizes)[lesson.groups]
        slope = (weights[:, None] * (np.exp(likelihood) - right)).T @ lesson.inputs
        head = head - rate * (slope + decay * head)
        if step in kept:
            total += head
    return total / len(kept)
