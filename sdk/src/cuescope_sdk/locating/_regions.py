"""Where a cue is in a frame, and how large its places are: told by its patches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.random import Generator
from scipy import ndimage

from cuescope_sdk.locating._company import company_of
from cuescope_sdk.locating._linear import Grid, Rates, Training
from cuescope_sdk.locating._masks import TOUCHING, Mask
from cuescope_sdk.locating._parts import learn_parts
from cuescope_sdk.locating._patch_models import (
    Halves,
    Learned,
    PatchModel,
    Scores,
    likest_part,
    place_in,
)
from cuescope_sdk.locating._visual_words import learn_vocabulary, learn_words

SURE = 0.9  # of AUROC: what words tell so well,
NARROW = 0.1  # at a place of so much of the frame, is not looked for otherwise
MORE = 0.05  # of it: parts that tell frames so much better than words need no smaller place
APART = 0.02  # of it, by which frames may be told worse without company
PLACED = 0.3  # of what tells the cue must be in a place, else it is everywhere
PLACED_OF_LIKEST = 0.45  # the same where its likest patches alone tell a frame
PIECE = 0.85  # of a place is in its largest piece; less where what tells a cue lies scattered
STANDS = 0.25  # of the patches of moving things: so many stand in one place by chance
LARGE = 0.2  # of the frame: so much is no place where words tell frames without it
HALF = 0.5  # of the frames: most of them
NEARLY = 0.85  # of what words tell of frames: parts that stand in one place tell them as well
MAIN = 0.5  # of what the clearest piece says: less is not drawn
SMALL = 1 / 3  # share of the patches: so many and more hang together anyway
# of a frame's highest score: smaller ones, larger places
SHARES = tuple(np.arange(6, 0, -1) / 10)
HELD = 0.9  # of all that any place holds of the cue; the smallest such place is taken


@dataclass(frozen=True, eq=False)
class Region:
    """What tells a cue by its patches, what it is worth on others, and the mean area of places.

    A place is made of patches whose scores exceed `least`, and `share` of the highest in the frame.
    Where the cue `is_everywhere`, frames without their likest patches tell it as well. A frame is
    told by all of its patches, or by those `of_likest` kind alone.
    """

    model: PatchModel
    least: float
    share: float
    auroc: float
    area: float
    is_everywhere: bool
    of_likest: bool = False

    @classmethod
    def learn(
        cls,
        grids: Sequence[Grid],
        data: Training,
        rng: Generator,
        overlap: int = 1,
    ) -> "Region | None":
        """By visual words, or by parts where these tell frames better, as they do a small thing.

        Of parts that tell them as well a place has to be smaller. Where words have no place, and
        parts tell frames nearly as well, their place has to be one.

        `overlap` is how many patches along a side share pixels: these are judged together. None
        where a half of the frames has one side.
        """
        [of_parts] = rng.spawn(1)
        by_words = _by_words(grids, data, rng, overlap)
        if by_words is None or by_words.is_clear():
            return by_words
        learned = learn_parts(grids, data, of_parts, overlap)
        if learned is None:
            return by_words
        least = by_words.auroc
        if by_words.is_everywhere:
            least = 0.5 + NEARLY * (least - 0.5)
        if learned.auroc < least:
            return by_words
        by_parts = _region_of(learned, of_parts)
        stands = by_parts.stands_in(list(compress(grids, data.shows)))
        if stands:
            # of a thing with many parts any that is left tells it as well
            by_parts = replace(by_parts, is_everywhere=False)
        return by_parts if by_parts.tells_better(by_words, stands) else by_words

    def tells_better(self, other: "Region", stands: bool) -> bool:
        """Whether a place by parts, which `stands` where it is, is better than what words tell."""
        if self.auroc >= other.auroc + MORE:
            return True
        # what is all over the picture has its likest patches anywhere
        if self.auroc < other.auroc and not stands:
            return False
        return self.is_narrower(other)

    def is_clear(self) -> bool:
        """Whether it tells frames well, and by a small place."""
        has_place = not self.is_everywhere and self.area <= NARROW
        return has_place and self.auroc >= SURE

    def is_narrower(self, other: "Region") -> bool:
        """Whether it has a place, and the other one none, or one of twice the size."""
        if self.is_everywhere:
            return False
        return other.is_everywhere or self.area < other.area / 2

    def common_place(self, shown: Sequence[Grid]) -> Mask | None:
        """Where most of these frames have the cue's patches; None where that changes."""
        places = np.array(list(map(self.mask, shown)))
        common = places.mean(axis=0) >= HALF
        stays = float(places[:, common].sum() / places.sum()) >= STANDS
        return common if stays else None

    def stands_in(self, shown: Sequence[Grid]) -> bool:
        """Whether it has one small place in these frames."""
        common = self.common_place(shown)
        return common is not None and bool(common.mean() <= LARGE)

    @property
    def rates(self) -> Rates:
        """How often it takes frames that it has not learned from for the cue's."""
        return self.model.rates

    def shows(self, grid: Grid) -> bool:
        """Whether a frame shows the cue, by its patches."""
        return self.model.read(grid).value() >= self.model.threshold

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
        return self.model.read(grid).scores


def _by_words(
    grids: Sequence[Grid], data: Training, rng: Generator, overlap: int
) -> Region | None:
    """What stands with a cue is left out of its place."""
    vocabulary = learn_vocabulary(grids, rng)
    frames = list(map(vocabulary.read, grids))
    learned = learn_words(vocabulary, frames, data, rng, overlap)
    if learned is None:
        return None
    region = _region_of(learned, rng)
    company = company_of(frames, learned.halves)
    if company is None:
        return region
    alone = learn_words(vocabulary, frames, data, rng, overlap, company)
    if alone is None or alone.auroc < learned.auroc - APART:
        return region
    smaller = _region_of(alone, rng)
    # company is a part of a place: what leaves no place behind was the cue
    return region if smaller.is_everywhere and not region.is_everywhere else smaller


def _region_of(learned: Learned, rng: Generator) -> Region:
    share, area, is_everywhere = _place_of(learned.halves, rng)
    return Region(
        learned.model,
        least=learned.least,
        share=share,
        auroc=learned.auroc,
        area=area,
        is_everywhere=is_everywhere,
        of_likest=learned.halves.of_likest,
    )


def _place_of(halves: Halves, rng: Generator) -> tuple[float, float, bool]:
    """The share of a frame's highest score that bounds places, their area, and whether none does.

    Told by what frames still tell of the cue without the patches of their place. Others lose as
    many patches, or what is left would tell both sides by its size.
    """
    shows = halves.data.shows
    shown = np.flatnonzero(shows).tolist()
    others = np.flatnonzero(~shows).tolist()
    scores = halves.scores
    whole = halves.told_without([np.zeros(of.shape, bool) for of in scores])
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
        for row in others if not halves.of_likest else ():
            masks[row] = likest_part(scores[row], area)
        left.append(halves.told_without(masks))
    best = int(np.argmax(np.array(held) >= HELD * max(held)))
    placed = PLACED_OF_LIKEST if halves.of_likest else PLACED
    is_told = bool(whole - min(left) < placed * (whole - 0.5))
    # on plain surroundings it is told too; a small place of one piece is none by chance
    is_piece = largest[best] >= PIECE and areas[best] <= SMALL
    return SHARES[best], areas[best], is_told and not is_piece


def _largest_piece(mask: Mask) -> float:
    """The share of its patches that hang together."""
    pieces, _ = ndimage.label(mask, TOUCHING)
    sizes = np.bincount(pieces.ravel())[1:]
    return float(sizes.max() / sizes.sum())
