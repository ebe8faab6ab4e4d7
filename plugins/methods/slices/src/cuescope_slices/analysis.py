"""What slices cost labels, which of them are found, and what could have been missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_sdk.locating import Sides
from cuescope_sdk.statistics import (
    Answered,
    GapPlan,
    Groups,
    LabelNoise,
    benjamini_hochberg,
    gap_intervals,
    gap_p_values,
)
from cuescope_slices.scores import TINY, Slice
from cuescope_slices.trials import Ranked

# of a label's sequences in a slice, for which the limit of detection is told
SHARE = 0.25

Mask = Bool[np.ndarray, " sequence"]


@dataclass
class Pair:
    """A slice and a label, and what the slice costs the label; None where it cannot be compared.

    `lost` is the accuracy `outside` the slice less that `inside`. The p-value is two-sided, as the
    interval has two ends. Of what passed, `suspects` counts the sequences that may be mislabelled
    and `retest` is the p-value without them; `is_label_noise` says that they may explain it.
    """

    number: int
    label: int
    value: float
    n: int = 0
    inside: float = 0.0
    outside: float = 0.0
    lost: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    q_value: float | None = None
    suspects: int = 0
    retest: float | None = None
    is_label_noise: bool = False


def inside(ranked: Ranked, part: Slice) -> Mask:
    """Which sequences are in a slice: with any frame, as TRoVe counts it."""
    is_inside = np.zeros(len(ranked.keys), dtype=bool)
    is_inside[ranked.sequence[part.points[part.core]]] = True
    return is_inside


def sides(ranked: Ranked, part: Slice) -> Sides | None:
    """Of a ranking of everything about one label: errors on its side, right answers on the other.

    Its first points alone would be what the ranking happens to like, other labels among them.
    None for a slice that lists its own points.
    """
    if len(part.points) < len(ranked.points) or len(part.value) != 1:
        return None
    [code] = part.value
    mine = ranked.points.label[ranked.first] == code
    correct = ranked.points.correct[ranked.first]
    is_inside = inside(ranked, part)
    keys = np.array(ranked.keys)
    return Sides(
        shown=keys[mine & is_inside & ~correct].tolist(),
        others=keys[mine & ~is_inside & correct].tolist(),
    )


def compare(
    ranked: Ranked,
    slices: Sequence[Slice],
    options: Any,
    rng: np.random.Generator,
    *,
    tested: bool = True,
) -> list[Pair]:
    """What each slice costs each of its labels, in the sequences that had no part in making it."""
    points = ranked.points
    label = points.label[ranked.first]
    # sequences are tested: frames of one sequence share its answer
    correct = points.correct[ranked.first].astype(float)
    pairs = []
    for number, part in enumerate(slices):
        is_inside = inside(ranked, part)
        for code, value in part.value.items():
            mine = np.flatnonzero(ranked.measured & (label == code))
            present = is_inside[mine]
            pair = Pair(number, code, value, n=int(present.sum()))
            pairs.append(pair)
            # nothing outside, or nothing inside, to compare with
            if pair.n in (0, len(mine)):
                continue
            right = correct[mine]
            groups = ranked.groups.take(mine)
            [low], [high] = gap_intervals(
                right, present[:, None], groups, confidence=options.confidence
            )
            pair.inside = float(right[present].mean())
            pair.outside = float(right[~present].mean())
            pair.lost = pair.outside - pair.inside
            # NaN is no JSON: one group does not say how much groups vary
            pair.low = None if np.isnan(low) else float(low)
            pair.high = None if np.isnan(high) else float(high)
            if tested:
                pair.p_value = _p_value(right, present, groups, rng)
    # over all pairs of all slices: each of them could have been reported
    q_values = benjamini_hochberg([pair.p_value for pair in pairs])
    for pair, q_value in zip(pairs, q_values, strict=True):
        pair.q_value = q_value
    return pairs


def _p_value(
    right: np.ndarray,
    present: Mask,
    groups: Groups,
    rng: np.random.Generator,
) -> float:
    [one_sided] = gap_p_values(right, present[:, None], groups, rng)
    return float(min(1.0, 2 * one_sided))


def retest_labels(
    ranked: Ranked,
    pairs: Sequence[Pair],
    options: Any,
    rng: np.random.Generator,
) -> None:
    """Try what passed again without the sequences that look mislabelled."""
    measured = ranked.measured
    noise = label_noise(ranked).take(measured)
    embedding = _embeddings(ranked)[measured]
    passed = [pair for pair in pairs if is_clear(pair, options)]
    for pair in passed:
        shows = inside(ranked, ranked.slices[pair.number])[measured]
        pair.suspects, without = noise.retest(
            pair.label,
            shows,
            most=options.label_noise,
            is_unlike=partial(
                noise.answered.is_unlike_label_errors,
                pair.label,
                shows,
                rng,
                losses=len(passed),
                looks=partial(_looks, embedding, shows),
            ),
            p_value=partial(
                _without, noise.answered, pair.label, shows, options.min_loss, rng
            ),
        )
        # without them the loss may be clearer by luck
        pair.retest = max(pair.p_value or 0.0, without)
    retests = [pair.p_value if pair.retest is None else pair.retest for pair in pairs]
    # what no longer passes helps no other to pass
    for pair, q_value in zip(pairs, benjamini_hochberg(retests), strict=True):
        pair.is_label_noise = pair.retest is not None and (q_value or 0.0) > options.fdr


def label_noise(ranked: Ranked) -> LabelNoise:
    """Which sequences look mislabelled."""
    points = ranked.points
    first = ranked.first
    answered = Answered(
        label=points.label[first],
        prediction=points.prediction[first],
        correct=points.correct[first],
        groups=ranked.groups,
        probability=points.probability[first],
    )
    return LabelNoise.of(answered)


def _embeddings(ranked: Ranked) -> np.ndarray:
    """Of each sequence: the mean of its points."""
    sums = np.add.reduceat(ranked.points.embedding, ranked.first, axis=0)
    return np.asarray(sums / np.bincount(ranked.sequence)[:, None])


def _looks(
    embedding: np.ndarray,
    shows: Mask,
    like: Mask,
    unlike: Mask,
) -> np.ndarray:
    """How far each sequence lies from one part towards another, beside what the slice shows.

    Where a cue misleads, the rest of the picture still looks like the label.
    """
    towards = embedding[like].mean(axis=0) - embedding[unlike].mean(axis=0)
    if (unlike & shows).any() and (unlike & ~shows).any():
        inside = embedding[unlike & shows].mean(axis=0)
        along = inside - embedding[unlike & ~shows].mean(axis=0)
        # only what is not along the slice: what it shows may be what makes the class
        length = max(along @ along, TINY)
        towards = towards - along * (towards @ along) / length
    return np.asarray(embedding @ towards)


def _without(
    answered: Answered,
    label: int,
    shows: Mask,
    min_loss: float,
    rng: np.random.Generator,
    kept: Mask,
) -> float:
    """The p-value of a loss in the sequences kept; 1 where it is too small there."""
    mine = kept & (answered.label == label)
    present = shows[mine]
    right = answered.correct[mine].astype(float)
    if present.all() or not present.any():
        return 1.0
    if right[~present].mean() - right[present].mean() <= min_loss:
        return 1.0
    return _p_value(right, present, answered.groups.take(mine), rng)


def is_finding(pair: Pair, options: Any) -> bool:
    """Whether a loss is clear, and no label noise."""
    return is_clear(pair, options) and not pair.is_label_noise


def is_clear(pair: Pair, options: Any) -> bool:
    """Whether the slice costs the label more than `min_loss`, and more than chance explains.

    Both the test and the interval must exclude that it costs nothing.
    """
    if pair.lost is None or pair.q_value is None or pair.low is None:
        return False
    passes = pair.q_value <= options.fdr and pair.low > 0
    return bool(passes and pair.lost > options.min_loss)


def smallest_findable(ranked: Ranked, options: Any, pairs: int) -> float | None:
    """The smallest loss found in 8 of 10 audits in a slice of `SHARE` of any label; None: none."""
    points = ranked.points
    first = ranked.first[ranked.measured]
    limits = [0.0]
    for label in np.unique(points.label[first]):
        mine = first[points.label[first] == label]
        count = len(np.unique(points.group[mine]))
        accuracy = points.correct[mine].mean()
        plan = GapPlan(SHARE * count, (1 - SHARE) * count, accuracy)
        # over the number of pairs, in one direction: a lone finding needs so small a p-value
        limit = plan.smallest_drop(options.fdr / 2 / pairs)
        if limit is None:
            return None
        limits.append(limit)
    # the largest: the promise is made for any label
    return max(limits)
