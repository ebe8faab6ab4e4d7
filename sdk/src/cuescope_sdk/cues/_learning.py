"""Recogniser of a cue, learned from samples with it and without it, beyond their label."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from cuescope_core.errors import UserError
from cuescope_core.types import Sample
from cuescope_sdk.cues._cue import (
    MOST_EXAMPLES,
    Box,
    Cue,
    LinearRecogniser,
    clean_name,
    examples_of,
)
from cuescope_sdk.cues._embedded import Embedded, Points
from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics import Groups, Roc

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

# inverse penalties on features of one unit; of ten samples the least wins, of hundreds the middle
STRENGTHS = tuple(10.0**power for power in range(-3, 5))
FOLDS = 5  # default of scikit-learn's StratifiedKFold
MOST_LEARNED = 500  # of a side: a logistic regression of more takes minutes
IntPerSample = Int[np.ndarray, " sample"]
Chosen = Int[np.ndarray, " chosen"]


class Learned(NamedTuple):
    """A direction, and the AUROC of held-out samples, None where too few groups are known."""

    direction: Float[np.ndarray, " dim"]
    auroc: float | None


class LinearLogOdds(NamedTuple):
    """Log odds that an embedding shows a cue, whatever its label: `weights` @ embedding + `bias`.

    `recall` is the share of held-out samples with the cue whose log odds are positive.
    """

    weights: Float[np.ndarray, " dim"]
    bias: float
    recall: float


@dataclass(frozen=True)
class Origin:
    """The `way` in which a cue was given, its name, and what else was said of it."""

    name: str
    way: str
    answer: str | None = None
    place: Box | None = None
    phrase: str | None = None


@dataclass(frozen=True, eq=False)
class Shown:
    """Which samples show a cue (1), do not (0) or may (-1), and for which somebody says so."""

    shows: IntPerSample
    told: Bool[np.ndarray, " sample"]

    @classmethod
    def told_of(cls, shows: IntPerSample) -> "Shown":
        """All that is known was told."""
        return cls(shows, shows >= 0)


@on_one_thread
def learn(
    points: Points,
    label: IntPerSample,
    shows: IntPerSample,
    groups: Groups,
    rng: Generator,
) -> Learned:
    """The direction of a logistic regression on what is left of embeddings within their label.

    Labels enter beside it, so that the direction tells no label from another. The ridge penalty is
    the likeliest for whole groups that were held out. Samples that may show the cue (-1) tell the
    means of labels. Raises UserError where a side is empty.
    """
    return _Fitted.of(points, label, shows, groups, rng).learned


@on_one_thread
def learn_log_odds(
    points: Points,
    label: IntPerSample,
    shows: IntPerSample,
    groups: Groups,
    rng: Generator,
) -> LinearLogOdds:
    """The direction that `learn` finds, calibrated on held-out samples for those of no known label.

    A logistic regression on the held-out scores (Platt, 1999), whose intercept is corrected for how
    many of each side were learned from (King and Zeng, 2001).
    """
    fitted = _Fitted.of(points, label, shows, groups, rng)
    score, target = fitted.score, fitted.target
    scale = float(score.std()) or 1.0
    model = _fit(score[:, None] / scale, target, 1.0)
    slope, intercept = float(model.coef_[0, 0]) / scale, float(model.intercept_[0])
    used = np.bincount(target, minlength=2)
    known = np.bincount(shows[shows >= 0], minlength=2)
    intercept += float(np.log(known[1] / used[1]) - np.log(known[0] / used[0]))
    is_told = slope * score + intercept > 0
    weights = slope * fitted.learned.direction
    return LinearLogOdds(weights, intercept, float(is_told[target == 1].mean()))


class _Fitted(NamedTuple):
    """What was learned, the samples that it was learned from, and their held-out scores.

    `score` is along the direction from the origin, not from the mean of a label.
    """

    learned: Learned
    target: IntPerSample
    score: Float[np.ndarray, " sample"]

    @classmethod
    def of(
        cls,
        points: Points,
        label: IntPerSample,
        shows: IntPerSample,
        groups: Groups,
        rng: Generator,
    ) -> "_Fitted":
        known = _known(shows, rng)
        target = shows[known]
        if len(np.unique(target)) < 2:
            raise UserError(
                "a recogniser of the cue",
                expected="samples with the cue and samples without it",
                got=f"{int((shows == 1).sum())} with, {int((shows == 0).sum())} without",
            )
        rows = within_labels(points, label)
        unit = float(np.sqrt((rows**2).sum(axis=1).mean())) or 1.0
        # a label weighs as much as all that is left of an embedding
        labels = np.eye(label.max() + 1)[label[known]]
        inputs = np.concatenate([rows[known] / unit, labels], axis=1)
        dim = points.shape[1]
        fold = _folds(target, groups.take(known), rng)
        plain = points[known] / unit
        if fold is None:
            direction = _fit(inputs, target, min(STRENGTHS)).coef_[0][:dim]
            return cls(Learned(direction / unit, None), target, plain @ direction)
        tries = [_HeldOut.of(inputs, dim, target, fold, each) for each in STRENGTHS]
        chosen = int(np.argmax([each.likelihood for each in tries]))
        held_out = tries[chosen]
        score = np.einsum("sd,sd->s", inputs[:, :dim], held_out.directions[fold])
        auroc = Roc(score, target == 1).auroc(label[known])
        direction = _fit(inputs, target, STRENGTHS[chosen]).coef_[0][:dim]
        from_origin = np.einsum("sd,sd->s", plain, held_out.directions[fold])
        return cls(Learned(direction / unit, auroc), target, from_origin)


class _HeldOut(NamedTuple):
    """Log-likelihood of samples that were held out, and the direction of each fold."""

    likelihood: float
    directions: Float[np.ndarray, "fold dim"]

    @classmethod
    def of(
        cls,
        inputs: Points,
        dim: int,
        target: IntPerSample,
        fold: IntPerSample,
        strength: float,
    ) -> "_HeldOut":
        directions = np.zeros((fold.max() + 1, dim))
        logit = np.zeros(len(target))
        for number in range(fold.max() + 1):
            own = fold == number
            # a group with both sides may leave one alone: nothing is said of its fold
            if len(np.unique(target[~own])) < 2:
                continue
            model = _fit(inputs[~own], target[~own], strength)
            logit[own] = model.decision_function(inputs[own])
            directions[number] = model.coef_[0][:dim]
        losses = np.logaddexp(0, np.where(target == 1, -logit, logit))
        return cls(-float(losses.sum()), directions)


def make_cue(
    data: Embedded, embedder: str | None, shown: Shown, rng: Generator, origin: Origin
) -> Cue:
    """A cue of samples that are known: what recognises it, and some of them as its examples."""
    learned = learn(data.points, data.label, shown.shows, data.groups, rng)
    kept = _examples(shown, rng)
    samples = [data.samples[number] for number in kept]
    some = Shown(shown.shows[kept], shown.told[kept])
    recogniser = LinearRecogniser(
        embedder, learned.direction, data.points[kept], learned.auroc
    )
    return cue_of(samples, some, recogniser, origin)


def unlearned_cue(
    samples: Sequence[Sample], shows: Sequence[bool], name: str, way: str
) -> Cue:
    """A cue of samples that a person marked; whoever uses it learns to recognise it.

    Raises UserError for more of them than a file keeps.
    """
    most = 2 * MOST_EXAMPLES
    if not 0 < len(samples) <= most:
        raise UserError(
            "the samples of a cue", expected=f"1 to {most}", got=str(len(samples))
        )
    shown = Shown.told_of(np.array(shows, dtype=int))
    recogniser = LinearRecogniser(None, np.zeros(0), np.zeros((len(samples), 0)))
    return cue_of(samples, shown, recogniser, Origin(name, way))


def cue_of(
    samples: Sequence[Sample],
    shown: Shown,
    recogniser: LinearRecogniser,
    origin: Origin,
    *,
    made: bool = False,
) -> Cue:
    """A cue with these samples as its examples; see `Example` for those that are `made`."""
    examples, pictures = examples_of(
        samples, (shown.shows == 1).tolist(), shown.told.tolist(), made=made
    )
    return Cue(
        clean_name(origin.name),
        origin.way,
        examples,
        pictures,
        recogniser,
        origin.answer,
        origin.place,
        origin.phrase,
    )


def _examples(shown: Shown, rng: Generator) -> Chosen:
    """Some of each side, those that were told first."""
    order = rng.permutation(len(shown.shows))
    order = order[np.argsort(~shown.told[order], kind="stable")]
    sides = [order[shown.shows[order] == side][:MOST_EXAMPLES] for side in (1, 0)]
    return np.concatenate(sides)


def _known(shows: IntPerSample, rng: Generator) -> Chosen:
    sides = [np.flatnonzero(shows == side) for side in (0, 1)]
    return np.sort(
        np.concatenate([rng.permutation(side)[:MOST_LEARNED] for side in sides])
    )


def within_labels(points: Points, label: IntPerSample) -> Points:
    """Embeddings less the mean of their label."""
    _, code = np.unique(label, return_inverse=True)
    sums = np.zeros((code.max() + 1, points.shape[1]))
    np.add.at(sums, code, points)
    return np.asarray(points - (sums / np.bincount(code)[:, None])[code])


def _folds(target: IntPerSample, groups: Groups, rng: Generator) -> IntPerSample | None:
    """Folds of whole groups, alike in both sides; None: a side has one group."""
    sides = np.zeros((2, groups.count), dtype=bool)
    for side in (0, 1):
        sides[side, groups.codes[target == side]] = True
    count = min(FOLDS, *sides.sum(axis=1).tolist())
    if count < 2:
        return None
    # shuffled, then one fold after the other: each kind of group is spread evenly
    order = np.lexsort((rng.permutation(groups.count), sides[0], sides[1]))
    fold = np.zeros(groups.count, dtype=np.int64)
    fold[order] = np.arange(groups.count) % count
    return np.asarray(fold[groups.codes])


def _fit(rows: Points, target: IntPerSample, strength: float) -> "LogisticRegression":
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    # it only ranks, and what it is worth is measured
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=strength, max_iter=1000).fit(rows, target)
