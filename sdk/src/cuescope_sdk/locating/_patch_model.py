"""A cue's place by one weakly supervised model of patches: a picture shows it if some patch does.

Only pictures have labels: whether they are listed as showing the cue. Patches of all pictures are
sorted into kinds. How much commoner each kind is at each place in pictures with the cue is a
ratio of two rates, which is shrunk towards the ratio of the kind at any place (Gamma-Poisson
shrinkage: DuMouchel, 1999). So a thing that moves is told by its kinds of patches, and one that
stands by kinds that are rare just there. The ratios of all patches together make the evidence of
a picture, as the likelihood of multiple instances does (Maron and Lozano-Perez, 1998). All figures
are of pictures whose group the ratios have not been counted in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import ndimage
from scipy.special import logsumexp

from cuescope_sdk.locating._linear import FOLDS, Grid, PerFrame, Rates, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.locating._vocabulary import Vocabulary, learn_vocabulary
from cuescope_sdk.statistics import Roc

# frames that the prior counts as; 1 to 16 change AUROC by 0.02 at most on benchmarks/marks.py
PRIOR = 4.0
NEAR = 0.75  # patches, the deviation of what counts as one place; 0.6 to 1 place alike there
HALF = 0.5  # more likely than not
Words = Int[np.ndarray, "frame row col"]
Scores = Float[np.ndarray, "frame row col"]
Ratios = Float[np.ndarray, "row col word"]


@dataclass(frozen=True, eq=False)
class Region:
    """What tells a cue by its patches: the logarithm of how much commoner each kind is, and where.

    A patch is of the cue's place where its score is above `cut`; a frame shows the cue where its
    evidence is above `threshold`. `auroc` and `rates` are of groups held out, and `area` is the
    mean share of a frame. The cue `is_everywhere` where covering its place takes no more of it
    away than covering another place as large.
    """

    vocabulary: Vocabulary
    ratios: Ratios
    overlap: int
    cut: float
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
        words = np.stack(list(map(vocabulary.read, grids)))
        weights = _weights_of_patches(words, data)
        scores = np.empty(words.shape)
        folds = data.folds(rng)
        for fold in range(FOLDS):
            learned = folds != fold
            if not data.has_both(learned):
                return None
            ratios = _ratios(words[learned], weights[learned], data.shows[learned])
            scores[~learned] = _scores(words[~learned], ratios, overlap)
        values = _evidence(scores)
        roc = Roc(values, data.shows)
        threshold = roc.youden_cut()
        cut = _cut_of_place(scores, data)
        touched = np.stack([_touched(frame, cut) for frame in scores])
        masks = [_without_rim(mask, overlap) for mask in touched]
        shown = data.shows & (values >= threshold)
        return cls(
            vocabulary,
            _ratios(words, weights, data.shows),
            overlap,
            cut,
            threshold,
            auroc=roc.auroc(data.labels) or HALF,
            rates=Rates.of(values, data.shows, threshold),
            area=float(np.mean(list(compress(masks, shown)))),
            is_everywhere=not _is_placed(scores, touched, data, rng),
        )

    def shows(self, grid: Grid) -> bool:
        """True if a frame shows the cue, by its patches."""
        [value] = _evidence(self._scores(grid)[None])
        return bool(value >= self.threshold)

    def mask(self, grid: Grid) -> Mask:
        """The patches that are the cue; the likest one where none is likely."""
        return _without_rim(_touched(self._scores(grid), self.cut), self.overlap)

    def likest(self, grid: Grid) -> Mask:
        """As large a share of the patches as the cue has on average, the likest ones."""
        scores = self._scores(grid)
        count = max(1, round(self.area * scores.size))
        mask = np.zeros(scores.size, bool)
        mask[np.argsort(-scores, axis=None, kind="stable")[:count]] = True
        return mask.reshape(scores.shape)

    def common_place(self, grids: Sequence[Grid]) -> Mask | None:
        """Where most of these frames have the cue; None where its place changes."""
        scores = np.stack(list(map(self._scores, grids)))
        masks = np.stack([_touched(frame, self.cut) for frame in scores])
        common = masks.mean(axis=0) >= HALF
        # of the patches that tell it, so many have to lie where most frames have some
        if masks[:, common].sum() < HALF * masks.sum():
            return None
        return _without_rim(common, self.overlap)

    def _scores(self, grid: Grid) -> Float[np.ndarray, "row col"]:
        words = self.vocabulary.read(grid)[None]
        [scores] = _scores(words, self.ratios, self.overlap)
        return np.asarray(scores)


def _weights_of_patches(words: Words, data: Training) -> Scores:
    """How much each patch counts: sides weigh the same within labels, and a run's regions all."""
    weights = np.repeat(data.weights(), words[0].size).reshape(words.shape)
    for row in np.flatnonzero(data.shows).tolist():
        inside = data.candidates(row, words.shape[1:]).reshape(words.shape[1:])
        weights[row] *= inside / inside.mean()
    return weights


def _ratios(words: Words, weights: Scores, shows: Bool[np.ndarray, " frame"]) -> Ratios:
    """The logarithm of the ratio of rates, of each kind at each place."""
    count = int(words.max()) + 1 if words.size else 1
    sides = [_counts(words[side], weights[side], count) for side in (shows, ~shows)]
    patches = words[0].size
    # sides of equal weight
    total = weights.sum() / patches / 2
    sides = [side * (total / max(side.sum() / patches, 1e-9)) for side in sides]
    means = [side.mean(axis=(0, 1)) for side in sides]
    # a kind that nothing was counted of says nothing
    usual = np.maximum((means[0] + means[1]) / (means[0] + means[1]).sum(), 1e-12)
    anywhere = (means[0] + PRIOR * usual) / (means[1] + PRIOR * usual)
    priors = anywhere / (1 + anywhere), 1 / (1 + anywhere)
    shown, others = (
        ndimage.gaussian_filter(side, (NEAR, NEAR, 0), mode="nearest")
        + 2 * PRIOR * usual * prior
        for side, prior in zip(sides, priors, strict=True)
    )
    return np.asarray(np.log(shown / others))


def _counts(words: Words, weights: Scores, count: int) -> Ratios:
    """How much of each kind stands at each place."""
    rows, cols = words.shape[1:]
    cells = np.arange(rows * cols).reshape(1, rows, cols) * count + words
    counted = np.bincount(cells.ravel(), weights.ravel(), rows * cols * count)
    return counted.reshape(rows, cols, count)


def _scores(words: Words, ratios: Ratios, overlap: int) -> Scores:
    """Of each patch, with those that share its pixels; a kind that is new says nothing."""
    rows, cols = np.indices(words.shape[1:])
    known = np.minimum(words, ratios.shape[-1] - 1)
    scores = np.where(known == words, ratios[rows, cols, known], 0.0)
    return np.asarray(ndimage.uniform_filter(scores, (0, overlap, overlap)))


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
    """The score above which patches overlap most with the cue's, as both sides tell it.

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
    """The occlusion check: covered there, the cue is lost, and covered elsewhere it is not.

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
    return there - HALF < HALF * (elsewhere - HALF)
