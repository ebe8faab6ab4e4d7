"""A cue's place by visual words: kinds of small patches that frames with it have more of.

Patches of all frames are whitened and sorted into kinds by k-means (Sivic and Zisserman, 2003;
Coates and Ng, 2011), a frame is how much of each kind it has, and a linear model tells frames with
the cue from others. As it only adds, each patch has its own share in what it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator
from scipy import ndimage

from cuescope_sdk.locating._linear import Fitting, Grid, Linear, Rates, Rows, Training
from cuescope_sdk.locating._masks import Mask
from cuescope_sdk.locating._patch_models import Halves, Learned, Scores, least_of
from cuescope_sdk.locating._whitening import Whitening, drawn_patches
from cuescope_sdk.maths import on_one_thread

WORDS = 200
KEPT = 24  # principal components of a patch
FLAT = 0.02  # of the largest variance
Words = Int[np.ndarray, "row col"]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Kinds of patches."""

    whitening: Whitening
    words: Float[np.ndarray, "word kept"]

    @on_one_thread
    def read(self, grid: Grid) -> Words:
        """The word that each patch is."""
        # the patch's own length is the same for all words
        distances = self._distances(self.whitening.of(grid))
        return np.asarray(distances.argmin(axis=1).reshape(grid.shape[:2]))

    def nearness(self, grid: Grid) -> Float[np.ndarray, "patch word"]:
        """By how much each patch is nearer to a word than to the middling one; 0 where it is not.

        The triangle code of Coates and Ng (2011): a patch between words is a part of each.
        """
        patches = self.whitening.of(grid)
        distances = self._distances(patches)
        distances += (patches**2).sum(axis=1, keepdims=True)
        # rounding may take what lies on a word below zero
        np.sqrt(np.maximum(distances, 0, out=distances), out=distances)
        nearer = np.subtract(
            distances.mean(axis=1, keepdims=True), distances, out=distances
        )
        return np.asarray(np.maximum(nearer, 0, out=nearer))

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

    patches = drawn_patches(grids, rng)
    whitening = Whitening.learn(patches, KEPT, FLAT)
    kinds = MiniBatchKMeans(
        min(words, len(patches)),
        n_init=1,
        batch_size=2048,
        max_iter=30,
        random_state=int(rng.integers(2**31)),
    )
    kinds.fit(whitening.of(patches))
    return Vocabulary(whitening.halved(), kinds.cluster_centers_.astype(np.float32))


@dataclass(frozen=True, eq=False)
class WordReading:
    """The words of a frame's patches, and a model of how much of each a frame has.

    `overlap` is how many patches along a side share pixels: these are judged together.
    """

    words: Words
    model: Linear
    overlap: int

    @cached_property
    def scores(self) -> Scores:
        """What each patch says for the cue, with those that share its pixels."""
        return np.asarray(
            ndimage.uniform_filter(
                self.model.weights[self.words], self.overlap, mode="nearest"
            )
        )

    def value(self, kept: Mask | None = None) -> float:
        """By the share of the frame that each word has."""
        masks = None if kept is None else [kept]
        [row] = bags([self.words], masks, of_all=True)
        return float(self.model.scores(row))


@dataclass(frozen=True, eq=False)
class WordModel:
    """A linear model of how much of each word a frame has."""

    vocabulary: Vocabulary
    model: Linear
    overlap: int

    @property
    def threshold(self) -> float:
        """Of frames that were held out."""
        return self.model.threshold

    @property
    def rates(self) -> Rates:
        """Of frames that were held out."""
        return self.model.rates

    def read(self, grid: Grid) -> WordReading:
        """A frame by its words."""
        return WordReading(self.vocabulary.read(grid), self.model, self.overlap)


def learn_words(
    vocabulary: Vocabulary,
    frames: Sequence[Words],
    data: Training,
    rng: Generator,
    overlap: int,
    company: Sequence[Mask] | None = None,
) -> Learned | None:
    """What each word says for the cue; None where a half has one side.

    Company is no example of the cue; in other frames it stands against it.
    """
    company = company or [np.zeros(words.shape, bool) for words in frames]
    examples = _examples(frames, data, rng)
    for row in np.flatnonzero(data.shows).tolist():
        alone = examples[row] & ~company[row]
        # a frame of nothing else stays as it is
        examples[row] = alone if alone.any() else examples[row]
    rows = bags(frames, examples)
    model = Linear.learn(rows, data, rng, Fitting.NEAR_ONE_UNIT, judged=bags(frames))
    halves = _in_halves(frames, rows, data, rng, overlap, company)
    if halves is None:
        return None
    others = compress(frames, ~data.shows)
    least = least_of([WordReading(words, model, overlap) for words in others])
    by_words = WordModel(vocabulary, model, overlap)
    return Learned(by_words, model.auroc or 0.5, least, halves)


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
        others = compress(frames, learned & ~data.shows)
        read = [WordReading(words, model, overlap) for words in others]
        of_half.append((model, least_of(read)))
    models, least = zip(*(of_half[half] for half in halves.tolist()), strict=True)
    readings = [
        WordReading(words, model, overlap)
        for words, model in zip(frames, models, strict=True)
    ]
    return Halves(readings, data, least, company)


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
