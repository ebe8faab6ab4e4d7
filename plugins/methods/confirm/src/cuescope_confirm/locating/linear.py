"""Linear models that tell frames and patches of a cue from others, judged on others yet."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import ndimage

from cuescope_confirm.locating.places import Mask, stretch
from cuescope_confirm.scores import youden_cut
from cuescope_sdk.statistics import Groups, auroc

FOLDS = 4
SPARED = 0.95  # share of the patches of frames without the cue that is not taken for it
# few patches of the cue's frames are the cue: the model chooses, and learns anew
ROUNDS = 2
ROWS = 6_000  # patches that a model is fitted to, drawn evenly
PLACED = 0.3  # of what tells the cue must be in a place, else it is everywhere
MOST_HIDDEN = 0.8  # share of the patches: something must be left to tell
ONE_SIDED = 0.1  # weight of labels whose frames all show the cue, or none
TOUCHING = np.ones((3, 3))  # patches of one piece, corners too
PerFrame = Float[np.ndarray, " frame"]
BoolPerFrame = Bool[np.ndarray, " frame"]
IntPerFrame = Int[np.ndarray, " frame"]
Rows = Float[np.ndarray, "frame dim"]
Grid = Float[np.ndarray, "row col dim"]


@dataclass(frozen=True)
class Fitting:
    """How a model is fitted: the inverse strength of its L2 penalty, and the unit of a feature.

    That is its spread, or at least this share of the largest spread: at 1 all have one unit.
    """

    strength: float
    least_unit: float = 1e-3  # what hardly varies would be blown up to noise


FEW = Fitting(0.1)
MANY = Fitting(0.03)  # features, of which each is weak
NEAR_ONE_UNIT = Fitting(0.03, 0.5)


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
        # of a permutation: folds differ by one group at most
        deal = rng.permutation(self.groups.count) % FOLDS
        return np.asarray(deal[self.groups.codes])

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

    def has_both(self, rows: np.ndarray) -> bool:
        """Whether some of these frames show the cue, and some do not."""
        shows = self.shows[rows]
        return bool(shows.any() and not shows.all())


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear model on standardised features, with what it is worth on others."""

    centre: Float[np.ndarray, " dim"]
    weights: Float[np.ndarray, " dim"]
    threshold: float = 0.0
    auroc: float | None = None

    def scores(self, rows: Float[np.ndarray, "... dim"]) -> Float[np.ndarray, " ..."]:
        """How like the cue."""
        return np.asarray((rows - self.centre) @ self.weights)


