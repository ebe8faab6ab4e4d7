"""The same samples answered twice: what a change of the input or of the model does to them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from cuescope_sdk.statistics._groups import Groups, level_indices
from cuescope_sdk.statistics._intervals import change_interval, change_limits
from cuescope_sdk.statistics._inversion import inverted_p_value
from cuescope_sdk.statistics._shapes import IntPerSample, PerSample

Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True)
class PairedFlips:
    """How answers changed: `change` is the mean of after minus before, `low` and `high` bound it.

    `gained` of the `n` samples got better and `lost` got worse. `p_value` is at most 0.05 exactly
    where the 95% interval excludes 0.
    """

    change: float
    low: float
    high: float
    p_value: float
    gained: int
    lost: int
    n: int

    @property
    def flipped(self) -> int:
        """How many samples changed at all."""
        return self.gained + self.lost


def change_p_value(
    change: PerSample,
    groups: Groups,
    rng: np.random.Generator | None = None,
    *,
    strata: IntPerSample | None = None,
    alternative: Alternative = "two-sided",
) -> float:
    """p-value that paired changes, after minus before and from -1 to 1, have a mean of 0.

    By inverting `change_interval` (Lehmann and Romano, 2005, 3.5): it is at most 0.05 exactly where
    the 95% interval excludes 0, on the side of the `alternative` ("greater" or "less") where one is
    given. Not by flipping the signs of groups: that takes changes for symmetric, and many small
    gains beside a rare large loss, which the data need not show, look like a gain. Studentised
    flips are the same test, and neither the bootstrap-t nor a correction for skewness (Johnson,
    1978; Hall, 1992) knows of a loss that was not seen. The bounds of a change do.

    Of several `strata` it is the smallest, times their number (Bonferroni): in a mean over strata
    one can lose what another wins, which one test of all would not see. One group tells nothing.
    Nothing is drawn: `rng` is for callers of older versions.
    """
    if strata is not None:
        parts = level_indices(strata)
        p_values = [
            change_p_value(change[part], groups.take(part), alternative=alternative)
            for part in parts
        ]
        return min(1.0, len(parts) * min(p_values))
    mean = float(np.mean(change)) if groups.count > 1 else 0.0
    wrong_side = "less" if mean > 0 else "greater"
    if mean == 0 or alternative == wrong_side:
        return 1.0
    limits = change_limits(change if mean > 0 else -change, groups)
    return inverted_p_value(lambda confidence: limits(confidence)[0])


def paired_flips(
    before: ArrayLike,
    after: ArrayLike,
    groups: Groups,
    rng: np.random.Generator | None = None,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> PairedFlips:
    """Mean change from `before` to `after`, one number a sample, in the same order.

    The numbers are 0 or 1 for wrong and right answers, or probabilities. `groups` tells which of
    the samples were drawn together: `Groups.of(audit.samples)`. The interval is `change_interval`,
    and the p-value is `change_p_value`, its inversion, against `alternative`: after is "greater"
    than before, or "less". Correct it for all that was tried with `benjamini_hochberg`.

    The p-value is the interval, inverted (Lehmann and Romano, 2005, 3.5).
    """
    first = np.asarray(before, dtype=np.float64)
    second = np.asarray(after, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise ValueError(
            f"expected two arrays of one number a sample, got shapes {first.shape}, {second.shape}"
        )
    # NaN is neither gained nor lost: it would pass for an answer that stayed
    if not np.isfinite([first, second]).all():
        raise ValueError("expected finite numbers, got NaN or infinity")
    change = second - first
    gained = int((change > 0).sum())
    lost = int((change < 0).sum())
    low, high = change_interval(change, groups, confidence=confidence)
    p_value = change_p_value(change, groups, alternative=alternative)
    mean = float(change.mean())
    return PairedFlips(
        mean, low or 0.0, high or 0.0, p_value, gained, lost, len(change)
    )
