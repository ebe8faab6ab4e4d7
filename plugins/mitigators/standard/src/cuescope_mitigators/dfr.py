"""DFR (Kirichenko et al., 2023): a last layer anew, from equally many samples of each group."""

from functools import partial

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field, PositiveInt

from cuescope_mitigators.new_head import Head, HeadOptions, Lesson, learn_head
from cuescope_sdk import Requirements
from cuescope_sdk.mitigation import Mitigator, Task

# inverse strengths of the L1 penalty, the authors' grid (Kirichenko et al., 2023)
STRENGTHS = (1.0, 0.7, 0.3, 0.1, 0.07, 0.03, 0.01)


class DFROptions(HeadOptions):
    """As published: the authors' number of draws."""

    draws: PositiveInt = Field(
        20, description="balanced subsets; the mean of their heads answers"
    )


class DFR(Mitigator):
    """DFR (Kirichenko et al., 2023): a head anew, from groups of label and cue cut to one size.

    DFR on validation data: groups are cut to the size of the smallest, features standardised, the
    penalty is L1, and heads of several cuts are averaged.
    Deviates: the published penalty is tuned for two labels, here the regression is multinomial;
    and groups with fewer than `least` samples are left out, for one of them would leave the
    others hardly any.
    """

    title = "DFR: a last layer anew, from groups of one size"
    requires = Requirements(outputs=frozenset({"logits", "embedding"}), labels=2)
    Options = DFROptions
    options: DFROptions
    learned = Head

    def fit(self, task: Task) -> Head:
        """The mean of the heads; raises UserError where a label has too few samples."""
        return learn_head(
            task,
            "dfr",
            settings=STRENGTHS,
            # one cut to choose the penalty by, as in the authors' code
            tried=partial(self._head, draws=1),
            learn=partial(self._head, draws=self.options.draws),
            least=self.options.least,
        )

    def _head(
        self, lesson: Lesson, strength: float, draws: int
    ) -> Float[np.ndarray, "label input"]:
        # anew in each call: strengths are compared on the same cuts
        rng = self.context.rng("dfr")
        heads = []
        for _ in range(draws):
            cut = lesson.take(cut_to_smallest(lesson.groups, rng))
            heads.append(sparse_head(cut.inputs, cut.targets, lesson.labels, strength))
        return np.asarray(np.mean(heads, axis=0))


def cut_to_smallest(
    groups: Int[np.ndarray, " sample"], rng: np.random.Generator
) -> Int[np.ndarray, " row"]:
    """As many samples of each group as the smallest has, drawn without replacement."""
    names, sizes = np.unique(groups, return_counts=True)
    rows = [
        rng.permutation(np.flatnonzero(groups == name))[: sizes.min()] for name in names
    ]
    return np.concatenate(rows)


def sparse_head(
    inputs: Float[np.ndarray, "sample input"],
    targets: Int[np.ndarray, " sample"],
    labels: int,
    strength: float,
) -> Float[np.ndarray, "label input"]:
    """Multinomial regression under an L1 penalty, 1 / `strength`, on every weight.

    A weight is the difference of two that are not negative, so that the penalty has a gradient
    (Schmidt et al., 2007); the constant is penalised too, as by liblinear.
    """
    from scipy.optimize import Bounds, minimize
    from scipy.special import log_softmax

    shape = labels, inputs.shape[1]
    count = labels * inputs.shape[1]
    right = np.eye(labels)[targets]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        head = (flat[:count] - flat[count:]).reshape(shape)
        likelihood = log_softmax(inputs @ head.T, axis=1)
        slope = ((np.exp(likelihood) - right).T @ inputs).ravel()
        gradient = np.concatenate([slope, -slope]) + 1 / strength
        # the parts are not negative, so their sum is the L1 norm
        return flat.sum() / strength - (likelihood * right).sum(), gradient

    minimum = minimize(
        loss,
        np.zeros(2 * count),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(0, np.inf),
    )
    parts = np.asarray(minimum.x)
    return np.asarray((parts[:count] - parts[count:]).reshape(shape))