def fit(
    rows: Float[np.ndarray, "row dim"],
    shows: Bool[np.ndarray, " row"],
    weights: np.ndarray,
    fitting: Fitting = FEW,
) -> Linear:
    """Logistic regression with an L2 penalty, on features in their units."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    centre = rows.mean(axis=0)
    spread = rows.std(axis=0)
    spread = np.maximum(spread, fitting.least_unit * max(spread.max(), 1e-9))
    model = LogisticRegression(C=fitting.strength, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():  # it only ranks, and what it is worth is measured
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((rows - centre) / spread, shows, sample_weight=weights)
    # the threshold is the score at which the regression says one half
    return Linear(centre, model.coef_[0] / spread, -model.intercept_[0])


def held_out_scores(
    rows: Rows,
    data: Training,
    rng: Generator,
    fitting: Fitting = FEW,
    judged: Rows | None = None,
) -> PerFrame:
    """Each frame by a model of the other folds, above its threshold; NaN where these show no gap.

    That is where all of their frames show the cue, or none. Frames may be `judged` by other rows
    than those that are learned from.
    """
    judged = rows if judged is None else judged
    folds = data.folds(rng)
    weights = data.weights()
    scores = np.full(len(rows), np.nan)
    for fold in range(FOLDS):
        learned = folds != fold
        if data.has_both(learned):
            model = fit(rows[learned], data.shows[learned], weights[learned], fitting)
            # less its threshold, for scores of several models are ranked together
            scores[~learned] = model.scores(judged[~learned]) - model.threshold
    return scores


def learn(
    rows: Rows,
    data: Training,
    rng: Generator,
    fitting: Fitting = FEW,
    judged: Rows | None = None,
) -> Linear:
    """The model of all frames; its threshold and AUROC are those of frames that were held out."""
    scores = held_out_scores(rows, data, rng, fitting, judged)
    # a fold that cannot be judged: with an AUROC of 0.5 this decides nothing
    if np.isnan(scores).any():
        return Linear(rows.mean(axis=0), np.zeros(rows.shape[1]), auroc=0.5)
    model = fit(rows, data.shows, data.weights(), fitting)
    threshold = model.threshold + youden_cut(scores, data.shows)
    return replace(
        model,
        threshold=threshold,
        auroc=auroc(scores, data.shows, data.labels),
    )


@dataclass(frozen=True, eq=False)
class PatchModel:
    """How like the cue patches are, by what they show and by where they are.

    `usual` is how much more like the cue the patches of frames with it are at each place, times
    what that is worth: what stands in one place in most frames is seen whole in the others too.
    """

    shown: Linear
    usual: Float[np.ndarray, "row col"] | None = None
    threshold: float = 0.0

    def scores(self, grid: Grid) -> Float[np.ndarray, "row col"]:
        """Above `threshold` a patch is the cue's."""
        scores = self.shown.scores(grid)
        if self.usual is not None:
            scores += stretch(self.usual, scores.shape)
        return scores

    def likest(self, grid: Grid, hidden: Mask | None = None) -> float:
        """Of the likest tenth of its patches the mean, above the threshold; some may be hidden."""
        scores = self.scores(grid)
        count = max(1, scores.size // 10)
        left = scores.ravel() if hidden is None else scores[~hidden]
        # several, for of many patches a single one is high by chance
        return float(np.sort(left)[-count:].mean() - self.threshold)


@dataclass(frozen=True, eq=False)
class Region:
    """A model of patches, with what it is worth on others, and the mean area of what it finds.

    `cut` is how far above the threshold the likest patches of a frame are that shows the cue, and
    `sure` a score that hardly any patch of other frames has. Where the cue `is_everywhere`, frames
    without their likest patches tell it as well.
    """

    model: PatchModel
    auroc: float
    area: float = 0.0
    cut: float = 0.0
    sure: float = -np.inf
    is_everywhere: bool = False

    def shows(self, grid: Grid) -> bool:
        """Whether a frame shows the cue, by its patches."""
        return self.model.likest(grid) >= self.cut

    def mask(self, grid: Grid) -> Bool[np.ndarray, "row col"]:
        """The patches that are the cue; the likest ones where none exceeds the threshold.

        A patch at the threshold is not: on a plain background all others are alike, and there. One
        that lies between patches of the cue is, as what stands between two letters. Where some
        pieces hold a patch that is surely the cue's, the others are not.
        """
        scores = self.model.scores(grid)
        above = scores > self.model.threshold
        # only frames that show the cue are asked for it, so it is somewhere
        if not above.any():
            return np.asarray(scores >= scores.max())
        closed = fill_gaps(above)
        pieces, _ = ndimage.label(closed, TOUCHING)
        sure = np.unique(pieces[(scores >= self.sure) & closed])
        if len(sure):
            closed = np.isin(pieces, sure)
        return np.asarray(closed)

    def likest(self, grid: Grid) -> Bool[np.ndarray, "row col"]:
        """As large a share of the patches as the cue has on average, the likest ones."""
        return likest_part(self.model.scores(grid), self.area)


def fill_gaps(mask: Mask) -> Mask:
    """With what lies between patches, as what stands between two letters."""
    # padded: at its edge a grid has nothing beside it that could be closed
    closed = ndimage.binary_closing(np.pad(mask, 2), TOUCHING)[2:-2, 2:-2]
    return np.asarray(closed | mask)


def likest_part(
    scores: Float[np.ndarray, "row col"],
    area: float,
) -> Bool[np.ndarray, "row col"]:
    """A share of the patches, the highest ones."""
    count = max(1, round(area * scores.size))
    order = np.argsort(-scores, axis=None, kind="stable")
    mask = np.zeros(scores.size, bool)
    mask[order[:count]] = True
    return mask.reshape(scores.shape)


def learn_region(
    grids: Sequence[Grid],
    data: Training,
    rng: Generator,
) -> Region | None:
    """What tells the patches of the cue's frames from those of matched other frames.

    A frame is as like the cue as its likest tenth of patches. None where a fold has one side alone.
    """
    halves = data.folds(rng) % 2  # patches are many, and each fold costs two fits
    scores = np.zeros(len(grids))
    rests = np.zeros(len(grids))
    for half in range(2):
        learned = np.flatnonzero(halves != half)
        if not data.has_both(learned):
            return None
        model = _fit_patches(grids, data, learned)
        rows = np.flatnonzero(halves == half)
        areas = [
            np.mean(model.scores(grids[row]) > model.threshold)
            for row in rows[data.shows[rows]]
        ]
        area = min(float(np.mean(areas or 0)), MOST_HIDDEN)
        for row in rows.tolist():
            scores[row] = model.likest(grids[row])
            # as much is hidden of each, or what is left would tell both by its size
            hidden = likest_part(model.scores(grids[row]), area)
            rests[row] = model.likest(grids[row], hidden)
    model = _fit_patches(grids, data, np.arange(len(grids)))
    # two models have no common unit: the cut lets as many frames without the cue pass as it did
    # among frames that were held out
    passing = np.mean(scores[~data.shows] >= youden_cut(scores, data.shows))
    others = [model.likest(grid) for grid in compress(grids, ~data.shows)]
    highest = np.array(list(map(np.max, map(model.scores, grids))))
    told = auroc(scores, data.shows, data.labels) or 0.0
    rest = auroc(rests, data.shows, data.labels) or 0.0
    region = Region(
        model,
        auroc=told,
        cut=float(np.quantile(others, 1 - passing)),
        sure=youden_cut(highest, data.shows),
        is_everywhere=told - rest < PLACED * (told - 0.5),
    )
    masks = map(region.mask, compress(grids, data.shows))
    return replace(region, area=np.mean(list(map(np.mean, masks))))


def _fit_patches(
    grids: Sequence[Grid],
    data: Training,
    learned: IntPerFrame,
) -> PatchModel:
    """The model; a share of SPARED of the others' patches stays below its threshold."""
    flat = []
    candidates = []
    for row in learned.tolist():
        *shape, dim = grids[row].shape
        flat.append(grids[row].reshape(-1, dim))
        candidates.append(data.candidates(row, shape))
    sizes = list(map(len, flat))
    rows = np.concatenate(flat).astype(np.float64)
    shows = np.repeat(data.shows[learned], sizes)
    weights = np.repeat(data.weights()[learned], sizes)
    may_show = np.concatenate(candidates)
    # odd: no column of the grid is left out
    some = slice(None, None, len(rows) // ROWS | 1)
    rows = rows[some]
    shows = shows[some]
    weights = weights[some]
    may_show = may_show[some]
    keep = ~shows | may_show
    for _ in range(ROUNDS):
        model = fit(rows[keep], shows[keep], weights[keep])
        scores = model.scores(rows)
        threshold = np.quantile(scores[~shows], SPARED)
        chosen = ~shows | (may_show & (scores > threshold))
        # no patch of the cue is left to learn from: the last model stands
        if not (chosen & shows).any():
            break
        keep = chosen
    return _with_places(PatchModel(model, threshold=threshold), grids, data, learned)


def _with_places(
    model: PatchModel,
    grids: Sequence[Grid],
    data: Training,
    learned: np.ndarray,
) -> PatchModel:
    """The same with what each place is worth, as a logistic regression on both weighs it."""
    shape = grids[learned[0]].shape[:2]
    scores = np.stack([stretch(model.scores(grids[row]), shape) for row in learned])
    shows = data.shows[learned]
    weights = data.weights()[learned]
    usual = np.average(scores[shows], axis=0, weights=weights[shows])
    usual -= np.average(scores[~shows], axis=0, weights=weights[~shows])
    of_shown = shows[:, None, None]
    there = of_shown & (scores > model.threshold)
    if not there.any():
        return model
    rows = np.stack(np.broadcast_arrays(scores, usual), axis=-1)
    weight = np.broadcast_to(weights[:, None, None], scores.shape)
    keep = there | ~of_shown
    both = fit(rows[keep], there[keep], weight[keep])
    if (both.weights <= 0).any():  # places tell nothing
        return model
    # in units of the first score, so that both can be added
    usual = usual * both.weights[1] / both.weights[0]
    # places raise all scores, so the spared share has another threshold
    threshold = np.quantile((scores + usual)[~shows], SPARED)
    return PatchModel(model.shown, usual, threshold)
