"""What slices cost labels, which of them are found, and what could have been missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_sdk.statistics import (
    GapPlan,
    benjamini_hochberg,
    gap_intervals,
    gap_p_values,
)
from cuescope_slices.scores import Slice
from cuescope_slices.trials import Ranked

# of a label's sequences in a slice, for which the limit of detection is told
SHARE = 0.25


@dataclass
class Pair:
    """A slice and a label, and what the slice costs the label; None where it cannot be compared.

    `lost` is the accuracy `outside` the slice less that `inside`. The p-value is two-sided, as the
    interval has two ends.
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
        is_inside = np.zeros(len(label), dtype=bool)
        # a sequence is inside with any frame, as TRoVe counts it
        is_inside[ranked.sequence[part.points[part.core]]] = True
        for code, value in part.value.items():
            mine = np.flatnonzero(ranked.measured & (label == code))
            present = is_inside[mine]
            pair = Pair(number, code, value, n=int(present.sum()))
            pairs.append(pair)
            # nothing outside, or nothing inside, to compare with
            if pair.n in (0, len(mine)):
                continue
            right = correct[mine]
            about = right, present[:, None], ranked.groups.take(mine)
            [low], [high] = gap_intervals(*about, confidence=options.confidence)
            pair.inside = float(right[present].mean())
            pair.outside = float(right[~present].mean())
            pair.lost = pair.outside - pair.inside
            # NaN is no JSON: one group does not say how much groups vary
            pair.low = None if np.isnan(low) else float(low)
            pair.high = None if np.isnan(high) else float(high)
            if tested:
                pair.p_value = min(1.0, 2 * gap_p_values(*about, rng).item())
    # over all pairs of all slices: each of them could have been reported
    q_values = benjamini_hochberg([pair.p_value for pair in pairs])
    for pair, q_value in zip(pairs, q_values, strict=True):
        pair.q_value = q_value
    return pairs


def is_finding(pair: Pair, options: Any) -> bool:
    """Whether the slice costs the label more than `min_loss`, and more than chance explains.

    Both the test and the interval must exclude that it costs nothing.
    """
    if pair.lost is None or pair.q_value is None or pair.low is None:
        return False
    is_clear = pair.q_value <= options.fdr and pair.low > 0
    return bool(is_clear and pair.lost > options.min_loss)


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
