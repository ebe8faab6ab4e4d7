"""Linear models that tell frames and patches of a cue from others, judged on others yet."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

from cuescope_confirm.locating.annotated import balanced_threshold
from cuescope_sdk.statistics import Groups, matched_auroc

FOLDS = 4
SPARED = 0.95  # share of the patches of frames without the cue that is not taken for it
ROUNDS = 2  # few patches of the cue's frames are the cue: the model chooses, and learns anew
ROWS = 6_000  # patches that a model is fitted to, drawn evenly
PENALTY = 0.1  # inverse strength of the L2 penalty, on standardised features


@dataclass(frozen=True, eq=False)
class Training:
    """Which frames show the cue, their labels, and what was drawn together."""

    shows: Bool[np.ndarray, " frame"]
    labels: np.ndarray
    groups: Groups
    regions: tuple[Bool[np.ndarray, "_row _col"] | None, ...] = ()

    def candidates(self, row: int, shape: tuple[int, int]) -> Bool[np.ndarray, " patch"]:
        """The patches that may be the cue's: those in the run's own region, where it has one."""
        region = self.regions[row] if self.regions and self.shows[row] else None
        inside = np.ones(shape, bool) if region is None else stretched(region, shape)
        return (inside if inside.any() else ~inside).ravel()

    def folds(self, rng: np.random.Generator) -> Int[np.ndarray, " frame"]:
        """Whole groups, dealt out."""
        deal = rng.permutation(self.groups.count) % FOLDS
        return np.asarray(deal[self.groups.codes])

    def weights(self) -> Float[np.ndarray, " frame"]:
        """Frames with and without the cue weigh the same within each label that has both.

        So the label is no help to tell them apart. Labels that have one side count a tenth.
        """
        weights = np.zeros(len(self.shows))
        for label in np.unique(self.labels):
            own = self.labels == label
            sides = [own & self.shows, own & ~self.shows]
            for side in sides:
                if side.any():
                    both = all(each.any() for each in sides)
                    weights[side] = (own.sum() if both else 0.1 * own.sum()) / side.sum()
        return np.asarray(weights / weights.mean())

    def matched_auroc(self, scores: Float[np.ndarray, " frame"]) -> float | None:
        """The AUROC within labels, by how many frames show the cue there."""
        return matched_auroc(scores, self.shows, self.labels)


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
    rows: Float[np.ndarray, "row dim"], shows: Bool[np.ndarray, " row"], weights: np.ndarray
) -> Linear:
    """Logistic regression with an L2 penalty, on standardised features."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    spread = np.maximum(spread, 1e-3 * max(float(spread.max()), 1e-9))
    model = LogisticRegression(C=PENALTY, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():  # it only ranks, and what it is worth is measured
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit((rows - centre) / spread, shows, sample_weight=weights)
    return Linear(centre, model.coef_[0] / spread, -float(model.intercept_[0]))


def learn(rows: Float[np.ndarray, "frame dim"], data: Training, rng: np.random.Generator) -> Linear:
    """The model of all frames; its threshold and AUROC are those of frames that were held out."""
    fold, weights = data.folds(rng), data.weights()
    scores = np.zeros(len(rows))
    for number in range(FOLDS):
        learned = fold != number
        if data.shows[learned].all() or not data.shows[learned].any():
            return Linear(rows.mean(axis=0), np.zeros(rows.shape[1]), 0.0, 0.5)
        part = fit(rows[learned], data.shows[learned], weights[learned])
        scores[~learned] = part.scores(rows[~learned]) - part.threshold
    model = fit(rows, data.shows, weights)
    cut = balanced_cut(scores, data.shows)
    return Linear(model.centre, model.weights, model.threshold + cut, data.matched_auroc(scores))


def balanced_cut(scores: Float[np.ndarray, " row"], shows: Bool[np.ndarray, " row"]) -> float:
    """The score that tells both sides apart best; scores may be negative."""
    return balanced_threshold(scores - scores.min() + 1, shows) + float(scores.min()) - 1


@dataclass(frozen=True, eq=False)
class PatchModel:
    """How like the cue patches are, by what they show and by where they are.

    `usual` is how much more like the cue the patches of frames with it are at each place, times
    what that is worth: what stands in one place in most frames is seen whole in the others too.
    """

    shown: Linear
    usual: Float[np.ndarray, "row col"] | None = None
    threshold: float = 0.0

    def scores(self, grid: Float[np.ndarray, "row col dim"]) -> Float[np.ndarray, "row col"]:
        """Above `threshold` a patch is the cue's."""
        scores = self.shown.scores(grid)
        return scores if self.usual is None else scores + stretched(self.usual, scores.shape)

    def likest(self, grid: Float[np.ndarray, "row col dim"]) -> float:
        """Of the likest tenth of its patches the mean, above the threshold."""
        scores = self.scores(grid)
        count = max(1, scores.size // 10)
        return float(np.sort(scores.ravel())[-count:].mean() - self.threshold)


@dataclass(frozen=True, eq=False)
class Region:
    """A model of patches, with what it is worth on others, and the mean area of what it finds.

    `cut` is how far above the threshold the likest patches of a frame are that shows the cue, and
    `sure` a score that hardly any patch of other frames has.
    """

    model: PatchModel
    auroc: float
    area: float
    cut: float = 0.0
    sure: float = -np.inf

    def shows(self, grid: Float[np.ndarray, "row col dim"]) -> bool:
        """Whether a frame shows the cue, by its patches."""
        return self.model.likest(grid) >= self.cut

    def mask(self, grid: Float[np.ndarray, "row col dim"]) -> Bool[np.ndarray, "row col"]:
        """The patches that are the cue; the likest ones where none exceeds the threshold.

        A patch at the threshold is not: on a plain background all others are alike, and there. One
        that lies between patches of the cue is, as what stands between two letters. Where some
        pieces hold a patch that is surely the cue's, the others are not.
        """
        scores = self.model.scores(grid)
        above = scores > self.model.threshold
        if not above.any():
            return np.asarray(scores >= scores.max())
        closed = above | ndimage.binary_closing(np.pad(above, 2), np.ones((3, 3)))[2:-2, 2:-2]
        pieces, _ = ndimage.label(closed, np.ones((3, 3)))
        sure = np.unique(pieces[(scores >= self.sure) & closed])
        return np.asarray(np.isin(pieces, sure) if len(sure) else closed)

    def likest(self, grid: Float[np.ndarray, "row col dim"]) -> Bool[np.ndarray, "row col"]:
        """As large a share of the patches as the cue has on average, the likest ones."""
        scores = self.model.scores(grid)
        count = max(1, round(self.area * scores.size))
        mask = np.zeros(scores.size, bool)
        mask[np.argsort(-scores, axis=None, kind="stable")[:count]] = True
        return mask.reshape(scores.shape)


def learn_region(
    grids: Sequence[Float[np.ndarray, "row col dim"]], data: Training, rng: np.random.Generator
) -> Region | None:
    """What tells the patches of the cue's frames from those of matched other frames.

    A frame is as like the cue as its likest tenth of patches. None where a fold has one side alone.
    """
    fold = data.folds(rng) % 2  # halves: patches are many, and each fold costs two fits
    scores = np.zeros(len(grids))
    for number in range(2):
        learned = np.flatnonzero(fold != number)
        if data.shows[learned].all() or not data.shows[learned].any():
            return None
        model = _fit_patches(grids, data, learned)
        for row in np.flatnonzero(fold == number).tolist():
            scores[row] = model.likest(grids[row])
    model, quality = _fit_patches(grids, data, np.arange(len(grids))), data.matched_auroc(scores)
    highest = np.array([model.scores(grid).max() for grid in grids])
    cuts = balanced_cut(scores, data.shows), balanced_cut(highest, data.shows)
    region = Region(model, quality or 0.0, 0.0, *cuts)
    areas = [region.mask(grids[row]).mean() for row in np.flatnonzero(data.shows).tolist()]
    return replace(region, area=float(np.mean(areas)))


def _fit_patches(
    grids: Sequence[np.ndarray], data: Training, learned: Int[np.ndarray, " frame"]
) -> PatchModel:
    """The model; a share of SPARED of the others' patches stays below its threshold."""
    weights = data.weights()
    flat = [grids[row].reshape(-1, grids[row].shape[-1]) for row in learned]
    rows = np.concatenate(flat).astype(np.float64)
    shows = np.concatenate(
        [np.full(len(f), data.shows[r]) for f, r in zip(flat, learned, strict=True)]
    )
    weight = np.concatenate(
        [np.full(len(f), weights[r]) for f, r in zip(flat, learned, strict=True)]
    )
    may = np.concatenate([data.candidates(row, grids[row].shape[:2]) for row in learned])
    if (step := len(rows) // ROWS) > 1:  # odd: no column of the grid is left out
        rows, shows, weight, may = (part[:: step | 1] for part in (rows, shows, weight, may))
    keep = ~shows | may
    model, threshold = Linear(rows.mean(axis=0), np.zeros(rows.shape[1])), 0.0
    for _ in range(ROUNDS):
        model = fit(rows[keep], shows[keep], weight[keep])
        scores = model.scores(rows)
        threshold = float(np.quantile(scores[~shows], SPARED))
        chosen = ~shows | (may & (scores > threshold))
        if not (chosen & shows).any():
            break
        keep = chosen
    return _with_places(PatchModel(model, None, threshold), grids, data, learned)


def _with_places(
    model: PatchModel, grids: Sequence[np.ndarray], data: Training, learned: np.ndarray
) -> PatchModel:
    """The same with what each place is worth, as a logistic regression on both weighs it."""
    shape = grids[learned[0]].shape[:2]
    scores = np.stack([stretched(model.scores(grids[row]), shape) for row in learned])
    shows, weights = data.shows[learned], data.weights()[learned]
    usual = np.average(scores[shows], axis=0, weights=weights[shows])
    usual = usual - np.average(scores[~shows], axis=0, weights=weights[~shows])
    there = shows[:, None, None] & (scores > model.threshold)
    rows = np.stack([scores, np.broadcast_to(usual, scores.shape)], axis=-1)
    keep = there | ~shows[:, None, None]
    weight = np.broadcast_to(weights[:, None, None], scores.shape)
    if not there.any():
        return model
    both = fit(rows[keep], there[keep], weight[keep])
    if (both.weights <= 0).any():  # places tell nothing
        return model
    usual = usual * both.weights[1] / both.weights[0]
    threshold = float(np.quantile((scores + usual)[~shows], SPARED))
    return PatchModel(model.shown, usual, threshold)


def stretched(mask: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    rows = np.arange(size[0]) * mask.shape[0] // size[0]
    cols = np.arange(size[1]) * mask.shape[1] // size[1]
    return np.asarray(mask[rows][:, cols])
