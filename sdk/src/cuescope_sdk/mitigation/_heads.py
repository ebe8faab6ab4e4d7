"""Heads on frozen embeddings: how one is fitted, and the plain one that knows of no cue."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_core.seeds import generator
from cuescope_sdk.maths import softmax

STEPS = 300  # of the search for a head; it is convex
STRENGTHS = (0.001, 0.01, 0.1, 1.0)  # of a plain head, the most careful one first

Embedding = Float[np.ndarray, "sample dim"]
Logits = Float[np.ndarray, "sample label"]
Targets = Int[np.ndarray, " sample"]
Weights = Float[np.ndarray, "label dim"]
Bias = Float[np.ndarray, " label"]


@dataclass(frozen=True)
class Scaler:
    """How embeddings become the inputs of a head: centred, divided by a spread, and a constant."""

    centre: Float[np.ndarray, " dim"]
    spread: Float[np.ndarray, " dim"]

    @classmethod
    def of(cls, embedding: Embedding, *, each: bool = False) -> "Scaler":
        """One spread for all dimensions; with `each` one of each, so that noise weighs as much."""
        spread = embedding.std(axis=0 if each else None)
        # a dimension that never changes tells nothing, and must not become NaN
        spread = np.where(spread > 0, spread, 1.0)
        centre = embedding.mean(axis=0)
        return cls(centre, np.broadcast_to(spread, centre.shape))

    def inputs(self, embedding: Embedding) -> Float[np.ndarray, "sample input"]:
        """The embeddings in this scale, and a column of ones."""
        standard = (embedding - self.centre) / self.spread
        return np.column_stack([standard, np.ones(len(embedding))])

    def unscale(self, head: Float[np.ndarray, "label input"]) -> tuple[Weights, Bias]:
        """Weights and constants of a head for embeddings as the model gives them."""
        weights = head[:, :-1] / self.spread
        return weights, head[:, -1] - weights @ self.centre


def halves(strata: Int[np.ndarray, " row"]) -> Int[np.ndarray, " row"]:
    """0 or 1 for each row, each stratum in turns."""
    half = np.zeros(len(strata), int)
    rng = generator(0, "halves")
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        # in turns: a rare group has as many samples in either half
        half[rows] = np.arange(len(rows)) % 2
    return half


class LinearHead:
    """A linear layer on embeddings that adds to a model's logits."""

    @staticmethod
    def fit(
        inputs: Float[np.ndarray, "sample input"],
        own: Logits,
        targets: Targets,
        weights: Float[np.ndarray, " sample"],
        strength: float,
    ) -> Float[np.ndarray, "label input"]:
        """Fit an addition to a model's `own` logits: multinomial regression with them as offset.

        The penalty, 1 / `strength`, is on all that is added, the constant of `inputs` too: a strong
        one leaves the model as it is.
        """
        from scipy.optimize import minimize
        from scipy.special import log_softmax

        shape = own.shape[1], inputs.shape[1]
        right = np.eye(shape[0])[targets]

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            head = flat.reshape(shape)
            likelihood = log_softmax(own + inputs @ head.T, axis=1)
            wrong = weights[:, None] * (np.exp(likelihood) - right)
            of_label = (likelihood * right).sum(axis=1)
            penalty = (head**2).sum() / (2 * strength)
            value = penalty - (weights * of_label).sum()
            # written out: by differences each step would cost a pass for every weight
            gradient = wrong.T @ inputs + head / strength
            return value, gradient.ravel()

        # at 0 nothing is added: the search begins with the model as it is
        start = np.zeros(shape[0] * shape[1])
        minimum = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": STEPS},
        )
        return np.asarray(minimum.x).reshape(shape)

    @staticmethod
    def refit(
        embedding: Embedding,
        logits: Logits,
        targets: Targets,
    ) -> tuple[Weights, Bias]:
        """Fit the addition of a training that knows of no cue: the control of a mitigation.

        Every sample weighs the same. The strength is that with which either half of the samples is
        likeliest under what the other half taught.
        """
        scaler = Scaler.of(embedding)
        inputs = scaler.inputs(embedding)
        even = np.ones(len(targets))
        half = halves(targets)

        def likelihood(strength: float) -> float:
            total = 0.0
            for tested in (half == 0, half == 1):
                taught = ~tested
                head = LinearHead.fit(
                    inputs[taught],
                    logits[taught],
                    targets[taught],
                    even[taught],
                    strength,
                )
                answers = softmax(logits[tested] + inputs[tested] @ head.T)
                right = answers[np.arange(len(answers)), targets[tested]]
                # an answer that is ruled out must not decide alone
                total += float(np.log(np.maximum(right, 1e-12)).sum())
            return total

        # a label of one sample may leave the second half empty
        best = max(STRENGTHS, key=likelihood) if half.any() else STRENGTHS[0]
        return scaler.unscale(LinearHead.fit(inputs, logits, targets, even, best))
