"""A cue's place by visual words: kinds of small patches that frames with it have more of.

Patches of all frames are whitened and sorted into kinds by k-means (Sivic and Zisserman, 2003;
Coates and Ng, 2011), a frame is how much of each kind it has, and a linear model tells frames with
the cue from others. As it only adds, each patch has its own share in what it says.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import ndimage

from cuescope_sdk.locating._linear import Fitting, Grid, Linear, Rows, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.maths import on_one_thread
from cuescope_sdk.statistics import Roc

WORDS = 200
KEPT = 24  # principal components of a patch
FLAT = 0.02  # of the largest variance is added to each: what hardly varies is noise
DRAWN = 20_000  # patches that the words are learned from
ELSEWHERE = 0.9  # of the patches of frames without the cue: so many are in no place
Words = Int[np.ndarray, "row col"]
Scores = Float[np.ndarray, "row col"]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Kinds of patches."""

    centre: Float[np.ndarray, " dim"]
    whitening: Float[np.ndarray, "dim kept"]
    words: Float[np.ndarray, "word kept"]

    @on_one_thread
    def read(self, grid: Grid) -> Words:
        """The word that each patch is."""
        # the patch's own length is the same for all words
        distances = self._distances(self._whitened(grid))
        return np.asarray(distances.argmin(axis=1).reshape(grid.shape[:2]))

    def nearness(self, grid: Grid) -> Float[np.ndarray, "patch word"]:
        """By how much each patch is nearer to a word than to the middling one; 0 where it is not.

        The triangle code of Coates and Ng (2011): a patch between words is a part of each.
        """
        patches = self._whitened(grid)
        distances = self._distances(patches)
        distances += (patches**2).sum(axis=1, keepdims=True)
        # rounding may take what lies on a word below zero
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        nearer = np.subtract(
            distances.mean(axis=1, keepdims=True), distances, out=distances
        )
        return np.asarray(np.maximum(nearer, 0, out=nearer))

    def _whitened(self, grid: Grid) -> Float[np.ndarray, "patch kept"]:
        patches = grid.reshape(-1, grid.shape[-1]) - self.centre
        return np.asarray(patches @ self.whitening)

    def _distances(
        self, patches: Float[np.ndarray, "patch kept"]
    ) -> Float[np.ndarray, "patch word"]:
        """Squared, less the patch's own length."""
        likeness = (2 * patches) @ self.words.T
        # in place: a second table of every patch and word costs as much as the product
        lengths = (self.words**2).sum(axis=1)
        return np.asarray(np.subtract(lengths, likeness, out=likeness))


@on_one_thread
def learn_vocabulary(
    grids: Sequence[Grid], rng: Generator, words: int = WORDS
) -> Vocabulary:
    """From a draw of the patches of all frames."""
    from sklearn.cluster import MiniBatchKMeans

    patches = _drawn(grids, rng).astype(np.float64)
    centre = patches.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(patches, rowvar=False))
    variances = variances[-KEPT:]
    whitening = axes[:, -KEPT:] / np.sqrt(variances + FLAT * variances[-1] + 1e-12)
    kinds = MiniBatchKMeans(
        min(words, len(patches)),
        n_init=1,
        batch_size=2048,
        max_iter=30,
        random_state=int(rng.integers(2**31)),
    )
    kinds.fit((patches - centre) @ whitening)
    # of pictures of a byte a channel: half of the time, and the same to six digits
    parts = (centre, whitening, kinds.cluster_centers_)
    return Vocabulary(*(part.astype(np.float32) for part in parts))


def _drawn(grids: Sequence[Grid], rng: Generator) -> Float[np.ndarray, "patch dim"]:
    """Some patches, each as likely; not all together, of which there may be a million."""
    ends = np.cumsum([math.prod(grid.shape[:2]) for grid in grids])
    count = min(int(ends[-1]), DRAWN)
    some = np.sort(rng.choice(ends[-1], count, replace=False))
    of_grids = np.split(some, np.searchsorted(some, ends[:-1]))
    starts = [0, *ends[:-1].tolist()]
    drawn = []
    for grid, rows, start in zip(grids, of_grids, starts, strict=True):
        drawn.append(grid.reshape(-1, grid.shape[-1])[rows - start])
    return np.concatenate(drawn)


@dataclass(frozen=True, eq=False)
class Halves:
    """Frames, each with a model of the half that it is not in.

    `least` is what most patches of that half's frames without the cue do not exceed. `company` are
    patches that tell nothing of the cue itself.
    """

    frames: Sequence[Words]
    data: Training
    models: Sequence[Linear]
    scores: Sequence[Scores]
    least: Sequence[float]
    company: Sequence[Mask]

    def places(self, share: float) -> list[Mask]:
        """Where the cue is in each frame, or would be."""
        least = np.array(self.least)[:, None, None]
        return list(place_in(np.stack(self.scores), least, share))

    def frames_with_cue(self) -> Bool[np.ndarray, " frame"]:
        """Which frames the models take for those with the cue: a list may hold others too."""
        values = self._values(bags(self.frames))
        return values >= Roc(values, self.data.shows).youden_cut()

    def told_without(self, masks: Sequence[Mask]) -> float:
        """How well frames tell the cue without these patches and its company, as an AUROC."""
        kept = [
            ~(mask | company) for mask, company in zip(masks, self.company, strict=True)
        ]
        values = self._values(bags(self.frames, kept, of_all=True))
        return Roc(values, self.data.shows).auroc(self.data.labels) or 0.5

    def _values(self, rows: Rows) -> Float[np.ndarray, " frame"]:
        pairs = zip(self.models, rows, strict=True)
        return np.array([float(model.scores(row)) for model, row in pairs])


