"""JTT (Liu et al., 2021), just train twice: what the model gets wrong counts more."""

from itertools import product

import numpy as np
from jaxtyping import Float

from cuescope_mitigators.new_head import Head, HeadOptions, Lesson, learn_head
from cuescope_sdk import Requirements
from cuescope_sdk.mitigation import LinearHead, Mitigator, Task

# inverse strengths of the L2 penalty, the published grid (Liu et al., 2021)
STRENGTHS = (0.001, 0.01, 0.1)
# how often an error of the model counts; the published ones, by the data set (Liu et al., 2021)
FACTORS = (5.0, 20.0, 50.0, 100.0)


class JTT(Mitigator):
    """JTT (Liu et al., 2021): a head anew, for which errors of the model count more.

    The second training of Algorithm 1: the first is the model as it is. Cues are looked at for the
    choice of the settings and nowhere else, as published.
    Deviates: a head on frozen embeddings is learned, and not a network.
    """

    title = "JTT: a last layer anew, where errors count more"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = HeadOptions
    options: HeadOptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """The head; raises UserError where a label has too few samples."""
        settings = list(product(FACTORS, STRENGTHS))
        return learn_head(
            task,
            "jtt",
            settings=settings,
            learn=upweighted_head,
            least=self.options.least,
        )


def upweighted_head(
    lesson: Lesson, setting: tuple[float, float]
) -> Float[np.ndarray, "label input"]:
    """A head for which each error of the model counts `setting[0]` times."""
    factor, strength = setting
    weights = np.where(lesson.wrong, factor, 1.0)
    return LinearHead.fit(lesson.inputs, lesson.own, lesson.targets, weights, strength)
