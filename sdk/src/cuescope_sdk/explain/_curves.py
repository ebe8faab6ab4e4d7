"""Accuracy and retrieval as an image's most important pixels go or come, step after step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from jaxtyping import Bool, Float, Int, Num, Shaped

from cuescope.auditing import Audit
from cuescope.errors import UserError
from cuescope.types import Sample, Trial
from cuescope_sdk.explain._canvas import single_frame
from cuescope_sdk.explain._perturbation import (
    Direction,
    FilledImage,
    Ranking,
    Schedule,
    perturb_image,
)
from cuescope_sdk.statistics import Groups, change_interval

Curves = Shaped[np.ndarray, "image step"]


def areas(curves: Curves) -> Float[np.ndarray, " image"]:
    """Each image's area under its curve, by trapezoid, with the first step at 0 and the last at 1.

    The axis is the share of the schedule, not of the image, although the paper's schedule ends
    at half of the pixels: tables 1 and 2 of CCI have areas above 0.5, which half a width cannot
    hold. A constant curve has its own value as its area.
    """
    values = np.asarray(
        curves, dtype=np.float64
    )  # booleans must not be added as booleans
    ends = (values[:, 0] + values[:, -1]) / 2
    return np.asarray((values.sum(axis=1) - ends) / (values.shape[1] - 1))


def auc(curves: Curves) -> float:
    """Area under the mean curve, which is the mean of the areas."""
    return float(areas(curves).mean())


@dataclass(frozen=True)
class Difference:
    """A mean difference with its interval; `sign` is 0 where the interval holds 0."""

    value: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1: above 0 for sure, -1: below, 0: undecided."""
        return int(self.low > 0) - int(
            self.high < 0
        )  # a bound at 0 itself decides nothing


def paired_difference(
    first: Curves, second: Curves, groups: Groups, *, confidence: float = 0.95
) -> Difference:
    """Area of `first` minus area of `second` on the same images; values lie within 0 and 1."""
    if first.shape != second.shape:
        raise ValueError(
            f"expected curves of the same images, got {first.shape}, {second.shape}"
        )
    change = areas(first) - areas(second)  # pairing takes out how hard each image is
    low, high = change_interval(change, groups, bound=None, confidence=confidence)
    return Difference(float(change.mean()), low or 0.0, high or 0.0)


# ------------------------------------------------------------------------------------------ curves


TRIALS_AT_ONCE = 4096  # frames are made as they are shown; outcomes stay in memory
NUMBERS_AT_ONCE = 2**24  # similarities held at a time: 64 MiB
Maps = Sequence[Num[np.ndarray, "map_row map_col"]]


def classification_curves(
    audit: Audit,
    samples: Sequence[Sample],
    maps: Maps,
    schedule: Schedule,
    direction: Direction,
    top: Sequence[int] = (1, 5),
) -> dict[int, Bool[np.ndarray, "image step"]]:
    """For each k, whether the label is among the top k choices: before any step, and after each.

    `samples` have one frame, on the model's canvas, and `maps` one importance map each, of any
    size. The model is asked through `audit.respond` alone, some images at a time. Raises
    UserError for a sample of several frames or without a label.
    """
    for sample in samples:
        if sample.label is None:
            raise _unfit(sample, "a label", "none")
    steps = schedule.steps + 1
    curves = {k: np.empty((len(samples), steps), dtype=bool) for k in top}
    at_once = max(
        1, TRIALS_AT_ONCE // steps
    )  # whole images: an image's steps share its pixels
    for start in range(0, len(samples), at_once):
        part = slice(start, start + at_once)
        paths = _paths(audit, samples[part], maps[part], schedule, direction)
        outcomes = audit.respond(
            path.trial(step) for path in paths for step in range(steps)
        )
        for k, curve in curves.items():
            answers = [outcome.correct(k) for outcome in outcomes]
            curve[part] = np.reshape(answers, (-1, steps))
    return curves


def retrieval_curves(
    audit: Audit,
    samples: Sequence[Sample],
    captions: Sequence[Sequence[str]],
    maps: Maps,
    schedule: Schedule,
    direction: Direction,
    at: Sequence[int] = (1, 5),
) -> dict[str, Float[np.ndarray, "image step"]]:
    """ "IR@k" and "TR@k" of each image with its captions: before any step, and after each.

    TR@k: whether one of the image's own captions is among the k captions most similar to it.
    IR@k: the share of its captions that have an image of theirs among the k most similar images,
    every image of the set being perturbed to the same step. A caption may belong to several
    images. The model is asked some steps at a time. Raises UserError for a sample of several
    frames or without a caption.
    """
    choices, owns = _captions_of(samples, captions)
    asked = [replace(sample, choices=choices, label=None) for sample in samples]
    paths = _paths(audit, asked, maps, schedule, direction)
    every_step = range(schedule.steps + 1)
    curves: dict[str, np.ndarray] = {}
    for task in ("IR", "TR"):
        for k in at:
            curves[f"{task}@{k}"] = np.empty((len(samples), len(every_step)))
    count = owns.sum(axis=1)
    most = min(
        TRIALS_AT_ONCE // max(1, len(paths)), NUMBERS_AT_ONCE // max(1, owns.size)
    )
    at_once = max(1, most)
    for start in every_step[::at_once]:
        steps = every_step[start : start + at_once]
        # by step, not by image: each step needs the similarities of all images
        outcomes = audit.respond(path.trial(step) for path in paths for step in steps)
        logits = np.array([outcome.response.logits for outcome in outcomes])
        similarity = logits.reshape(len(paths), len(steps), len(choices))
        for index, step in enumerate(steps):
            of_step = similarity[:, index]
            for k in at:
                recalled = is_recalled(of_step.T, owns.T, k).astype(np.float64)
                curves[f"IR@{k}"][:, step] = owns @ recalled / count
                curves[f"TR@{k}"][:, step] = is_recalled(of_step, owns, k)
    return curves


def is_recalled(
    similarity: Float[np.ndarray, "query item"],
    owns: Bool[np.ndarray, "query item"],
    k: int,
) -> Bool[np.ndarray, " query"]:
    """Whether one of a query's own items is among its k most similar; a tie with others is lost.

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
            raise _unfit(sample, "a caption", "none")
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
        suffix = f"{self.direction}-{step}-{frame.key[:8]}"  # two maps may be tried on one sample
        return Trial(sample=self.sample.with_frames((frame,), suffix))


def _paths(
    audit: Audit,
    samples: Sequence[Sample],
    maps: Maps,
    schedule: Schedule,
    direction: Direction,
) -> list[_Path]:
    paths = []
    # same noise for all maps: only the order differs
    seed = audit.derive_seed("faithfulness")
    fill = schedule.fill(direction)
    for sample, importance in zip(samples, maps, strict=True):
        frame = single_frame(sample)
        width, height = frame.load().size
        # by frame: its order is the same in any batch
        ties = audit.rng("faithfulness ties", frame.key)
        ranking = Ranking.of(importance, (height, width), ties)
        ground = FilledImage.of(frame, fill, seed)
        counts = schedule.counts(ranking.rank.size)
        paths.append(_Path(sample, ground, ranking, direction, counts))
    return paths


def _unfit(sample: Sample, expected: str, got: str) -> UserError:
    return UserError(f"faithfulness of {sample.key}", expected=expected, got=got)
