"""Linear models that tell frames and patches of a cue from others, judged on others yet."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics import Groups, Roc, TwoGroups

FOLDS = 4
FLAT = 1e-3  # of the largest spread of a feature
ONE_SIDED = 0.1  # weight of labels whose frames all show the cue, or none
# of frames that are taken for the cue's: fewer would be told by no model here
LEAST_PURE = 0.5
PerFrame = Float[np.ndarray, " frame"]
BoolPerFrame = Bool[np.ndarray, " frame"]
IntPerFrame = Int[np.ndarray, " frame"]
Rows = Float[np.ndarray, "frame dim"]
Grid = Float[np.ndarray, "row col dim"]


@dataclass(frozen=True)
class Fitting:
    """How a model is fitted: the inverse strength of its L2 penalty."""

    strength: float
    FEW: ClassVar["Fitting"]
    LOOKS: ClassVar["Fitting"]  # of whole pictures: a thousand features, and alike


Fitting.FEW = Fitting(0.1)
Fitting.LOOKS = Fitting(0.005)


@dataclass(frozen=True, eq=False)
class Training:
    """Which frames show the cue, their labels, and what was drawn together."""

    shows: BoolPerFrame
    labels: np.ndarray
    groups: Groups
    regions: tuple[Mask | None, ...] = ()

    def candidates(
        self,
        row: int,
        shape: Sequence[int],
    ) -> Bool[np.ndarray, " patch"]:
        """The patches that may be the cue's: those in the run's own region, where it has one."""
        everywhere = np.ones(shape, bool)
        region = self.regions[row] if self.regions else None
        inside = everywhere if region is None else stretch(region, shape)
        # a region smaller than a patch may be lost here: then any may be the cue's
        return np.ravel(inside if inside.any() else everywhere)

    def folds(self, rng: Generator) -> IntPerFrame:
        """Whole groups, dealt out."""
        return self.groups.folds(FOLDS, rng)

    def weights(self) -> PerFrame:
        """Frames with and without the cue weigh the same within each label that has both.

        So the label is no help to tell them apart. Labels that have one side count a tenth.
        """
        weights = np.zeros(len(self.shows))
        for label in np.unique(self.labels):
            of_label = self.labels == label
            shown = of_label & self.shows
            others = of_label & ~self.shows
            if shown.any() and others.any():
                weights[shown] = of_label.sum() / shown.sum()
                weights[others] = of_label.sum() / others.sum()
            else:
                weights[of_label] = ONE_SIDED
        return np.asarray(weights / weights.mean())

    def difference(self, values: PerFrame) -> tuple[float, float]:
        """Difference of the means of both sides, with the standard deviation within them."""
        weights = self.weights()
        means = []
        variances = []
        for side in (self.shows, ~self.shows):
            mean = np.average(values[side], weights=weights[side])
            means.append(mean)
            squares = (values[side] - mean) ** 2
            variances.append(np.average(squares, weights=weights[side]))
        return float(means[0] - means[1]), float(np.sqrt(np.mean(variances)))

    def groups_of_sides(self) -> tuple[int, int]:
        """How many groups show the cue, and how many have frames that do not."""
        of_sides = (self.groups.codes[side] for side in (self.shows, ~self.shows))
        shown, others = (len(np.unique(codes)) for codes in of_sides)
        return shown, others

    def take(self, rows: np.ndarray) -> "Training":
        """Some of the frames: their numbers, or which they are."""
        numbers = np.arange(len(self.shows))[rows]
        regions = tuple(self.regions[row] for row in numbers) if self.regions else ()
        return Training(
            self.shows[rows],
            self.labels[rows],
            self.groups.take(rows),
            regions,
        )

    def has_both(self, rows: np.ndarray) -> bool:
        """True if some of these frames show the cue, and some do not."""
        shows = self.shows[rows]
        return bool(shows.any() and not shows.all())

    def held_out_scores(
        self,
        rows: Rows,
        rng: Generator,
        fitting: Fitting = Fitting.FEW,
    ) -> PerFrame:
        """Each frame by a model of the other folds, above its threshold; NaN where these show no
        gap: where all of their frames show the cue, or none.
        """
        folds = self.folds(rng)
        weights = self.weights()
        scores = np.full(len(rows), np.nan)
        for fold in range(FOLDS):
            learned = folds != fold
            if self.has_both(learned):
                model = Linear.fit(
                    rows[learned], self.shows[learned], weights[learned], fitting
                )
                # less its threshold, for scores of several models are ranked together
                scores[~learned] = model.scores(rows[~learned]) - model.threshold
        return scores


class Rates(NamedTuple):
    """The shares of frames with the cue, and of others, that a model takes for the cue's."""

    caught: float
    wrongly: float

    @classmethod
    def of(cls, scores: PerFrame, listed: BoolPerFrame, cut: float) -> "Rates":
        """Of frames that a list says show the cue, and others: it may be wrong about some.

        Held to a list that misses some of the cue, a model is wrong where it is right (Hui and
        Walter, 1980). So both are observers of what nobody knows: each frame counts by how likely
        its score is of the higher of two groups, in which it is listed more often.
        """
        alike = np.zeros(len(scores), int)
        groups = TwoGroups.fit(scores, alike, listed, 1)
        shown = groups.probability(scores, alike)
        taken = scores >= cut
        sides = (np.average(taken, weights=weights) for weights in (shown, 1 - shown))
        return cls(*map(float, sides))

    def purity(self, taken: int, frames: int) -> float:
        """Of frames that are taken, the part that shows the cue, where so many of all are.

        After Rogan and Gladen (1978).
        """
        share = taken / max(frames, 1)
        if self.caught <= self.wrongly:
            return 1.0
        shown = np.clip((share - self.wrongly) / (self.caught - self.wrongly), 0, 1)
        return float(np.clip(shown * self.caught / max(share, 1e-9), LEAST_PURE, 1.0))


