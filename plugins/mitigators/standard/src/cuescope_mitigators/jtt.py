"""JTT (Liu et al., 2021), just train twice: what the model gets wrong counts more."""

from itertools import product

import numpy as np
from jaxtyping import Float
from pydantic import Field, PositiveFloat

from cuescope_mitigators.new_head import Lesson, NewHead, new_head
from cuescope_sdk import Options, Requirements
from cuescope_sdk.mitigation import LinearHead, Mitigator, Task

# inverse strengths of the L2 penalty, the published grid; chosen with the factors
STRENGTHS = (0.001, 0.01, 0.1)


class JTTOptions(Options):
    """Both grids are tried together; the published factors are 4 to 100, by the data set."""

    factors: tuple[PositiveFloat, ...] = Field(
        (5.0, 20.0, 50.0, 100.0),
        min_length=1,
        description="how often a sample counts that the model gets wrong; that with the best worst "
        "group in two halves of the fitting part is taken",
    )
    least: int = Field(
        4, ge=2, description="a group with fewer fitted samples is left out"
    )


class JTT(Mitigator):
    """JTT (Liu et al., 2021): a head anew, for which errors of the model count more.

    The second training of Algorithm 1: the first is the model as it is. Cues are looked at for the
    choice of the settings and nowhere else, as published.
    Deviates: a head on frozen embeddings is learned, and not a network.
    """

    title = "JTT: a last layer anew, where errors count more"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = JTTOptions
    options: JTTOptions
    learned = NewHead

    def fit(self, task: Task) -> NewHead:
        """The head; raises UserError where a label has too few samples."""
        options = self.options
        return new_head(
            task,
            "jtt",
            settings=list(product(options.factors, STRENGTHS)),
            tried=upweighted_head,
            learn=upweighted_head,
            least=options.least,
        )


def upweighted_head(
    lesson: Lesson, setting: tuple[float, float]
) -> Float[np.ndarray, "label input"]:
    """A head for which each error of the model counts `setting[0]` times."""
    factor, strength = setting
    weights = np.where(lesson.wrong, factor, 1.0)
    # logits of 0: it learns anew, and not from where the model is
    anew = np.zeros((len(weights), lesson.labels))
    return LinearHead.fit(lesson.inputs, anew, lesson.targets, weights, strength)
