"""A cue's place by visual words: kinds of small patches that frames with it have more of.

Patches of all frames are whitened and sorted into kinds by k-means (Sivic and Zisserman, 2003;
Coates and Ng, 2011), a frame is how much of each kind it has, and a linear model tells frames with
the cue from others. As it only adds, each patch has its own share in what it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator
from scipy import ndimage

from cuescope_confirm.locating.linear import (
    NEAR_ONE_UNIT,
    Grid,
    Linear,
    Rows,
    Training,
    fit,
    learn,
)
from cuescope_confirm.locating.places import Mask
from cuescope_sdk.statistics import auroc

WORDS = 200
KEPT = 24  # principal components of a patch
FLAT = 0.02  # of the largest variance is added to each: what hardly varies is noise
DRAWN = 20_000  # patches that the words are learned from
TOUCHING = np.ones((3, 3))  # patches of one piece, corners too
PLACED = 0.3  # of what tells the cue must be in a place, else it is everywhere
PIECE = 0.85  # of a place is in its largest piece; less where what tells a cue lies scattered
SMALL = 1 / 3  # share of the patches: so many and more hang together anyway
ELSEWHERE = 0.9  # of the patches of frames without the cue: so many are in no place
# of a frame's highest score: smaller ones, larger places
SHARES = tuple(np.arange(6, 0, -1) / 10)
HELD = 0.9  # of all that any place holds of the cue; the smallest such place is taken
Words = Int[np.ndarray, "row col"]
Scores = Float[np.ndarray, "row col"]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Kinds of patches."""

    centre: Float[np.ndarray, " dim"]
    whitening: Float[np.ndarray, "dim kept"]
    words: Float[np.ndarray, "word kept"]

    def read(self, grid: Grid) -> Words:
        """The word that each patch is."""
        patches = (grid.reshape(-1, grid.shape[-1]) - self.centre) @ self.whitening
        # the nearest one; the patch's own length is the same for all words
        distances = (self.words**2).sum(axis=1) - 2 * patches @ self.words.T
        return np.asarray(distances.argmin(axis=1).reshape(grid.shape[:2]))


def learn_vocabulary(grids: Sequence[Grid], rng: Generator) -> Vocabulary:
    """From a draw of the patches of all frames."""
    from sklearn.cluster import MiniBatchKMeans

    patches = np.concatenate([grid.reshape(-1, grid.shape[-1]) for grid in grids])
    some = rng.choice(len(patches), min(len(patches), DRAWN), replace=False)
    patches = patches[some].astype(np.float64)
    centre = patches.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(patches, rowvar=False))
    variances = variances[-KEPT:]
    whitening = axes[:, -KEPT:] / np.sqrt(variances + FLAT * variances[-1] + 1e-12)
    kinds = MiniBatchKMeans(
        min(WORDS, len(patches)),
        n_init=1,
        batch_size=2048,
        max_iter=30,
        random_state=int(rng.integers(2**31)),
    )
    kinds.fit((patches - centre) @ whitening)
    return Vocabulary(centre, whitening, kinds.cluster_centers_)


@dataclass(frozen=True, eq=False)
class Region:
    """What tells a cue by its words, with what it is worth on others, and the mean area of places.

    A place is made of patches whose scores exceed `least`, and `share` of the highest in the frame.
    Where the cue `is_everywhere`, frames without their likest patches tell it as well.
    """

    vocabulary: Vocabulary
    model: Linear
    least: float
    share: float
    auroc: float
    area: float
    is_everywhere: bool
    overlap: int = 1

    def shows(self, grid: Grid) -> bool:
        """Whether a frame shows the cue, by its patches."""
        [score] = self.model.scores(bags([self.vocabulary.read(grid)]))
        return bool(score >= self.model.threshold)

    def mask(self, grid: Grid) -> Mask:
        """The patches that are the cue."""
        return place_in(self._scores(grid), self.least, self.share)

    def likest(self, grid: Grid) -> Mask:
        """As large a share of the patches as the cue has on average, the likest ones."""
        return likest_part(self._scores(grid), self.area)

    def _scores(self, grid: Grid) -> Scores:
        return scores_of(self.model, self.vocabulary.read(grid), self.overlap)


