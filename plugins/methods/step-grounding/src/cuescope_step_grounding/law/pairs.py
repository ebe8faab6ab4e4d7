"""Models that are alike in accuracy, held against each other, and a correlation's cells."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Cell
from cuescope_sdk.report import with_sign
from cuescope_sdk.statistics import Correlation

Values = Float[np.ndarray, " model"]


def correlation_cells(correlation: Correlation | None) -> tuple[Cell, ...]:
    """r, interval, p and n of a table: 0.83, "0.64 to 0.93", 0.012, 12."""
    if correlation is None:
        return (None,) * 4
    interval = f"{with_sign(correlation.low, 2)} to {with_sign(correlation.high, 2)}"
    return correlation.r, interval, correlation.p_value, correlation.n


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
