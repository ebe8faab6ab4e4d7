"""The same samples answered twice: what a change of the input or of the model does to them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._intervals import change_interval
from cuescope_sdk.statistics._permutation import Alternative, change_p_value


@dataclass(frozen=True)
class PairedFlips:
    """How answers changed: `change` is the mean of after minus before, `low` and `high` bound it.

    `gained` of the `n` samples got better and `lost` got worse. Under the null of `p_value` a group
    got better or worse with equal chance.
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


def paired_flips(
    before: ArrayLike,
    after: ArrayLike,
    groups: Groups,
    rng: np.random.Generator,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> PairedFlips:
    """Mean change from `before` to `after`, one number a sample, in the same order.

    The numbers are 0 or 1 for wrong and right answers, or probabilities. `groups` tells which of
    the samples were drawn together: `Groups.of(audit.samples)`. The interval is `change_interval`.
    The p-value is that of the sign test (Arbuthnott, 1710; for right and wrong answers the exact
    test of McNemar, 1947), where samples share groups that of `change_p_value`, against
    `alternative`: after is "greater" than before, or "less". Correct it for all that was tried
    with `benjamini_hochberg`.
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
    # samples that stay as they were say nothing of the direction: the sign test leaves them out
    p_value = change_p_value(np.sign(change), groups, rng, alternative=alternative)
    mean = float(change.mean())
    return PairedFlips(
        mean, low or 0.0, high or 0.0, p_value, gained, lost, len(change)
    )
