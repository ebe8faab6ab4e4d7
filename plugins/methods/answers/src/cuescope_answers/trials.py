"""What is asked: every sample once, as it is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Outcome, Output, Trial
from cuescope_sdk.statistics import Groups


@dataclass(frozen=True, eq=False)
class Answered:
    """The samples that have a label, and what was answered.

    `choice` and `label` are numbers of choices, -1 where there are none to choose from.
    `embedding` has no columns where the model gives none.
    """

    outcomes: Sequence[Outcome]
    right: Float[np.ndarray, " sample"]
    choice: Int[np.ndarray, " sample"]
    label: Int[np.ndarray, " sample"]
    embedding: Float[np.ndarray, "sample dim"]
    groups: Groups

    @property
    def counts(self) -> Int[np.ndarray, " sample"]:
        """How many choices each question has."""
        return np.array(
            [len(outcome.trial.sample.choices) for outcome in self.outcomes]
        )


def ask(audit: Audit) -> Sequence[Outcome]:
    """The answers; for `audit.once`."""
    outputs: set[Output] = set()
    if "embedding" in audit.capabilities.outputs:
        outputs.add("embedding")
    trials = []
    for sample in audit.samples:
        # a question with one choice has nothing to choose: what counts is the text
        closed = len(sample.choices) > 1 and "logits" in audit.capabilities.outputs
        answer: Output = "logits" if closed else "text"
        # a log may lack the pictures, and then there is nothing to embed
        seen = outputs if sample.frames else frozenset[Output]()
        trials.append(Trial(sample=sample, outputs=frozenset({*seen, answer})))
    # nothing is asked after this, so a plan counts all of it
    audit.expect_more(0)
    return audit.respond(trials)


def answers_of(audit: Audit) -> Answered:
    """The answers to samples that have a label; for `audit.once`."""
    asked = audit.once(ask, audit)
    outcomes = [outcome for outcome in asked if outcome.trial.sample.label is not None]
    choices = []
    labels = []
    embeddings = []
    for outcome in outcomes:
        sample = outcome.trial.sample
        prediction = outcome.response.prediction
        choices.append(-1 if prediction is None else prediction)
        # a label that is no choice can only be wrong, and is no preference
        is_closed = prediction is not None and sample.label in sample.choices
        labels.append(sample.choices.index(str(sample.label)) if is_closed else -1)
        embeddings.append(outcome.response.embedding)
    return Answered(
        outcomes=outcomes,
        right=np.array([float(outcome.correct()) for outcome in outcomes]),
        choice=np.array(choices, int),
        label=np.array(labels, int),
        embedding=_stack(embeddings),
        groups=Groups.of([outcome.trial.sample for outcome in outcomes]),
    )


def _stack(
    embeddings: Sequence[np.ndarray | None],
) -> Float[np.ndarray, "sample dim"]:
    """The embeddings, one a row; no columns where a sample has none."""
    rows = [row for row in embeddings if row is not None]
    # rows of some samples only cannot be clustered with the others
    if not rows or len(rows) < len(embeddings):
        return np.empty((len(embeddings), 0))
    return np.stack(rows)
