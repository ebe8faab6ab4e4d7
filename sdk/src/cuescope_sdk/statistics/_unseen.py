"""Estimates of what was not counted."""

import numpy as np
from scipy import stats


def most_unseen(seen: int, chance: float, *, confidence: float = 0.95) -> int:
    """How many more there may be, at most, where each is seen with this chance.

    The upper limit of a binomial's number of trials, less what was seen: the largest number under
    which so few seen are no surprise (Clopper and Pearson's way, 1934). Raises ValueError for a
    chance of 0 or less, which sets no limit.
    """
    if chance <= 0:
        raise ValueError(f"expected a chance above 0, got {chance}")
    if chance >= 1:
        return 0
    # far beyond the limit: so many would show many times what was seen
    span = 20 + int(20 * (seen + 1) / chance)
    total = seen + np.arange(span)
    possible = stats.binom.cdf(seen, total, chance) > 1 - confidence
    return int(possible.sum()) - 1