@dataclass(frozen=True, eq=False)
class Learned:
    """The model of all frames, and those of halves, with the AUROC on groups held out."""

    model: Linear
    halves: Halves
    overlap: int

    @property
    def auroc(self) -> float:
        """Of the model of all frames."""
        return self.model.auroc or 0.5


def learn_words(
    frames: Sequence[Words],
    data: Training,
    rng: Generator,
    overlap: int,
    company: Sequence[Mask],
) -> Learned | None:
    """What each word says for the cue; None where a half has one side.

    Company is no example of the cue; in other frames it stands against it.
    """
    examples = _examples(frames, data, rng)
    for row in np.flatnonzero(data.shows).tolist():
        alone = examples[row] & ~company[row]
        # a frame of nothing else stays as it is
        examples[row] = alone if alone.any() else examples[row]
    rows = bags(frames, examples)
    model = Linear.learn(rows, data, rng, Fitting.NEAR_ONE_UNIT, judged=bags(frames))
    halves = _in_halves(frames, rows, data, rng, overlap, company)
    return None if halves is None else Learned(model, halves, overlap)


def _in_halves(
    frames: Sequence[Words],
    rows: Rows,
    data: Training,
    rng: Generator,
    overlap: int,
    company: Sequence[Mask],
) -> Halves | None:
    halves = data.folds(rng) % 2
    weights = data.weights()
    of_half = []
    for half in range(2):
        learned = halves != half
        if not data.has_both(learned):
            return None
        model = Linear.fit(
            rows[learned], data.shows[learned], weights[learned], Fitting.NEAR_ONE_UNIT
        )
        others = list(compress(frames, learned & ~data.shows))
        of_half.append((model, least_of(model, others, overlap)))
    models, least = zip(*(of_half[half] for half in halves.tolist()), strict=True)
    scores = [
        scores_of(model, words, overlap)
        for model, words in zip(models, frames, strict=True)
    ]
    return Halves(frames, data, models, scores, least, company)


def bags(
    frames: Sequence[Words],
    masks: Sequence[Mask] | None = None,
    *,
    of_all: bool = False,
) -> Rows:
    """How much of each word a frame has, as the root of its share; in masks, where there are some.

    With `of_all`, as a share of the whole frame.
    """
    rows = np.zeros((len(frames), WORDS))
    for row, words in enumerate(frames):
        counted = words.ravel() if masks is None else words[masks[row]]
        size = words.size if of_all else max(len(counted), 1)
        rows[row] = np.bincount(counted, minlength=WORDS) / size
    return np.sqrt(rows)


def scores_of(model: Linear, words: Words, overlap: int) -> Scores:
    """What each patch says for the cue, with those that share its pixels."""
    return np.asarray(
        ndimage.uniform_filter(model.weights[words], overlap, mode="nearest")
    )


def place_in(
    scores: Float[np.ndarray, "*frame row col"],
    least: float | Float[np.ndarray, "frame 1 1"],
    share: float,
) -> Bool[np.ndarray, "*frame row col"]:
    """The patches above both bounds, and what lies between them; the highest where none is."""
    highest = scores.max(axis=(-2, -1), keepdims=True)
    place = fill_gaps(scores > np.maximum(least, share * highest))
    is_any = place.any(axis=(-2, -1), keepdims=True)
    return np.where(is_any, place, scores >= highest)


def fill_gaps(
    masks: Bool[np.ndarray, "*frame row col"],
) -> Bool[np.ndarray, "*frame row col"]:
    """With what lies between patches, as what stands between two letters."""
    rows, cols = masks.shape[-2:]
    # padded: at its edge a grid has nothing beside it that could be closed
    padded = np.zeros((*masks.shape[:-2], rows + 4, cols + 4), bool)
    padded[..., 2:-2, 2:-2] = masks
    touching = TOUCHING.reshape(*(1 for _ in masks.shape[:-2]), *TOUCHING.shape)
    closed = ndimage.binary_closing(padded, touching)[..., 2:-2, 2:-2]
    return np.asarray(closed | masks)


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


def least_of(model: Linear, others: Sequence[Words], overlap: int) -> float:
    """What most patches of frames without the cue do not exceed."""
    scores = [scores_of(model, words, overlap).ravel() for words in others]
    return float(np.quantile(np.concatenate(scores), ELSEWHERE))


def _examples(
    frames: Sequence[Words],
    data: Training,
    rng: Generator,
) -> list[Mask]:
    """The patches that frames are compared by: those in the run's regions, where it has some.

    Other frames are looked at in the regions of frames with the cue, drawn for each.
    """
    masks = []
    shown = np.flatnonzero(data.shows)
    for row, words in enumerate(frames):
        like = row if data.shows[row] else int(rng.choice(shown))
        masks.append(data.candidates(like, words.shape).reshape(words.shape))
    return masks
