"""Models that are alike in accuracy, held against each other, and a correlation's cells."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Cell
from cuescope_sdk.statistics import Correlation

Values = Float[np.ndarray, " model"]


def correlation_cells(correlation: Correlation | None) -> tuple[Cell, ...]:
    """r, interval, p and n of a table: 0.83, "0.64 to 0.93", "0.012" or "< 0.001", 12."""
    if correlation is None:
        return (None,) * 4
    p_value = correlation.p_value
    words = "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
    interval = f"{correlation.low:.2f} to {correlation.high:.2f}"
    return correlation.r, interval, words, correlation.n


@dataclass(frozen=True)
class Pair:
    """Two models alike in accuracy: the first is grounded better, and keeps so much more."""

    better: int
    worse: int
    more_grounded: float
    more_kept: float


def matched_pairs(
    grounding: Values,
    kept: Values,
    accuracy: Values,
    *,
    within: float,
    strata: Int[np.ndarray, " model"] | None = None,
) -> list[Pair]:
    """All pairs of a stratum whose accuracy differs by at most `within`, in its own unit."""
    alike = np.abs(np.subtract.outer(accuracy, accuracy)) <= within
    if strata is not None:
        alike &= np.equal.outer(strata, strata)
    grounded = np.subtract.outer(grounding, grounding)
    more = np.subtract.outer(kept, kept)
    pairs = []
    # of two that are grounded equally none is the better
    for pair in np.argwhere(alike & (grounded > 0)).tolist():
        better, worse = pair
        pairs.append(
            Pair(
                better,
                worse,
                float(grounded[better, worse]),
                float(more[better, worse]),
            )
        )
    return pairs
