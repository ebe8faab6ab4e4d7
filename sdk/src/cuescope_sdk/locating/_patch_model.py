"""A cue's place by one weakly supervised model of patches: a picture shows it if some patch does.

Only pictures have labels: whether they are listed as showing the cue. The score of a patch is the
logarithm of how much likelier it is in pictures with the cue, by its kind, by how it looks for
its place in the frame, or by both, whichever tells pictures of groups held out best. Kinds are
ratios of two rates, shrunk towards 1 (Gamma-Poisson: DuMouchel, 1999); looks are normal, with means
that differ where their difference is above what the largest of so many is by chance (soft
thresholding: Donoho and Johnstone, 1994). So kinds tell what moves, and looks what stands. The mean
ratio of all patches is a picture's evidence (multiple instances: Maron and Lozano-Perez, 1998).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import ndimage
from scipy.special import logsumexp

from cuescope_sdk.locating._linear import FOLDS, Grid, PerFrame, Rates, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.locating._vocabulary import Vocabulary, learn_vocabulary
from cuescope_sdk.statistics import Roc

# frames that the prior counts as; 1 to 16 change AUROC by 0.02 at most (benchmarks/marks.py, 2026)
PRIOR = 4.0
# patches, the deviation of one place; 0.6 to 1 place alike (benchmarks/marks.py, 2026)
NEAR = 0.75
HALF = 0.5  # more likely than not
LEVEL = 0.01  # of a contrast and of a spread: less is flat
Words = Int[np.ndarray, "frame row col"]
Looks = Float[np.ndarray, "frame row col dim"]
Scores = Float[np.ndarray, "frame row col"]
Input = Literal["place", "both", "kind"]
INPUTS: tuple[Input, ...] = ("place", "both", "kind")


class Patches(NamedTuple):
    """What kind each patch of some frames is, and how it looks."""

    words: Words
    looks: Looks

    @classmethod
    def read(cls, grids: Sequence[Grid], vocabulary: Vocabulary) -> "Patches":
        """Kinds by the vocabulary; looks are whitened, and the logarithm of the contrast."""
        words = np.stack(list(map(vocabulary.read, grids)))
        looks = []
        for grid in grids:
            white = vocabulary.whitening.of(grid).reshape(*grid.shape[:2], -1)
            contrast = np.log(grid.std(axis=-1, keepdims=True) + LEVEL)
            looks.append(np.concatenate([white, contrast], axis=-1, dtype=np.float32))
        return cls(words, np.stack(looks))

    def take(self, frames: Bool[np.ndarray, " frame"]) -> "Patches":
        """Those of some frames."""
        return Patches(self.words[frames], self.looks[frames])


@dataclass(frozen=True, eq=False)
class PatchModel:
    """Log ratios of kinds, and for each place the weights of a patch's look from its middle."""

    kinds: Float[np.ndarray, " word"]
    weights: Float[np.ndarray, "row col dim"]
    middles: Float[np.ndarray, "row col dim"]

    @classmethod
    def fit(
        cls,
        patches: Patches,
        weights: Scores,
        shows: Bool[np.ndarray, " frame"],
        words: int,
    ) -> "PatchModel":
        """From patches that weigh so much, of frames that show the cue or do not."""
        rates = []
        means = []
        squares = []
        sizes = []
        for side in (shows, ~shows):
            of_side = weights[side]
            counts = np.bincount(patches.words[side].ravel(), of_side.ravel(), words)
            rates.append(counts / counts.sum())
            of_frame = of_side.mean(axis=(1, 2))
            looks = patches.looks[side]
            means.append(np.average(looks, axis=0, weights=of_frame))
            squares.append(np.average(looks**2, axis=0, weights=of_frame))
            sizes.append(of_frame.sum() ** 2 / (of_frame**2).sum())
        frames = len(shows) / 2
        prior = PRIOR * (rates[0] + rates[1]) / 2 + 1e-12
        kinds = np.log((frames * rates[0] + prior) / (frames * rates[1] + prior))
        variance = np.mean(squares, axis=0) - np.mean(np.square(means), axis=0)
        spread = np.sqrt(np.maximum(variance, 0) + LEVEL**2)
        error = np.sqrt(1 / sizes[0] + 1 / sizes[1])
        clear = ndimage.gaussian_filter(
            (means[0] - means[1]) / (spread * error), (NEAR, NEAR, 0), mode="nearest"
        )
        chance = np.sqrt(2 * np.log(clear.size))
        beyond = np.sign(clear) * np.maximum(np.abs(clear) - chance, 0)
        return cls(kinds, beyond * error / spread, np.mean(means, axis=0))

    def scores(self, patches: Patches) -> dict[Input, Scores]:
        """Of each patch, by its place, its kind and both."""
        kind = self.kinds[patches.words]
        place = ((patches.looks - self.middles) * self.weights).sum(axis=-1)
        return {"place": place, "both": place + kind, "kind": kind}


