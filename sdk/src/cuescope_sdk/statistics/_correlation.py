"""Correlations of two figures over the same things, with intervals."""

import numpy as np
from jaxtyping import Float
from scipy import stats

from cuescope_sdk.statistics._tests import correlation_interval

FEWEST = 4  # points, from which on Fisher's interval has a width


def pearson_interval(
    first: Float[np.ndarray, " item"], second: Float[np.ndarray, " item"]
) -> tuple[float, float, float]:
    """Pearson's r (1895) of independent items, with its interval (Fisher, 1921).

    Fewer than four items tell nothing: their interval is from -1 to 1. Raises ValueError for fewer
    than two; r is NaN where one of the two does not vary.
    """
    r = float(stats.pearsonr(first, second).statistic)
    count = len(first)
    if count < FEWEST:
        return r, -1.0, 1.0
    low, high = correlation_interval(r, count)
    return r, low, high
