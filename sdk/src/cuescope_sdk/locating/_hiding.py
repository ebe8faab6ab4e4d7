"""Where a cue is, by the model itself: hidden there, wrong answers become right.

A square is moved over each picture, and a band where that helps much more (Zeiler and Fergus,
2014); the place where hiding helps most is made smaller as long as it helps nearly as much (Fong
and Vedaldi, 2017). A place that was chosen by what it does always seems to do something, so it is
hidden in another way then, beside a place of its size that was not chosen. And any wrong answer may
be mended somewhere: of a cue the same is taken away in all pictures, so the embedding changes in
one direction, or it stands at one place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image
from scipy.ndimage import gaussian_filter

from cuescope.auditing import Audit
from cuescope.types import Outcome, Sample
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
SMALL = 40  # pixels along a side, in which a picture is blurred
SOFT = 4.0  # of these, the standard deviation
TRIALS = PICTURES * (PLACES * (PLACES + 2) + 4 * ROUNDS + 2)  # at most, for one cue

Pixels = UInt8[np.ndarray, "row col 3"]
Paint = Callable[[Pixels, Bool[np.ndarray, "row col"]], Pixels]
Gains = Float[np.ndarray, " trial"]


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


@dataclass(frozen=True)
class Mending:
    """Where what is hidden mends answers, by frame, and in how many of them it does.

    `auroc` says how well what is hidden there is told from what is hidden elsewhere, by how much
    likelier the right answer becomes.
    """

    masks: Mapping[FrameId, Mask]
    mended: int
    auroc: float

    @property
    def words(self) -> str:
        """What was seen."""
        return f"hidden there, {self.mended} of {len(self.masks)} wrong answers become right"


def mend_by_hiding(
    audit: Audit, answers: Answers, frames: Sequence[FrameId]
) -> Mending | None:
    """Where hiding a part of these frames makes wrong answers right; None where it seldom does.

    Of each sample the frame is taken whose still is answered worst. At most `TRIALS` questions.
    """
    search = _Search.of(audit, answers, frames)
    if len(search.answers) < FEWEST:
        return None
    boxes = search.smallest_boxes()
    places = [search.place(row, box) for row, box in enumerate(boxes)]
    rng = audit.rng("hiding", *(still.key for still in search.stills()))
    others = [box.elsewhere([], rng) for box in places]
    rows = [row for row, other in enumerate(others) if other is not None]
    if len(rows) < FEWEST:
        return None
    asked = [(row, places[row]) for row in rows]
    asked += [(row, other) for row, other in enumerate(others) if other is not None]
    hidden = search.hide(asked, "plain", _plain)
    is_there = np.arange(len(asked)) < len(rows)
    auroc = Roc(hidden.gains, is_there).auroc()
    mended = int(hidden.are_right[is_there].sum())
    least = Roc.least_beyond(CHANCE, len(rows), len(rows))
    if auroc is None or auroc < least or mended < MENDED * len(rows):
        return None
    masks = {search.frames[row]: boxes[row].mask for row in rows}
    there, elsewhere = hidden.shifts[is_there], hidden.shifts[~is_there]
    is_one_thing = shared_direction_p_value(there, elsewhere) <= SAME
    if not is_one_thing and shared_place([*masks.values()]) is None:
        return None
    return Mending(masks, mended, auroc)


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

    def stills(self) -> list[Sample]:
        """What is asked about."""
        return [answer.trial.sample for answer in self.answers]

    def smallest_boxes(self) -> list[Box]:
        """Of each still the smallest part that does nearly as much as the one that does most."""
        rows = list(range(len(self.answers)))
        best, first = self._best(rows, [_squares()] * len(rows))
        bands, of_bands = self._best(rows, [_bands()] * len(rows))
        # what is as long as a side fits into no square
        for row in np.flatnonzero(KEPT * of_bands > first).tolist():
            best[row], first[row] = bands[row], of_bands[row]
        for _ in range(ROUNDS):
            trims = [list(best[row].trims()) for row in rows]
            smaller, gains = self._best(rows, trims)
            kept = gains >= KEPT * first[rows]
            for row, trim in compress(zip(rows, smaller, strict=True), kept):
                best[row] = trim
            rows = list(compress(rows, kept))
            if not rows:
                break
        return best

    def _best(
        self, rows: Sequence[int], boxes: Sequence[Sequence[Box]]
    ) -> tuple[list[Box], Gains]:
        """Of each of these stills the box that does most, and what it does."""
        asked = [
            (row, self.place(row, box))
            for row, own in zip(rows, boxes, strict=True)
            for box in own
        ]
        gains = self.hide(asked, "blur", _soft).gains
        ends = np.cumsum(list(map(len, boxes)))
        of_stills = np.split(gains, ends[:-1])
        best = [
            own[int(of_still.argmax())]
            for own, of_still in zip(boxes, of_stills, strict=True)
        ]
        return best, np.array([of_still.max() for of_still in of_stills])

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


def _squares() -> list[Box]:
    """All over the frame."""
    starts = _starts(SQUARE)
    return [
        Box(top, left, top + SQUARE, left + SQUARE) for top in starts for left in starts
    ]


def _bands() -> list[Box]:
    """From side to side, across and down."""
    across = [Box(start, 0, start + BAND, GRID) for start in _starts(BAND)]
    down = [Box(0, start, GRID, start + BAND) for start in _starts(BAND)]
    return [*across, *down]


def _starts(width: int) -> list[int]:
    """Of parts that are so many cells wide, so that they cover the frame."""
    starts: list[int] = (
        np.linspace(0, GRID - width, PLACES).round().astype(int).tolist()
    )
    return starts


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
