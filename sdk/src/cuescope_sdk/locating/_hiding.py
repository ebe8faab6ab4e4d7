"""Where a cue is, by the model itself: hidden there, wrong answers become right.

A square is moved over each picture, and a band where that helps much more (Zeiler and Fergus,
2014); the place where hiding helps most is made smaller as long as it helps nearly as much (Fong
and Vedaldi, 2017). First one place is looked for that helps in most pictures, though some of them
may not show the cue: the others choose it for each. Else each picture has its own. A place that was
chosen by what it does there always seems to do something, so it is hidden in another way then,
beside a place of its size that was not chosen. And any wrong answer may be mended somewhere: of a
cue the same is taken away in all pictures, so the embedding changes in one direction, or it stands
at one place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image
from scipy.ndimage import gaussian_filter

from cuescope_core.auditing import Audit
from cuescope_core.types import Outcome
from cuescope_sdk.interventions import Place, change_frames, open_frame
from cuescope_sdk.locating._location import shared_place
from cuescope_sdk.locating._masks import Mask, stretch
from cuescope_sdk.maths import softmax
from cuescope_sdk.statistics import Roc
from cuescope_sdk.statistics._paired import shared_direction_p_value
from cuescope_sdk.stills import Answers, FrameId

GRID = 20  # cells along a side
SQUARE = 9  # cells: a fifth of the frame
BAND = 5  # cells: a quarter of the frame, from side to side
PLACES = 4  # of the square along each side, and of a band
SMALLEST = 3  # cells
ROUNDS = 4  # of making it smaller
KEPT = 0.8  # of what the first part does, or the larger one
PICTURES = 10
FEWEST = 5  # pictures: of fewer nothing is said
CHANCE = 0.005  # of the judged AUROC, where hiding does nothing
SAME = 0.05  # the p-value by which one thing is taken away
# of the pictures: what is all over them may be mended in half, by any part
MENDED = 0.75
SHARED = 0.5  # of them, where all have one place: some may not show the cue
SMALL = 40  # pixels along a side, in which a picture is blurred
SOFT = 4.0  # of these, the standard deviation
# at most, for one cue: parts, then twice what makes a place smaller and judges it
TRIALS = PICTURES * (PLACES * (PLACES + 2) + 2 * (4 * ROUNDS + 2))

Pixels = UInt8[np.ndarray, "row col 3"]
Paint = Callable[[Pixels, Bool[np.ndarray, "row col"]], Pixels]
Gains = Float[np.ndarray, " trial"]
PartGains = Float[np.ndarray, "still part"]


class Box(NamedTuple):
    """A part of the grid, in cells."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def mask(self) -> Mask:
        """Its cells."""
        mask = np.zeros((GRID, GRID), bool)
        mask[self.top : self.bottom, self.left : self.right] = True
        return mask

    def trims(self) -> Iterator["Box"]:
        """The same without a quarter of it, at each side that may be shorter."""
        down = max((self.bottom - self.top) // 4, 1)
        if self.bottom - self.top - down >= SMALLEST:
            yield self._replace(top=self.top + down)
            yield self._replace(bottom=self.bottom - down)
        across = max((self.right - self.left) // 4, 1)
        if self.right - self.left - across >= SMALLEST:
            yield self._replace(left=self.left + across)
            yield self._replace(right=self.right - across)


def _starts(width: int) -> list[int]:
    """Of parts that are so many cells wide, so that they cover the frame."""
    starts: list[int] = (
        np.linspace(0, GRID - width, PLACES).round().astype(int).tolist()
    )
    return starts


# squares all over the frame, then bands from side to side, across and down
PARTS = [
    *(
        Box(top, left, top + SQUARE, left + SQUARE)
        for top in _starts(SQUARE)
        for left in _starts(SQUARE)
    ),
    *(Box(start, 0, start + BAND, GRID) for start in _starts(BAND)),
    *(Box(0, start, GRID, start + BAND) for start in _starts(BAND)),
]
SQUARES = PLACES**2


@dataclass(frozen=True)
class Mending:
    """Where what is hidden mends answers, by frame; it was tried in so many, and in some it does.

    `auroc` says how well what is hidden there is told from what is hidden elsewhere, by how much
    likelier the right answer becomes.
    """

    masks: Mapping[FrameId, Mask]
    tried: int
    mended: int
    auroc: float

    @property
    def words(self) -> str:
        """What was seen."""
        return f"hidden there, {self.mended} of {self.tried} wrong answers become right"


def mend_by_hiding(
    audit: Audit, answers: Answers, frames: Sequence[FrameId]
) -> Mending | None:
    """Where hiding a part of these frames makes wrong answers right; None where it seldom does.

    Of each sample the frame is taken whose still is answered worst. At most `TRIALS` questions.
    """
    search = _Search.of(audit, answers, frames)
    if len(search.answers) < FEWEST:
        return None
    gains = search.gains_of_parts()
    return search.at_one_place(gains) or search.at_places_of_their_own(gains)


@dataclass(frozen=True, eq=False)
class _Hidden:
    """Answers to stills before a part of each was hidden, and after."""

    before: Sequence[Outcome]
    after: Sequence[Outcome]

    @property
    def gains(self) -> Gains:
        """How much likelier the right answer becomes."""
        return np.array(_chances(self.after)) - _chances(self.before)

    @property
    def are_right(self) -> Bool[np.ndarray, " trial"]:
        """Whether it is given."""
        return np.array([outcome.correct() for outcome in self.after])

    @property
    def shifts(self) -> Float[np.ndarray, "trial dim"]:
        """How the embedding changes."""
        before, after = map(Answers.stack_embeddings, (self.before, self.after))
        return np.asarray(after.astype(np.float64) - before)


@dataclass(frozen=True, eq=False)
class _Judged:
    """Some `rows` of stills, of which a place is hidden, and one of its size elsewhere."""

    rows: Sequence[int]
    there: _Hidden
    elsewhere: _Hidden

    @property
    def mended(self) -> int:
        """How many of them are answered rightly then."""
        return int(self.there.are_right.sum())

    @property
    def auroc(self) -> float:
        """How well what is hidden there is told from what is hidden elsewhere."""
        gains = np.concatenate([self.there.gains, self.elsewhere.gains])
        is_there = np.arange(len(gains)) < len(self.rows)
        return Roc(gains, is_there).auroc() or 0.5

    @property
    def is_one_thing(self) -> bool:
        """Whether what is hidden there changes the embedding in one direction."""
        shifts = self.there.shifts, self.elsewhere.shifts
        return shared_direction_p_value(*shifts) <= SAME

    def mends(self, share: float) -> bool:
        """Whether so many become right, and chance seldom tells as much."""
        least = Roc.least_beyond(CHANCE, len(self.rows), len(self.rows))
        return self.mended >= share * len(self.rows) and self.auroc >= least

    def mending(self, masks: Mapping[FrameId, Mask]) -> Mending:
        """What was seen, where these are the places."""
        return Mending(masks, len(self.rows), self.mended, self.auroc)


@dataclass(frozen=True, eq=False)
class _Search:
    """Stills that are answered wrongly, and the answers to them."""

    audit: Audit
    frames: Sequence[FrameId]
    answers: Sequence[Outcome]

    @classmethod
    def of(cls, audit: Audit, answers: Answers, frames: Sequence[FrameId]) -> "_Search":
        """Of each sample the still that is answered worst, where that is wrong."""
        stills = [answers.stills[answers.row[at]] for at in frames]
        judged = [
            row
            for row, still in enumerate(stills)
            if still.trial.sample.label in still.trial.sample.choices
            and not still.correct()
        ]
        chances = dict(
            zip(judged, _chances([stills[row] for row in judged]), strict=True)
        )
        worst: dict[str, int] = {}
        for row in sorted(judged, key=chances.__getitem__):
            worst.setdefault(frames[row][0], row)
        rows = sorted(worst.values())[:PICTURES]
        return cls(audit, [frames[row] for row in rows], [stills[row] for row in rows])

    def gains_of_parts(self) -> PartGains:
        """What hiding each of the parts does."""
        rows = range(len(self.answers))
        asked = [(row, self.place(row, part)) for row in rows for part in PARTS]
        return self.hide(asked, "blur", _soft).gains.reshape(len(rows), -1)

    def at_one_place(self, gains: PartGains) -> Mending | None:
        """One place that mends most stills: for each it is chosen by the others."""
        rows = range(len(gains))
        of_others = [np.delete(gains, row, axis=0).mean(axis=0) for row in rows]
        judged = self.judge([PARTS[_best_part(means)] for means in of_others])
        if judged is None or not judged.mends(SHARED):
            return None
        [box] = self.smallest_boxes([rows], gains)
        return judged.mending(dict.fromkeys(self.frames, box.mask))

    def at_places_of_their_own(self, gains: PartGains) -> Mending | None:
        """A place in each still, where the same thing seems to be hidden in all."""
        boxes = self.smallest_boxes([[row] for row in range(len(gains))], gains)
        judged = self.judge(boxes)
        if judged is None or not judged.mends(MENDED):
            return None
        masks = {self.frames[row]: boxes[row].mask for row in judged.rows}
        if not judged.is_one_thing and shared_place([*masks.values()]) is None:
            return None
        return judged.mending(masks)

    def judge(self, boxes: Sequence[Box]) -> _Judged | None:
        """A box in each still, and elsewhere; None where too few have room for that."""
        places = [self.place(row, box) for row, box in enumerate(boxes)]
        stills = [answer.trial.sample for answer in self.answers]
        rng = self.audit.rng("hiding", *(still.key for still in stills))
        there, elsewhere = [], []
        for row, place in enumerate(places):
            other = place.elsewhere([], rng)
            if other is not None:
                there.append((row, place))
                elsewhere.append((row, other))
        if len(there) < FEWEST:
            return None
        rows = [row for row, _ in there]
        hidden = (self.hide(asked, "plain", _plain) for asked in (there, elsewhere))
        return _Judged(rows, *hidden)

    def smallest_boxes(
        self, together: Sequence[Sequence[int]], gains: PartGains
    ) -> list[Box]:
        """The smallest box that does nearly as much as the part that does most.

        One for each of some rows of stills, on average over these.
        """
        means = [gains[list(rows)].mean(axis=0) for rows in together]
        parts = list(map(_best_part, means))
        best = [PARTS[part] for part in parts]
        first = np.array([own[part] for own, part in zip(means, parts, strict=True)])
        numbers = list(range(len(together)))
        for _ in range(ROUNDS):
            trims = [list(best[number].trims()) for number in numbers]
            smaller, left = self._best([together[number] for number in numbers], trims)
            kept = left >= KEPT * first[numbers]
            for number, trim in compress(zip(numbers, smaller, strict=True), kept):
                best[number] = trim
            numbers = list(compress(numbers, kept))
            if not numbers:
                break
        return best

    def _best(
        self, together: Sequence[Sequence[int]], boxes: Sequence[Sequence[Box]]
    ) -> tuple[list[Box], Gains]:
        """For each of these rows of stills the box that does most, and what it does."""
        asked = [
            (row, self.place(row, box))
            for rows, own in zip(together, boxes, strict=True)
            for box in own
            for row in rows
        ]
        gains = iter(self.hide(asked, "blur", _soft).gains)
        best, most = [], []
        for rows, own in zip(together, boxes, strict=True):
            of_boxes = [np.mean(list(islice(gains, len(rows)))) for _ in own]
            best.append(own[int(np.argmax(of_boxes))])
            most.append(max(of_boxes))
        return best, np.array(most)

    def place(self, row: int, box: Box) -> Place:
        """A box in the pixels of a still, whose frames are one."""
        frames = self.answers[row].trial.sample.frames
        width, height = open_frame(frames[0]).size
        return Place((stretch(box.mask, (height, width)),) * len(frames))

    def hide(
        self, asked: Sequence[tuple[int, Place]], name: str, paint: Paint
    ) -> _Hidden:
        """What hiding each of these places does."""
        trials = []
        for row, place in asked:
            still = self.answers[row].trial.sample
            trial = change_frames(still, place, f"hide-{name}", lambda _: paint)
            trials.append(replace(trial, condition="hidden", outputs=Answers.outputs))
        before = [self.answers[row] for row, _ in asked]
        return _Hidden(before, self.audit.respond(trials))


def _best_part(gains: Float[np.ndarray, " part"]) -> int:
    """The number of the square that does most, or of a band that does much more."""
    square = int(gains[:SQUARES].argmax())
    band = SQUARES + int(gains[SQUARES:].argmax())
    # what is as long as a side fits into no square
    return band if KEPT * gains[band] > gains[square] else square


def _chances(outcomes: Sequence[Outcome]) -> list[float]:
    """How probable the right answer to each is."""
    chances = []
    for outcome in outcomes:
        sample = outcome.trial.sample
        [shares] = softmax(outcome.logits[None])
        chances.append(float(shares[sample.choices.index(str(sample.label))]))
    return chances


def _soft(pixels: Pixels, mask: Bool[np.ndarray, "row col"]) -> Pixels:
    """Out of focus."""
    image = Image.fromarray(pixels)
    # a tenth of a large picture would take seconds to blur
    small = np.asarray(image.resize((SMALL, SMALL), Image.Resampling.BOX), np.float32)
    soft = gaussian_filter(small, (SOFT, SOFT, 0)).round().astype(np.uint8)
    spread = Image.fromarray(soft).resize(image.size, Image.Resampling.BICUBIC)
    return np.asarray(spread)


def _plain(pixels: Pixels, mask: Bool[np.ndarray, "row col"]) -> Pixels:
    """The colour that the rest of the frame has on average."""
    colour = pixels[~mask].mean(axis=0).round().astype(np.uint8)
    return np.broadcast_to(colour, pixels.shape)
