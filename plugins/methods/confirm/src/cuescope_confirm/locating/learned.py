"""A cue that is known by frames of the run alone: learned from them, and checked on others."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int
from PIL import Image

from cuescope_confirm.locating.annotated import balanced_threshold, box_mask, size_of
from cuescope_confirm.scores import auroc
from cuescope_confirm.study import Cue, Study, root
from cuescope_sdk import Audit, Frame, Readout, Sample, Trial
from cuescope_sdk.interventions import GOOD_AUROC, Localisation, LocatedCue, Place
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import OUTPUTS

FRAMES = 200  # of the run on each side, that a linear model learns from
FOLDS = 4
CELLS = 12  # along a frame's side, where the model has no patches of its own
SPARED = 0.95  # share of the patches of frames without the cue that is not taken for it
ROUNDS = (
    2  # patches of the cue's frames are few of them the cue: the model chooses, and learns anew
)
ROWS = 6_000  # patches that a model is fitted to, drawn evenly
TIE = 0.01  # of AUROC: between equals the smaller region is taken
PENALTY = 0.1  # inverse strength of the L2 penalty, on standardised features
FrameId = tuple[str, int]


class Patches(Readout):
    """The patch features of each frame after a layer, (frame, row, col, dim)."""

    name: ClassVar[str] = "confirm-patches"
    layer: int = -1

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """By the model's own `patch_features`."""
        return [np.stack(model.patch_features(trial.sample.frames, self.layer)) for trial in trials]


def locate_learned(
    audit: Audit, study: Study, cue: Cue, pool: Mapping[str, Sample], word: str | None
) -> LocatedCue:
    """The frames that are like those of the run that show the cue, and the region that tells them.

    Which frames show it is told from the embedding of each frame held still, where it is from the
    patches of the model or, where it has none, from the colours of cells of the frame. Each is a
    regularised linear model, judged on groups of the run that it has not learned from.
    """
    learned, shows = _training_frames(audit, study, cue)
    boxes = _boxes(study, cue)
    frames = [_frame(study.seen, each) for each in learned]
    labels = np.array([str(study.seen[key].label) for key, _ in learned])
    groups = Groups.of([study.seen[key] for key, _ in learned])
    data = Training(shows, labels, groups, tuple(boxes.get(each) for each in learned))
    wanted = [(key, number) for key, s in pool.items() for number in range(len(s.frames))]
    stills = embeddings(audit, study.seen, learned)
    whole = learn(stills, data, audit.rng("confirm", "frames", cue.id))
    there = whole.scores(embeddings(audit, pool, wanted)) >= whole.threshold
    showing = [each for each, yes in zip(wanted, there, strict=True) if yes]
    best: tuple[float, float, Any] | None = None
    for cells in _cell_readers(audit, frames):
        grids = cells(study.seen, learned)
        region = learn_region(grids, data, audit.rng("confirm", "region", cue.id))
        if region is not None and (
            best is None
            or region.auroc > best[0] + TIE
            or (region.auroc > best[0] - TIE and region.area < best[1])
        ):
            best = region.auroc, region.area, (region, cells)
    masks: dict[FrameId, np.ndarray] = {}
    if best is not None and best[0] >= GOOD_AUROC:
        region, cells = best[2]
        for each, grid in zip(showing, cells(pool, showing), strict=True):
            masks[each] = _stretched(region.mask(grid), size_of(_frame(pool, each)))
    return _assembled(cue, pool, showing, masks, whole.auroc, best, word)


