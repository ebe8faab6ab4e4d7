"""What slices cost labels, which of them are found, and what could have been missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk.locating import Sides
from cuescope_sdk.statistics import GapPlan, LabelEffects, benjamini_hochberg
from cuescope_slices.scores import Slice
from cuescope_slices.trials import Ranked

# of a label's sequences in a slice, for which the limit of detection is told
SHARE = 0.25

Mask = Bool[np.ndarray, " sequence"]


@dataclass
class Pair:
    """A slice and a label, and what the slice costs the label; None where it cannot be compared.

    `lost` is the accuracy `outside` the slice less that `inside`, all three as the model of label
    effects estimates them. The p-value is two-sided, as the interval has two ends.
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
    """What each slice costs each of its labels, in the sequences that had no part in making it.

    All labels of a slice are estimated together.
    """
    points = ranked.points
    label = points.label[ranked.first]
    # sequences are tested: frames of one sequence share its answer
    correct = points.correct[ranked.first].astype(float)
    pairs = []
    for number, part in enumerate(slices):
        codes = np.array(list(part.value), dtype=int)
        mine = np.flatnonzero(ranked.measured & np.isin(label, codes))
        present = inside(ranked, part)[mine]
        n_with = np.bincount(label[mine][present], minlength=points.classes)
        n_all = np.bincount(label[mine], minlength=points.classes)
        of_slice = [
            Pair(number, code, value, n=int(n_with[code]))
            for code, value in part.value.items()
        ]
        pairs += of_slice
        # nothing outside, or nothing inside, to compare with
        able = [pair for pair in of_slice if 0 < pair.n < n_all[pair.label]]
        if not able:
            continue
        effects = LabelEffects.of(
            present.astype(float),
            correct[mine],
            label[mine],
            _signs(part, points.classes),
            ranked.groups.take(mine),
            rng,
        )
        lows, highs = effects.interval(options.confidence)
        for pair in able:
            code = pair.label
            pair.inside = float(effects.accuracy_with[code])
            pair.outside = float(effects.accuracy_without[code])
            pair.lost = -float(effects.value[code])
            pair.low, pair.high = -float(highs[code]), -float(lows[code])
            if tested:
                pair.p_value = float(effects.label_p_value[code])
    # over all pairs of all slices: each of them could have been reported
    q_values = benjamini_hochberg([pair.p_value for pair in pairs])
    for pair, q_value in zip(pairs, q_values, strict=True):
        pair.q_value = q_value
    return pairs


def _signs(part: Slice, classes: int) -> Float[np.ndarray, " label"]:
    """1 for labels that are predicted too often in the slice, -1 for those that it costs."""
    # by its values, in which the sequences that are measured had no part
    values = np.array([part.value.get(code, 0.0) for code in range(classes)])
    return np.where(values < 0, 1.0, -1.0)


def is_finding(pair: Pair, options: Any) -> bool:
    """True if the slice costs the label more than `min_loss`, and more than chance explains.

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
