"""Accuracy and retrieval as an image's most important pixels go or come, step after step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product

import numpy as np
from jaxtyping import Bool, Float, Int, Num, Shaped

from cuescope_core.auditing import Audit
from cuescope_core.errors import UserError
from cuescope_core.types import Sample, Trial
from cuescope_sdk.explain._canvas import Canvas
from cuescope_sdk.explain._perturbation import (
    Direction,
    Fill,
    FilledImage,
    Ranking,
    perturb_image,
)
from cuescope_sdk.report import interval, signed
from cuescope_sdk.statistics import Groups, change_interval

# share of the pixels that has changed at the end (CCI, section 3.1)
WHOLE = 0.5
TRIALS_AT_ONCE = 4096  # frames are made as they are shown; outcomes stay in memory
NUMBERS_AT_ONCE = 2**24  # similarities held at a time: 64 MiB

TOP = (1, 5)  # ranks of CCI's table 1 and table 2

Curves = Shaped[np.ndarray, "image step"]
Maps = Sequence[Num[np.ndarray, "map_row map_col"]]


@dataclass(frozen=True)
class Difference:
    """A mean difference with its interval; `sign` is 0 where the interval holds 0."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        in_thousandths = partial(signed, decimals=3)
        ends = interval(self.low, self.high, in_thousandths)
        return in_thousandths(self.value) + ends

    @property
    def sign(self) -> int:
        """1: above 0 for sure, -1: below, 0: undecided."""
        # a bound at 0 itself decides nothing
        return int(self.low > 0) - int(self.high < 0)