def _assembled(
    cue: Cue,
    pool: Mapping[str, Sample],
    showing: Sequence[FrameId],
    masks: Mapping[FrameId, np.ndarray],
    auroc: float | None,
    best: tuple[float, float, Any] | None,
    word: str | None,
) -> LocatedCue:
    numbers: dict[str, list[int]] = {}
    for key, number in showing:
        numbers.setdefault(key, []).append(number)
    places = {}
    for key, own in numbers.items():
        sample = pool[key]
        regions = tuple(
            masks.get((key, n), np.zeros(size_of(frame), dtype=bool))
            for n, frame in enumerate(sample.frames)
        )
        region = regions if masks and any(mask.any() for mask in regions) else ()
        places[key] = Place(masks=region, frames=tuple(own) if len(sample.frames) > 1 else ())
    area = float(np.mean([p.area for p in places.values()])) if masks and places else None
    ranks = [value for value in (auroc, best[0] if best and masks else None) if value is not None]
    by = "frames like those of the run"
    if masks:
        by += ", and the patches that tell them"
    elif best:
        by += f"; no patches tell them (AUROC {best[0]:.2f})"
    return LocatedCue(
        key=cue.feature.key,
        name=cue.name,
        label=cue.label,
        places=places,
        without=frozenset(pool.keys() - places.keys()),
        quality=Localisation(by, min(ranks) if ranks else 0.0, area, len(places)),
        word=word,
    )


# ---------------------------------------------------------------------------------- linear models


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
        inside = np.ones(shape, bool) if region is None else _stretched(region, shape)
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
        values, sizes = [], []
        for label in np.unique(self.labels):
            own = self.labels == label
            value = auroc(scores[own], self.shows[own])
            if value is not None:
                values.append(value)
                sizes.append(int(min(self.shows[own].sum(), (~self.shows[own]).sum())))
        if not values:
            return auroc(scores, self.shows)
        return float(np.average(values, weights=sizes))


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
    cut = balanced_threshold(scores - scores.min() + 1, data.shows) + scores.min() - 1
    return Linear(model.centre, model.weights, model.threshold + cut, data.matched_auroc(scores))


@dataclass(frozen=True, eq=False)
class Region:
    """A linear model on patches, and from where on a patch is the cue's."""

    model: Linear
    threshold: float
    auroc: float
    area: float

    def mask(self, grid: Float[np.ndarray, "row col dim"]) -> Bool[np.ndarray, "row col"]:
        """The patches that are the cue; the likest ones where none exceeds the threshold.

        A patch at the threshold is not: on a plain background all others are alike, and there.
        """
        scores = self.model.scores(grid)
        above = scores > self.threshold
        return np.asarray(above if above.any() else scores >= scores.max())


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
        model, _ = _fit_patches(grids, data, learned)
        for row in np.flatnonzero(fold == number).tolist():
            scores[row] = _likest(model.scores(grids[row]))
    quality = data.matched_auroc(scores)
    model, threshold = _fit_patches(grids, data, np.arange(len(grids)))
    region = Region(model, threshold, quality or 0.0, 0.0)
    areas = [region.mask(grids[row]).mean() for row in np.flatnonzero(data.shows).tolist()]
    return Region(model, threshold, quality or 0.0, float(np.mean(areas)))


def _fit_patches(
    grids: Sequence[np.ndarray], data: Training, learned: Int[np.ndarray, " frame"]
) -> tuple[Linear, float]:
    """The model, and the score that a share of SPARED of the others' patches stays below."""
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
    return model, threshold