@dataclass(frozen=True, eq=False)
class Region:
    """What tells a cue by its patches, and how well.

    A patch is of the cue's place where the score of it and those that share its pixels is above
    `cut`, or in most of several frames its own above `cut_alone`. A frame shows the cue where its
    evidence is above `threshold`. `auroc` and `rates` are of groups held out, and `area` is the
    mean share of a frame. The cue `is_everywhere` where covering its place takes no more of it
    away than covering another place as large.
    """

    vocabulary: Vocabulary
    model: PatchModel
    by: Input
    overlap: int
    cut: float
    cut_alone: float
    threshold: float
    auroc: float
    rates: Rates
    area: float
    is_everywhere: bool

    @classmethod
    def learn(
        cls,
        grids: Sequence[Grid],
        data: Training,
        rng: Generator,
        overlap: int = 1,
    ) -> "Region | None":
        """From grids of one shape; None where a fold leaves one side alone.

        `overlap` is how many patches along a side share pixels: these are judged together.
        """
        vocabulary = learn_vocabulary(grids, rng)
        patches = Patches.read(grids, vocabulary)
        weights = _weights_of_patches(patches.words, data)
        held_out = {name: np.empty(patches.words.shape) for name in INPUTS}
        folds = data.folds(rng)
        count = len(vocabulary.words)
        for fold in range(FOLDS):
            learned = folds != fold
            if not data.has_both(learned):
                return None
            model = PatchModel.fit(
                patches.take(learned), weights[learned], data.shows[learned], count
            )
            of_fold = model.scores(patches.take(~learned))
            for name, scores in of_fold.items():
                held_out[name][~learned] = scores
        rocs = {name: Roc(_evidence(held_out[name]), data.shows) for name in INPUTS}
        aurocs = {name: rocs[name].auroc(data.labels) or HALF for name in INPUTS}
        areas = {
            name: float((held_out[name] > _cut_of_place(held_out[name], data)).mean())
            for name in INPUTS
        }
        # of equals the smaller place: patches that have looked at one another all tell a cue
        by = max(INPUTS, key=lambda name: (aurocs[name], -areas[name]))
        scores = held_out[by]
        values = _evidence(scores)
        threshold = rocs[by].youden_cut()
        pooled = _pooled(scores, overlap)
        cut = _cut_of_place(pooled, data)
        touched = np.stack([_touched(frame, cut) for frame in pooled])
        masks = [_without_rim(mask, overlap) for mask in touched]
        shown = data.shows & (values >= threshold)
        return cls(
            vocabulary,
            PatchModel.fit(patches, weights, data.shows, count),
            by,
            overlap,
            cut,
            _cut_of_place(scores, data),
            threshold,
            auroc=aurocs[by],
            rates=Rates.of(values, data.shows, threshold),
            area=float(np.mean(list(compress(masks, shown)))),
            is_everywhere=not _is_placed(scores, touched, data, rng),
        )

    def shows(self, grid: Grid) -> bool:
        """True if a frame shows the cue, by its patches."""
        [value] = _evidence(self._scores([grid]))
        return bool(value >= self.threshold)

    def mask(self, grid: Grid) -> Mask:
        """The patches that are the cue; the likest one where none is likely."""
        [scores] = _pooled(self._scores([grid]), self.overlap)
        return _without_rim(_touched(scores, self.cut), self.overlap)

    def likest(self, grid: Grid) -> Mask:
        """As large a share of the patches as the cue has on average, the likest ones."""
        [scores] = _pooled(self._scores([grid]), self.overlap)
        count = max(1, round(self.area * scores.size))
        mask = np.zeros(scores.size, bool)
        mask[np.argsort(-scores, axis=None, kind="stable")[:count]] = True
        return mask.reshape(scores.shape)

    def common_place(self, grids: Sequence[Grid]) -> Mask | None:
        """Where most of these frames have the cue; None where its place changes."""
        masks = [_touched(frame, self.cut_alone) for frame in self._scores(grids)]
        shares = np.mean(masks, axis=0)
        common = shares >= HALF
        # of the patches that tell it, so many have to lie where most frames have some
        if shares[common].sum() < HALF * shares.sum():
            return None
        return _without_rim(common, self.overlap)

    def _scores(self, grids: Sequence[Grid]) -> Scores:
        return self.model.scores(Patches.read(grids, self.vocabulary))[self.by]


