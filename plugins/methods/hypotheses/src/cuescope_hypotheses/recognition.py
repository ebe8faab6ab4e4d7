"""Who shows a thing, by the words for it or by a direction, and which answer goes with it."""

import warnings
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.cues import within_labels
from cuescope_sdk.statistics import TwoGroups, association

Points = Float[np.ndarray, "sample dim"]
PerSample = Float[np.ndarray, " sample"]
IntPerSample = Int[np.ndarray, " sample"]
BoolPerSample = Bool[np.ndarray, " sample"]


class Shown(NamedTuple):
    """How probably each sample shows a thing, and how strongly an answer goes with it.

    `strength` is in standard deviations under no relation.
    """

    probability: PerSample
    strength: float


class Answers(NamedTuple):
    """Labels and answers as numbers, of which those of `known` samples may be looked at."""

    label: IntPerSample
    prediction: IntPerSample
    known: BoolPerSample
    labels: int

    def wrong(self) -> list[int]:
        """The answers that known samples get wrongly."""
        wrong = self.known & (self.prediction != self.label)
        return [int(answer) for answer in np.unique(self.prediction[wrong])]

    def recognise(self, score: PerSample) -> Shown | None:
        """Tell who shows what a score is higher for; None where no answer is wrong.

        The answer is the one that goes most with the score in known samples (Mantel, 1963). By
        these both groups of each label are told apart.
        """
        label, known = self.label[self.known], score[self.known]
        given = {
            answer: self.prediction[self.known] == answer for answer in self.wrong()
        }
        if not given or np.ptp(known) == 0:
            return None
        strength = {
            answer: association(known, given[answer], label, self.labels)
            for answer in given
        }
        drawn = max(strength, key=lambda answer: strength[answer])
        groups = TwoGroups.fit(known, label, given[drawn], self.labels)
        return Shown(groups.probability(score, self.label), strength[drawn])


def concept_scores(
    points: Points, label: IntPerSample, known: BoolPerSample, count: int, seed: int
) -> Float[np.ndarray, "sample concept"]:
    """How strongly each sample has each atom of a sparse dictionary of what is beyond labels.

    It is learned from known samples: online, with positive codes (Mairal and others, 2009), as
    scikit-learn has it. A sparse autoencoder of one layer learns the like.
    """
    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.exceptions import ConvergenceWarning

    rows = within_labels(points, label)
    rows /= float(np.sqrt((rows**2).sum(axis=1).mean())) or 1.0
    learner = MiniBatchDictionaryLearning(
        count,
        positive_code=True,
        fit_algorithm="cd",
        transform_algorithm="lasso_cd",
        random_state=seed % 2**32,
    )
    # what it is worth is measured in samples that it has not seen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(learner.fit(rows[known]).transform(rows))