@dataclass(frozen=True)
class Perturbation:
    """Pixels change by falling importance, the same share of the image at each of so many `steps`.

    As CCI (section 3.1: about 0.5% of pixels over 100 steps, about half of the image): deletion
    puts seeded random noise in their place, insertion reveals them on a black canvas.
    """

    direction: Direction = "deletion"
    steps: int = 100

    @property
    def both(self) -> tuple["Perturbation", "Perturbation"]:
        """Deletion, then insertion, both by this schedule."""
        return replace(self, direction="deletion"), replace(self, direction="insertion")

    @property
    def per_step(self) -> float:
        """Share of the image's pixels that change at a step."""
        return WHOLE / self.steps

    @property
    def changed(self) -> Float[np.ndarray, " step"]:
        """Share of the pixels that has changed after each step, from 0 before the first."""
        return np.linspace(0, WHOLE, self.steps + 1)

    def counts(self, pixels: int) -> Int[np.ndarray, " step"]:
        """How many of `pixels` have changed after each step, rounded to whole ones."""
        # of the sum: rounding each step would drift
        return np.asarray(np.rint(self.changed * pixels).astype(np.int64))

    @property
    def fill(self) -> Fill:
        """Pixels where the image does not show."""
        return "noise" if self.direction == "deletion" else "black"

    @property
    def words(self) -> tuple[str, str]:
        """Words for what happens to the pixels, and what a faithful map's curve does fast."""
        if self.direction == "deletion":
            return "deleted", "falls"
        return "inserted", "rises"

    def classification_curves(
        self,
        audit: Audit,
        samples: Sequence[Sample],
        maps: Maps,
        top: Sequence[int] = TOP,
    ) -> dict[int, Bool[np.ndarray, "image step"]]:
        """For each k, whether the label is among the top k: before any step, and after each.

        `samples` have one frame, on the model's canvas, and `maps` one importance map each, of any
        size. The model is asked through `audit.respond` alone, some images at a time. Raises
        UserError for a sample of several frames or without a label.
        """
        for sample in samples:
            if sample.label is None:
                raise _unfit(sample, "a label")
        steps = self.steps + 1
        curves = {k: np.empty((len(samples), steps), dtype=bool) for k in top}
        # whole images: an image's steps share its pixels
        at_once = max(1, TRIALS_AT_ONCE // steps)
        for start in range(0, len(samples), at_once):
            part = slice(start, start + at_once)
            paths = self._paths(audit, samples[part], maps[part])
            outcomes = audit.respond(
                path.trial(step) for path in paths for step in range(steps)
            )
            for k, curve in curves.items():
                answers = [outcome.correct(k) for outcome in outcomes]
                curve[part] = np.reshape(answers, (-1, steps))
        return curves

    def retrieval_curves(
        self,
        audit: Audit,
        samples: Sequence[Sample],
        captions: Sequence[Sequence[str]],
        maps: Maps,
    ) -> dict[str, Float[np.ndarray, "image step"]]:
        """ "IR@k" and "TR@k" of each image with its captions: before any step, and after each.

        TR@k: whether one of the image's own captions is among the k captions most similar to it.
        IR@k: the share of its captions that have an image of theirs among the k most similar
        images, every image of the set being perturbed to the same step. A caption may belong to
        several images. The model is asked some steps at a time. Raises UserError for a sample of
        several frames or without a caption.
        """
        choices, owns = _captions_of(samples, captions)
        asked = [replace(sample, choices=choices, label=None) for sample in samples]
        paths = self._paths(audit, asked, maps)
        every_step = range(self.steps + 1)
        curves: dict[str, np.ndarray] = {}
        for task, k in product(("IR", "TR"), TOP):
            curves[f"{task}@{k}"] = np.empty((len(samples), len(every_step)))
        count = owns.sum(axis=1)
        most = min(
            TRIALS_AT_ONCE // max(1, len(paths)), NUMBERS_AT_ONCE // max(1, owns.size)
        )
        at_once = max(1, most)
        for start in every_step[::at_once]:
            steps = every_step[start : start + at_once]
            # by step, not by image: each step needs the similarities of all images
            outcomes = audit.respond(
                path.trial(step) for path in paths for step in steps
            )
            logits = np.array([outcome.response.logits for outcome in outcomes])
            similarity = logits.reshape(len(paths), len(steps), len(choices))
            for index, step in enumerate(steps):
                of_step = similarity[:, index]
                for k in TOP:
                    recalled = is_recalled(of_step.T, owns.T, k).astype(np.float64)
                    curves[f"IR@{k}"][:, step] = owns @ recalled / count
                    curves[f"TR@{k}"][:, step] = is_recalled(of_step, owns, k)
        return curves

    def auc(self, curves: Curves) -> float:
        """Area under the mean curve, which is the mean of the `areas`."""
        return float(self.areas(curves).mean())

    def areas(self, curves: Curves) -> Float[np.ndarray, " image"]:
        """Each image's area under its curve, by trapezoid; the first step is at 0, the last at 1.

        The axis is the share of the schedule, not of the image, although the paper's schedule ends
        at half of the pixels: tables 1 and 2 of CCI have areas above 0.5, which half a width cannot
        hold. A constant curve has its own value as its area.
        """
        # booleans must not be added as booleans
        values = np.asarray(curves, dtype=np.float64)
        ends = (values[:, 0] + values[:, -1]) / 2
        return np.asarray((values.sum(axis=1) - ends) / self.steps)

    def gain(self, ours: Curves, theirs: Curves, groups: Groups) -> Difference:
        """By how much our area is better on the same images; values lie within 0 and 1.

        Lower is better in deletion, higher in insertion.
        """
        if ours.shape != theirs.shape:
            raise ValueError(
                f"expected curves of the same images, got {ours.shape}, {theirs.shape}"
            )
        if self.direction == "deletion":
            ours, theirs = theirs, ours
        # pairing takes out how hard each image is
        gains = self.areas(ours) - self.areas(theirs)
        low, high = change_interval(gains, groups, bound=None)
        return Difference(float(gains.mean()), low or 0.0, high or 0.0)

    def _paths(
        self,
        audit: Audit,
        samples: Sequence[Sample],
        maps: Maps,
    ) -> "list[_Path]":
        paths = []
        # same noise for all maps: only the order differs
        seed = audit.derive_seed("faithfulness")
        for sample, importance in zip(samples, maps, strict=True):
            frame = Canvas.frame(sample)
            width, height = frame.load().size
            # by frame: its order is the same in any batch
            ties = audit.rng("faithfulness ties", frame.key)
            ranking = Ranking.of(importance, (height, width), ties)
            ground = FilledImage.of(frame, self.fill, seed)
            counts = self.counts(ranking.rank.size)
            paths.append(_Path(sample, ground, ranking, self.direction, counts))
        return paths


def is_recalled(
    similarity: Float[np.ndarray, "query item"],
    owns: Bool[np.ndarray, "query item"],
    k: int,
) -> Bool[np.ndarray, " query"]:
    """True if one of a query's own items is among its k most similar; a tie with others is lost.

    So what shows nothing, and is as similar to everything, finds nothing.
    """
    best = np.where(owns, similarity, -np.inf).max(axis=1, keepdims=True)
    is_before = (similarity >= best) & ~owns
    return np.asarray(is_before.sum(axis=1) < k)


def _captions_of(
    samples: Sequence[Sample], captions: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], Bool[np.ndarray, "image caption"]]:
    """The distinct captions, and which image has which."""
    choices = tuple(dict.fromkeys(chain.from_iterable(captions)))
    owns = np.zeros((len(samples), len(choices)), dtype=bool)
    for row, sample, own in zip(owns, samples, captions, strict=True):
        if not own:
            raise _unfit(sample, "a caption")
        row[:] = [choice in set(own) for choice in choices]
    return choices, owns


@dataclass(frozen=True, eq=False)
class _Path:
    """An image on its way through the steps."""

    sample: Sample
    ground: FilledImage
    ranking: Ranking
    direction: Direction
    counts: Int[np.ndarray, " step"]

    def trial(self, step: int) -> Trial:
        """The image after `step` steps."""
        count = int(self.counts[step])
        frame = perturb_image(self.ground, self.ranking, self.direction, count)
        # two maps may be tried on one sample
        suffix = f"{self.direction}-{step}-{frame.key[:8]}"
        return Trial(sample=self.sample.with_frames((frame,), suffix))


def _unfit(sample: Sample, expected: str) -> UserError:
    return UserError(f"faithfulness of {sample.key}", expected=expected, got="none")