def _pooled(scores: Scores, width: int) -> Scores:
    """Of each patch with those beside it."""
    return np.asarray(ndimage.uniform_filter(scores, (0, width, width)))


def _weights_of_patches(words: Words, data: Training) -> Scores:
    """How much each patch counts: sides weigh the same within labels, and a run's regions all."""
    weights = np.repeat(data.weights(), words[0].size).reshape(words.shape)
    for row in np.flatnonzero(data.shows).tolist():
        inside = data.candidates(row, words.shape[1:]).reshape(words.shape[1:])
        weights[row] *= inside / inside.mean()
    return weights


def _evidence(
    scores: Scores, kept: Bool[np.ndarray, "frame row col"] | None = None
) -> PerFrame:
    """The logarithm of the mean ratio of each frame's patches, or of those that are kept."""
    flat = scores.reshape(len(scores), -1)
    if kept is None:
        return np.asarray(logsumexp(flat, axis=1) - np.log(flat.shape[1]))
    inside = kept.reshape(flat.shape)
    # of a frame that is covered wholly nothing is known
    counts = np.maximum(inside.sum(axis=1), 1)
    values = logsumexp(np.where(inside, flat, -np.inf), axis=1) - np.log(counts)
    return np.where(inside.any(axis=1), values, 0.0)


def _cut_of_place(scores: Scores, data: Training) -> float:
    """The cut at which patches overlap most with the cue's, as both sides tell it.

    Of patches above a cut the other side has as many by chance. What frames with the cue have
    beyond these are the cue's, and the most of them for any cut are all that are known.
    """
    shown = np.sort(scores[data.shows], axis=None)
    others = np.sort(scores[~data.shows], axis=None)
    cuts = np.unique(shown)[:-1]
    if not len(cuts):
        return float(shown[0])
    taken = 1 - np.searchsorted(shown, cuts, side="right") / len(shown)
    wrongly = 1 - np.searchsorted(others, cuts, side="right") / len(others)
    beyond = taken - wrongly
    overlaps = beyond / (max(float(beyond.max()), 1e-9) + wrongly)
    return float(cuts[overlaps.argmax()])


def _touched(scores: Float[np.ndarray, "row col"], cut: float) -> Mask:
    """The patches above the cut, or the likest one, with what lies between them, as in letters."""
    mask = scores > min(cut, np.nextafter(scores.max(), -np.inf))
    padded = np.pad(mask, 2, mode="edge")
    return np.asarray(ndimage.binary_closing(padded, TOUCHING)[2:-2, 2:-2] | mask)


def _without_rim(mask: Mask, overlap: int) -> Mask:
    """Without the patches round a thing that only reach into it; all where nothing else is left."""
    if overlap == 1:
        return mask
    inner = ndimage.binary_erosion(
        mask, TOUCHING, iterations=overlap // 2, border_value=1
    )
    return np.asarray(inner) if inner.any() else mask


def _is_placed(
    scores: Scores,
    masks: Bool[np.ndarray, "frame row col"],
    data: Training,
    rng: Generator,
) -> bool:
    """The occlusion check: covered there, more of the cue is lost than elsewhere, beyond chance.

    A frame without the cue is covered where some frame with it has its place. Elsewhere is the
    same shape moved by half of the frame, so it is as large (after Zeiler and Fergus, 2014).
    """
    shown = np.flatnonzero(data.shows)
    if masks[shown].mean() > HALF:
        return False
    others = np.flatnonzero(~data.shows)
    masks = masks.copy()
    masks[others] = masks[rng.choice(shown, len(others))]
    rows, cols = scores.shape[1:]
    moved = np.roll(masks, (rows // 2, cols // 2), axis=(1, 2))
    there, elsewhere = (
        Roc(_evidence(scores, ~covered), data.shows).auroc(data.labels) or HALF
        for covered in (masks, moved)
    )
    return elsewhere - there > Roc.null_error(*data.groups_of_sides())
