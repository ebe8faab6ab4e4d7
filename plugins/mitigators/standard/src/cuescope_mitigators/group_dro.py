"""Group DRO (Sagawa et al., 2020): groups weigh as much as they are still wrong."""

from itertools import product

import numpy as np
from jaxtyping import Float
from pydantic import Field, PositiveFloat, PositiveInt

from cuescope_mitigators.new_head import Lesson, NewHead, new_head
from cuescope_sdk import Options, Requirements, generator
from cuescope_sdk.mitigation import Mitigator, Task

# C: the loss of a group of n samples counts C / sqrt(n) more, for small groups generalise worse; of
# the published grid. Those with the best worst group in two halves are taken
ADJUSTMENTS = (0.0, 1.0, 3.0)
DECAYS = (0.001, 0.1)  # factors of the L2 penalty, as published


class GroupDROOptions(Options):
    """The published step of the weights."""

    group_step: PositiveFloat = Field(
        0.01, description="step of the weights of groups, as published"
    )
    steps: PositiveInt = Field(1000, description="of head and weights together")
    batch: PositiveInt = Field(8, description="samples of each group in a step")
    least: int = Field(
        4, ge=2, description="a group with fewer fitted samples is left out"
    )
    seed: int = Field(0, ge=0, description="of the batches")


class GroupDRO(Mitigator):
    """Group DRO (Sagawa et al., 2020): a head anew, for which the worst groups weigh most.

    Algorithm 1 with the group adjustment of section 3.3, and a strong penalty, without which the
    paper sees no gain. Deviates: a head on frozen embeddings is learned, and not a network; and a
    batch has samples of every group, as in the authors' code with reweighted groups.
    """

    title = "Group DRO: a last layer anew, for its worst group"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = GroupDROOptions
    options: GroupDROOptions
    learned = NewHead

    def fit(self, task: Task) -> NewHead:
        """The head; raises UserError where a label has too few samples."""
        options = self.options
        return new_head(
            task,
            "group-dro",
            settings=list(product(ADJUSTMENTS, DECAYS)),
            tried=self._head,
            learn=self._head,
            least=options.least,
        )

    def _head(
        self, lesson: Lesson, setting: tuple[float, float]
    ) -> Float[np.ndarray, "label input"]:
        adjustment, decay = setting
        return robust_head(
            lesson,
            adjustment=adjustment,
            decay=decay,
            group_step=self.options.group_step,
            steps=self.options.steps,
            batch=self.options.batch,
            rng=generator(self.options.seed, "group-dro"),
        )


def robust_head(
    lesson: Lesson,
    *,
    adjustment: float,
    decay: float,
    group_step: float,
    steps: int,
    batch: int,
    rng: np.random.Generator,
) -> Float[np.ndarray, "label input"]:
    """The mean head of the last half of the steps: the paper proves convergence of means."""
    from scipy.special import log_softmax

    sizes = np.bincount(lesson.groups)
    order = np.argsort(lesson.groups, kind="stable")
    starts = np.cumsum(sizes) - sizes
    handicap = adjustment / np.sqrt(sizes)
    share = np.full(len(sizes), 1 / len(sizes))
    # the loss bends no more than this, so that a step never goes too far
    rate = 1 / (np.square(lesson.inputs).sum(axis=1).mean() + decay)
    head = np.zeros((lesson.labels, lesson.inputs.shape[1]))
    total = np.zeros_like(head)
    right = np.eye(lesson.labels)
    kept = range(steps // 2, steps)
    for step in range(steps):
        # with replacement: a group may have fewer samples than a batch
        drawn = starts[:, None] + rng.integers(sizes[:, None], size=(len(sizes), batch))
        rows = order[drawn]
        inputs = lesson.inputs[rows]
        targets = right[lesson.targets[rows]]
        likelihood = log_softmax(inputs @ head.T, axis=2)
        losses = -(likelihood * targets).sum(axis=2).mean(axis=1)
        # as in Algorithm 1: a factor, so no weight falls below 0
        share = share * np.exp(group_step * (losses + handicap))
        share /= share.sum()
        wrong = (np.exp(likelihood) - targets) * share[:, None, None] / batch
        slope = np.tensordot(wrong, inputs, axes=((0, 1), (0, 1)))
        head = head - rate * (slope + decay * head)
        if step in kept:
            total += head
    return total / len(kept)