def _likest(scores: Float[np.ndarray, "row col"]) -> float:
    count = max(1, scores.size // 10)
    return float(np.sort(scores.ravel())[-count:].mean())


# -------------------------------------------------------------------------------------- features


def _training_frames(
    audit: Audit, study: Study, cue: Cue
) -> tuple[list[FrameId], Bool[np.ndarray, " frame"]]:
    """Frames of the run with the cue, and others, of the same labels first."""
    positive: dict[FrameId, None] = {}
    for occurrence in cue.feature.occurrences:
        key = root(occurrence.sample, study.seen)
        if key is not None:
            positive[key, min(occurrence.frame or 0, len(study.seen[key].frames) - 1)] = None
    everything = [(key, n) for key, s in study.seen.items() for n in range(len(s.frames))]
    others = [each for each in everything if each not in positive]
    rng = audit.rng("confirm", "training", cue.id)
    chosen = [list(positive)[row] for row in rng.permutation(len(positive))[:FRAMES]]
    there = {study.seen[key].label for key, _ in chosen}
    order = rng.permutation(len(others)).tolist()
    order.sort(key=lambda row: study.seen[others[row][0]].label not in there)
    chosen += [others[row] for row in order[:FRAMES]]
    return chosen, np.array([each in positive for each in chosen], dtype=bool)


def _boxes(study: Study, cue: Cue) -> dict[FrameId, Bool[np.ndarray, "_row _col"]]:
    """The regions in which the run found the cue, by frame."""
    found: dict[FrameId, Bool[np.ndarray, "_row _col"]] = {}
    for occurrence in cue.feature.occurrences:
        key = root(occurrence.sample, study.seen)
        if key is not None and occurrence.region is not None:
            each = key, min(occurrence.frame or 0, len(study.seen[key].frames) - 1)
            mask = box_mask([occurrence.region], size_of(_frame(study.seen, each)))
            found[each] = found[each] | mask if each in found else mask
    return found


def _frame(samples: Mapping[str, Sample], each: FrameId) -> Frame:
    return samples[each[0]].frames[each[1]]


def embeddings(
    audit: Audit, samples: Mapping[str, Sample], frames: Sequence[FrameId]
) -> Float[np.ndarray, "frame dim"]:
    """What the model makes of each frame held still; of its colours, where it does not tell."""
    if "embedding" in audit.capabilities.outputs and "logits" in audit.capabilities.outputs:
        trials = []
        for key, number in frames:
            sample = samples[key]
            still = sample if len(sample.frames) == 1 else sample.static(number)
            trials.append(Trial(sample=still, condition="static", outputs=OUTPUTS))
        return np.stack([np.asarray(o.response.embedding) for o in audit.respond(trials)]).astype(
            np.float64
        )
    grids = colours(samples, frames)
    side = CELLS // 3
    coarse = [g.reshape(3, side, 3, side, -1).mean(axis=(1, 3)).ravel() for g in grids]
    return np.stack(coarse)


def _cell_readers(audit: Audit, frames: Sequence[Frame]) -> list[Any]:
    """What tells the patches of frames: the model where it can, and colours."""
    readers: list[Any] = [colours]
    shapes = [size_of(frame) for frame in frames[:8]]
    square = all(0.9 < rows / cols < 1.1 for rows, cols in shapes)
    # a model crops what is not square, and then its grid does not span the frame
    if "patches" in audit.capabilities.exposes and square:

        def patches(samples: Mapping[str, Sample], wanted: Sequence[FrameId]) -> list[np.ndarray]:
            trials = [
                Patches().of(samples[key].with_frames((samples[key].frames[n],), f"frame-{n}"))
                for key, n in wanted
            ]
            return [np.asarray(o.response.readout)[0] for o in audit.respond(trials)]

        readers.append(patches)
    return readers


def colours(samples: Mapping[str, Sample], frames: Sequence[FrameId]) -> list[np.ndarray]:
    """Mean and spread of each colour, and their products, in a grid of cells: (row, col, dim)."""
    grids = []
    for each in frames:
        image = _frame(samples, each).load()
        pixels = np.asarray(
            image.resize((CELLS * 4, CELLS * 4), Image.Resampling.BOX), np.float64
        ).reshape(CELLS, 4, CELLS, 4, 3)
        mean, spread = pixels.mean(axis=(1, 3)) / 255, pixels.std(axis=(1, 3)) / 255
        pairs = [mean[..., i] * mean[..., j] for i in range(3) for j in range(i, 3)]
        grids.append(np.concatenate([mean, spread, np.stack(pairs, axis=-1)], axis=-1))
    return grids


def _stretched(mask: Bool[np.ndarray, "r c"], size: tuple[int, int]) -> Bool[np.ndarray, "h w"]:
    rows = np.arange(size[0]) * mask.shape[0] // size[0]
    cols = np.arange(size[1]) * mask.shape[1] // size[1]
    return np.asarray(mask[rows][:, cols])