FLAWLESS = Rates(caught=1.0, wrongly=0.0)


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear model on standardised features, with what it is worth on others."""

    centre: Float[np.ndarray, " dim"]
    weights: Float[np.ndarray, " dim"]
    threshold: float = 0.0
    auroc: float | None = None
    rates: Rates = FLAWLESS

    def scores(self, rows: Float[np.ndarray, "... dim"]) -> Float[np.ndarray, " ..."]:
        """How like the cue."""
        return np.asarray((rows - self.centre) @ self.weights)

    @classmethod
    @on_one_thread
    def fit(
        cls,
        rows: Float[np.ndarray, "row dim"],
        shows: Bool[np.ndarray, " row"],
        weights: np.ndarray,
        fitting: Fitting = Fitting.FEW,
    ) -> "Linear":
        """Logistic regression with an L2 penalty, on features of one spread."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        centre = rows.mean(axis=0)
        spread = rows.std(axis=0)
        # what hardly varies would be blown up to noise
        spread = np.maximum(spread, FLAT * max(spread.max(), 1e-9))
        model = LogisticRegression(C=fitting.strength, max_iter=200, tol=1e-3)
        # it only ranks, and what it is worth is measured
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit((rows - centre) / spread, shows, sample_weight=weights)
        # the threshold is the score at which the regression says one half
        return cls(centre, model.coef_[0] / spread, -model.intercept_[0])

    @classmethod
    def learn(
        cls,
        rows: Rows,
        data: Training,
        rng: Generator,
        fitting: Fitting = Fitting.FEW,
    ) -> "Linear":
        """The model of all frames, with the threshold and AUROC of frames that were held out."""
        scores = data.held_out_scores(rows, rng, fitting)
        # a fold that cannot be judged: with an AUROC of 0.5 this decides nothing
        if np.isnan(scores).any():
            return cls(rows.mean(axis=0), np.zeros(rows.shape[1]), auroc=0.5)
        model = cls.fit(rows, data.shows, data.weights(), fitting)
        cut = Roc(scores, data.shows).youden_cut()
        return replace(
            model,
            threshold=model.threshold + cut,
            auroc=Roc(scores, data.shows).auroc(data.labels),
            rates=Rates.of(scores, data.shows, cut),
        )
