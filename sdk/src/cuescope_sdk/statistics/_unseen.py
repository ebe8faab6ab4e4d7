"""Estimates of what was not counted, and whether some numbers are unlike others."""

import numpy as np
from jaxtyping import Float
from scipy import stats

from cuescope_sdk.statistics._resampling import monte_carlo_p_value
from cuescope_sdk.statistics._shapes import PerItem

DRAWS = 10_000
TIE = 1e-12


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


def most_by_chance(count: int, rate: float, *, confidence: float = 0.95) -> int:
    """How many of `count` may be hit by a rate, at most: a binomial's upper quantile."""
    return int(stats.binom.ppf(confidence, count, min(rate, 1.0)))


def most_predicted(
    count: int,
    hits: int,
    others: int,
    *,
    confidence: float = 0.95,
) -> int:
    """How many of `count` may be hit, at most, where `hits` of so many others were.

    The upper quantile of a beta-binomial with the prior of Jeffreys (1946): unlike
    `most_by_chance`, it counts that a rate of few others is hardly known.
    """
    rate = stats.betabinom(count, hits + 0.5, others - hits + 0.5)
    return int(rate.ppf(confidence))


def lower_mean_p_value(
    values: PerItem,
    null: Float[np.ndarray, " null_item"],
    rng: np.random.Generator,
    *,
    others: Float[np.ndarray, " other_item"] | None = None,
    mixed: int = 0,
    draws: int = DRAWS,
) -> float:
    """One-sided p-value that a mean is lower than that of as many drawn from `null`.

    `mixed` of each draw come from `others`. A Monte Carlo test (Davison and Hinkley, 1997).
    """
    drawn = rng.choice(null, (draws, len(values) - mixed))
    if others is not None and mixed:
        among = rng.choice(others, (draws, mixed))
        drawn = np.concatenate([drawn, among], axis=1)
    reached = drawn.mean(axis=1) <= values.mean() + TIE
    return monte_carlo_p_value(int(reached.sum()), draws)
