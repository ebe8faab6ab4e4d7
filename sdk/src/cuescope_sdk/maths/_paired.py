"""The same samples answered twice: what a change of the input or of the model does to them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cuescope_sdk.maths._resampling import bootstrap_mean_interval

Alternative = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True)
class PairedFlips:
    """How answers changed: `change` is the mean of after minus before, `low` and `high` bound it.

    `gained` of the `n` samples got better and `lost` got worse. `p_value` is that of the exact
    sign test: under the null a sample that changed got better or worse with equal chance.
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
    rng: np.random.Generator,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> PairedFlips:
    """Mean change from `before` to `after`, one number a sample, in the same order.

    The numbers are 0 or 1 for wrong and right answers, or probabilities. The interval is the
    percentile bootstrap of the samples, drawn with `rng`. The p-value is that of the sign test
    (Arbuthnott, 1710; for right and wrong answers the exact test of McNemar, 1947), against
    `alternative`: after is "greater" than before, or "less". Correct it for all that was tried
    with `benjamini_hochberg`.
    """
    first, second = (np.asarray(values, dtype=np.float64) for values in (before, after))
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise ValueError(
            f"expected two arrays of one number a sample, got shapes {first.shape}, {second.shape}"
        )
    if not np.isfinite([first, second]).all():
        raise ValueError("expected finite numbers, got NaN or infinity")
    change = second - first
    gained, lost = int((change > 0).sum()), int((change < 0).sum())
    low, high = bootstrap_mean_interval(change, rng, confidence=confidence)
    # Samples that stay as they were say nothing of the direction: the sign test leaves them out.
    p_value = (
        float(stats.binomtest(gained, gained + lost, 0.5, alternative=alternative).pvalue)
        if gained + lost
        else 1.0
    )
    return PairedFlips(float(change.mean()), low, high, p_value, gained, lost, len(change))
