"""How far lists of frames lead to an answer: by the answers as they are, and dealt anew."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from cuescope_sdk.statistics import Groups
from cuescope_trove.candidates.directions import less_label_means
from cuescope_trove.scores import Codes, Observations

SHARES = (0.06, 0.1, 0.16, 0.25, 0.4)  # of other labels' frames: the lengths of lists
DRAWS = 300
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Deals:
    """The answers as they are, and then as they are dealt anew to whole groups of each label.

    Values are beside the mean of their label.
    """

    label: Codes
    prediction: Int[np.ndarray, "sample draw"]
    correct: Float[np.ndarray, "sample draw"]

    @classmethod
    def of(cls, observations: Observations, rng: Generator) -> "Deals":
        """`DRAWS` of them."""
        label = observations.label
        deals = [observations.groups.deal(label, rng) for _ in range(DRAWS)]
        source = np.stack([np.arange(len(label)), *deals], axis=1)
        correct = observations.correct[source].astype(float)
        prediction = observations.prediction[source]
        return cls(label, prediction, less_label_means(correct, label))

    def taken_for(self, answer: int) -> Float[np.ndarray, "sample draw"]:
        """How much more often than others of its label each sequence gets an answer."""
        return less_label_means((self.prediction == answer).astype(float), self.label)

    def sums(
        self,
        shows: Float[np.ndarray, "sample draw"],
        values: Float[np.ndarray, "sample draw"],
    ) -> Float[np.ndarray, "label draw"]:
        """For each label how far values go with what is shown."""
        of_label = Groups(self.label, int(self.label.max()) + 1, declared=True)
        return of_label.sums(less_label_means(shows, self.label) * values)


@dataclass(frozen=True, eq=False)
class Lists:
    """The frames of other labels that lead to an answer, by their scores: lists of some lengths.

    Each deal has its own. `among` are frames of `others`, the other labels. `strongest` is each
    sequence's highest score and `least` the lowest one in each list; `leads` is how far these
    labels' sequences with a frame of the list are taken for the answer.
    """

    deals: Deals
    scores: Float[np.ndarray, "read draw"]
    among: Bool[np.ndarray, " read"]
    others: Int[np.ndarray, " other"]
    counts: Int[np.ndarray, " length"]
    strongest: Float[np.ndarray, "sample draw"]
    least: Float[np.ndarray, "length draw"]
    leads: Float[np.ndarray, "draw length"]

    @classmethod
    def of(
        cls,
        scores: Float[np.ndarray, "read draw"],
        own: Int[np.ndarray, " read"],
        deals: Deals,
        answer: int,
    ) -> "Lists":
        """By the score of each frame, of the sequence that is its `own`."""
        taken = deals.taken_for(answer)
        among = deals.label[own] != answer
        others = np.flatnonzero(np.arange(deals.label.max() + 1) != answer)
        counts = np.array([max(round(share * among.sum()), 1) for share in SHARES])
        least = np.sort(scores[among], axis=0)[-counts]
        _, first = np.unique(own, return_index=True)
        strongest = np.maximum.reduceat(scores, first)
        leads = []
        for lowest in least:
            shows = (strongest >= lowest).astype(float)
            leads.append(deals.sums(shows, taken)[others].sum(axis=0))
        by_length = np.stack(leads, axis=1)
        return cls(deals, scores, among, others, counts, strongest, least, by_length)

    @cached_property
    def best(self) -> Int[np.ndarray, " draw"]:
        """The list that leads farthest, beside what chance gives those of its length."""
        deviates = self.leads / np.maximum(self.leads.std(axis=0), TIE)
        return np.asarray(deviates.argmax(axis=1))

    @property
    def costs(self) -> Float[np.ndarray, "draw other"]:
        """What the best list costs each other label."""
        least = self.least[self.best, np.arange(len(self.best))]
        shows = (self.strongest >= least).astype(float)
        return np.asarray(-self.deals.sums(shows, self.deals.correct)[self.others].T)

    @property
    def members(self) -> Int[np.ndarray, " member"]:
        """The frames of any label that the best list of the data holds, the highest first."""
        scores = self.scores[:, 0]
        members = np.flatnonzero(scores >= self.least[self.best[0], 0])
        return members[np.argsort(-scores[members], kind="stable")]
