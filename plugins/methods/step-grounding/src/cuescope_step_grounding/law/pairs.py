"""Models that are alike in accuracy, held against each other, and a correlation's cells."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Cell
from cuescope_sdk.statistics import Correlation

Values = Float[np.ndarray, " model"]


def correlation_cells(correlation: Correlation) -> tuple[Cell, ...]:
    """r, interval and p of a table: 0.83, "0.64 to 0.93", "0.012" or "< 0.001"."""
    p_value = correlation.p_value
    words = "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
    return correlation.r, f"{correlation.low:.2f} to {correlation.high:.2f}", words


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
    groups = np.zeros(len(kept), int) if strata is None else strata
    pairs = []
    for better in range(len(kept)):
        for worse in range(len(kept)):
            alike = (
                groups[better] == groups[worse]
                and abs(accuracy[better] - accuracy[worse]) <= within
            )
            # of two that are grounded equally none is the better
            if alike and grounding[better] > grounding[worse]:
                more_grounded = float(grounding[better] - grounding[worse])
                pairs.append(
                    Pair(
                        better, worse, more_grounded, float(kept[better] - kept[worse])
                    )
                )
    return pairs
