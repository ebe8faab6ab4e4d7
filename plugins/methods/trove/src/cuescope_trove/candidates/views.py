"""What is seen in frames, and what of it goes with a value of other groups' sequences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import linalg

from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics import Groups, Roc
from cuescope_trove.candidates.directions import less_label_means
from cuescope_trove.maths.ranking import standardise
from cuescope_trove.scores import Codes, SampleMask

FOLDS = 8
TURNS = 3  # in which two views agree
# of the ridge regression, beside the mean squared length of what it learns from
PENALTY = 0.5
Ridge = Callable[[Float[np.ndarray, "sample column"]], Float[np.ndarray, "dim column"]]


class Fold(NamedTuple):
    """The sequences that are learned from, and the frames of all others."""

    learned_from: SampleMask
    told: Bool[np.ndarray, " read"]


@dataclass(frozen=True, eq=False)
class View:
    """Tells by what is seen in a frame how far it is like sequences of other groups.

    `rows` are what is seen in each, beside the mean of its label, which is in `means`. `own` is its
    sequence, and `label` the label of each sequence.
    """

    rows: Float[np.ndarray, "read dim"]
    means: Float[np.ndarray, "label dim"]
    own: Int[np.ndarray, " read"]
    label: Codes
    folds: Sequence[Fold]

    @classmethod
    def of(
        cls,
        rows: Float[np.ndarray, "read dim"],
        own: Int[np.ndarray, " read"],
        label: Codes,
        groups: Groups,
        rng: Generator,
    ) -> "View":
        """Each eighth of the groups is told by what is learned from the others."""
        folds = _folds(groups, own, rng)
        beside = less_label_means(rows, label[own])
        # what was taken away, which is that of all labels where one has few frames
        present, first = np.unique(label[own], return_index=True)
        means = np.zeros((int(label.max()) + 1, rows.shape[1]))
        means[present] = rows[first] - beside[first]
        return cls(beside, means, own, label, folds)

    def besides(self, label: int) -> "View":
        """It learns from sequences of other labels alone, and tells the frames of all.

        Those of the label itself are seen beside what the others are on average, as they would be
        with another label.
        """
        is_other = self.label != label
        folds = [Fold(fold.learned_from & is_other, fold.told) for fold in self.folds]
        others = np.unique(self.label[is_other])
        rows = self.rows.copy()
        rows[~is_other[self.own]] += self.means[label] - self.means[others].mean(axis=0)
        taught = [fold for fold in folds if fold.learned_from.any()]
        return replace(self, rows=rows, folds=taught)

    @on_one_thread
    def scores(
        self, values: Float[np.ndarray, "sample column"]
    ) -> Float[np.ndarray, "read column"]:
        """How far each frame is like sequences of other groups with a high value."""
        scores = np.zeros((len(self.own), values.shape[1]))
        for fold, ridge in zip(self.folds, self._ridges, strict=True):
            weights = ridge(values[fold.learned_from])
            scores[fold.told] = self.rows[fold.told] @ weights
        return scores

    @cached_property
    def _ridges(self) -> list[Ridge]:
        of_sequence = Groups(self.own, len(self.label), declared=True)
        means = of_sequence.means(self.rows)
        return [_ridge(means[fold.learned_from]) for fold in self.folds]

    def shares(
        self, marked: Bool[np.ndarray, "read column"]
    ) -> Float[np.ndarray, "sample column"]:
        """The share of marked frames of each sequence, beside the mean of its label."""
        of_sequence = Groups(self.own, len(self.label), declared=True)
        return less_label_means(of_sequence.means(marked.astype(float)), self.label)

    def agree(
        self,
        by_pictures: Float[np.ndarray, "read draw"],
        counts: Int[np.ndarray, " draw"],
        among: Bool[np.ndarray, " read"],
    ) -> Float[np.ndarray, "read draw"]:
        """How far this view and pictures say that a frame shows what so many show most by pictures.

        What one marks `among` some frames the other one learns (Blum and Mitchell, 1998), and this
        view counts for as much as it tells of what is marked.
        """
        scores = by_pictures
        place = among.sum() - counts, np.arange(len(counts))
        for _ in range(TURNS):
            is_marked = scores >= np.sort(scores[among], axis=0)[place]
            seen = self.scores(self.shares(is_marked))
            columns = zip(seen.T, is_marked.T, strict=True)
            auroc = np.array([Roc(*column).auroc() or 0.5 for column in columns])
            tells = np.maximum(2 * auroc - 1, 0.0)
            scores = standardise(by_pictures) + tells * standardise(seen)
        return scores


def _folds(groups: Groups, own: Int[np.ndarray, " read"], rng: Generator) -> list[Fold]:
    """Each part of whole groups is told by what is learned from the others."""
    part = groups.folds(FOLDS, rng)
    parts = [part != number for number in range(min(FOLDS, groups.count))]
    return [
        Fold(learned_from, ~learned_from[own])
        for learned_from in parts
        if learned_from.any()
    ]


@on_one_thread
def _ridge(points: Float[np.ndarray, "sample dim"]) -> Ridge:
    """Ridge regression on centred points, of as many values as one likes."""
    samples, dim = points.shape
    # pictures of a label may all be the same
    penalty = PENALTY * float((points**2).sum(axis=1).mean()) or 1.0
    if samples < dim:
        inner = linalg.cho_factor(points @ points.T + penalty * np.eye(samples))
        return lambda values: np.asarray(points.T @ linalg.cho_solve(inner, values))
    outer = linalg.cho_factor(points.T @ points + penalty * np.eye(dim))
    return lambda values: np.asarray(linalg.cho_solve(outer, points.T @ values))
