"""Where a cue is in a frame, and how large its places are: told by visual words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.random import Generator
from scipy import ndimage

from cuescope_sdk.locating._company import without_company
from cuescope_sdk.locating._linear import Grid, Linear, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.locating._visual_words import (
    Halves,
    Learned,
    Scores,
    Vocabulary,
    bags,
    learn_vocabulary,
    learn_words,
    least_of,
    likest_part,
    place_in,
    scores_of,
)

PLACED = 0.3  # of what tells the cue must be in a place, else it is everywhere
PIECE = 0.85  # of a place is in its largest piece; less where what tells a cue lies scattered
MAIN = 0.5  # of what the clearest piece says: less is not drawn
SMALL = 1 / 3  # share of the patches: so many and more hang together anyway
# of a frame's highest score: smaller ones, larger places
SHARES = tuple(np.arange(6, 0, -1) / 10)
HELD = 0.9  # of all that any place holds of the cue; the smallest such place is taken


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

    @classmethod
    def learn(
        cls,
        grids: Sequence[Grid],
        data: Training,
        rng: Generator,
        overlap: int = 1,
    ) -> "Region | None":
        """The words that tell a cue, and the places that hold them; None where a half has one side.

        `overlap` is how many patches along a side share pixels: these are judged together.
        """
        vocabulary = learn_vocabulary(grids, rng)
        frames = list(map(vocabulary.read, grids))
        nothing = [np.zeros(words.shape, bool) for words in frames]
        learned = learn_words(frames, data, rng, overlap, nothing)
        if learned is None:
            return None
        region = _region_of(vocabulary, learned, rng)
        alone = without_company(learned, rng)
        if alone is None:
            return region
        smaller = _region_of(vocabulary, alone, rng)
        # company is a part of a place: what leaves no place behind was the cue
        return region if smaller.is_everywhere and not region.is_everywhere else smaller

    def shows(self, grid: Grid) -> bool:
        """Whether a frame shows the cue, by its patches."""
        [score] = self.model.scores(bags([self.vocabulary.read(grid)]))
        return bool(score >= self.model.threshold)

    def mask(self, grid: Grid) -> Mask:
        """The patches that are the cue."""
        return self._mask_of(self._scores(grid))

    def outline(self, grid: Grid) -> Mask:
        """Of the cue's patches the pieces that say most: a stray one is no thing."""
        scores = self._scores(grid)
        pieces, count = ndimage.label(self._mask_of(scores), TOUCHING)
        numbers = np.arange(1, count + 1)
        said = ndimage.sum_labels(scores, pieces, numbers)
        # what says least against the cue, where nothing speaks for it
        most = said.max()
        kept = numbers[said >= min(MAIN * most, most)]
        return np.asarray(np.isin(pieces, kept))

    def likest(self, grid: Grid) -> Mask:
        """As large a share of the patches as the cue has on average, the likest ones."""
        return likest_part(self._scores(grid), self.area)

    def _mask_of(self, scores: Scores) -> Mask:
        return place_in(scores, self.least, self.share)

    def _scores(self, grid: Grid) -> Scores:
        return scores_of(self.model, self.vocabulary.read(grid), self.overlap)


def _region_of(vocabulary: Vocabulary, learned: Learned, rng: Generator) -> Region:
    halves = learned.halves
    share, area, is_everywhere = _place_of(halves, rng)
    others = list(compress(halves.frames, ~halves.data.shows))
    return Region(
        vocabulary,
        learned.model,
        least=least_of(learned.model, others, learned.overlap),
        share=share,
        auroc=learned.auroc,
        area=area,
        is_everywhere=is_everywhere,
        overlap=learned.overlap,
    )


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


def _largest_piece(mask: Mask) -> float:
    """The share of its patches that hang together."""
    pieces, _ = ndimage.label(mask, TOUCHING)
    sizes = np.bincount(pieces.ravel())[1:]
    return float(sizes.max() / sizes.sum())