@dataclass(frozen=True, eq=False)
class Halves:
    """Frames, each with a model of the half that it is not in.

    `least` is what most patches of that half's frames without the cue do not exceed.
    """

    frames: Sequence[Words]
    data: Training
    models: Sequence[Linear]
    scores: Sequence[Scores]
    least: Sequence[float]

    def places(self, share: float) -> list[Mask]:
        """Where the cue is in each frame, or would be."""
        return [
            place_in(scores, least, share)
            for scores, least in zip(self.scores, self.least, strict=True)
        ]

    def told_without(self, masks: Sequence[Mask]) -> float:
        """How well frames tell the cue without these patches, as an AUROC."""
        rows = bags(self.frames, list(map(np.logical_not, masks)), of_all=True)
        values = [
            float(model.scores(row))
            for model, row in zip(self.models, rows, strict=True)
        ]
        return auroc(np.array(values), self.data.shows, self.data.labels) or 0.5


def learn_region(
    grids: Sequence[Grid],
    data: Training,
    rng: Generator,
    overlap: int = 1,
) -> Region | None:
    """The words that tell a cue, and the places that hold them; None where a half has one side.

    `overlap` is how many patches along a side share pixels: these are judged together.
    """
    vocabulary = learn_vocabulary(grids, rng)
    frames = list(map(vocabulary.read, grids))
    rows = bags(frames, _examples(frames, data, rng))
    model = learn(rows, data, rng, NEAR_ONE_UNIT, judged=bags(frames))
    halves = _in_halves(frames, rows, data, rng, overlap)
    if halves is None:
        return None
    share, area, is_everywhere = _place_of(halves, rng)
    return Region(
        vocabulary,
        model,
        least=_least(model, list(compress(frames, ~data.shows)), overlap),
        share=share,
        auroc=model.auroc or 0.5,
        area=area,
        is_everywhere=is_everywhere,
        overlap=overlap,
    )


def _in_halves(
    frames: Sequence[Words],
    rows: Rows,
    data: Training,
    rng: Generator,
    overlap: int,
) -> Halves | None:
    halves = data.folds(rng) % 2
    weights = data.weights()
    of_half = []
    for half in range(2):
        learned = halves != half
        if not data.has_both(learned):
            return None
        model = fit(rows[learned], data.shows[learned], weights[learned], NEAR_ONE_UNIT)
        others = list(compress(frames, learned & ~data.shows))
        of_half.append((model, _least(model, others, overlap)))
    models, least = zip(*(of_half[half] for half in halves.tolist()), strict=True)
    scores = [
        scores_of(model, words, overlap)
        for model, words in zip(models, frames, strict=True)
    ]
    return Halves(frames, data, models, scores, least)


def _place_of(halves: Halves, rng: Generator) -> tuple[float, float, bool]:
    """The share of a frame's highest score that bounds places, their area, and whether none does.

    Told by what frames still tell of the cue without the patches of their place. Others lose as
    many patches, or what is left would tell both sides by its size.
    """
    shows = halves.data.shows
    shown = np.flatnonzero(shows).tolist()
    others = np.flatnonzero(~shows).tolist()
    whole = halves.told_without(
        [np.zeros(words.shape, bool) for words in halves.frames]
    )
    held = []
    left = []
    areas = []
    largest = []
    for share in SHARES:
        masks = halves.places(share)
        places = list(compress(masks, shows))
        area = float(np.mean(list(map(np.mean, places))))
        areas.append(area)
        largest.append(float(np.mean(list(map(_largest_piece, places)))))
        # where some frame with the cue has its place: of what tells it, a place holds so much
        for row in others:
            masks[row] = masks[rng.choice(shown)]
        held.append(whole - max(halves.told_without(masks), 0.5))
        # where they are likest the cue: what is everywhere is still told
        for row in others:
            masks[row] = likest_part(halves.scores[row], area)
        left.append(halves.told_without(masks))
    best = int(np.argmax(np.array(held) >= HELD * max(held)))
    is_told = bool(whole - min(left) < PLACED * (whole - 0.5))
    # on plain surroundings it is told too; a small place of one piece is none by chance
    is_piece = largest[best] >= PIECE and areas[best] <= SMALL
    return SHARES[best], areas[best], is_told and not is_piece


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


def place_in(scores: Scores, least: float, share: float) -> Mask:
    """The patches above both bounds, and what lies between them; the highest where none is."""
    highest = scores.max()
    place = scores > max(least, share * highest)
    return fill_gaps(place) if place.any() else np.asarray(scores >= highest)


def _largest_piece(mask: Mask) -> float:
    """The share of its patches that hang together."""
    pieces, _ = ndimage.label(mask, TOUCHING)
    sizes = np.bincount(pieces.ravel())[1:]
    return float(sizes.max() / sizes.sum())


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


def _least(model: Linear, others: Sequence[Words], overlap: int) -> float:
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
