"""What the order of numbers tells, whatever their scale: AUROC, rank tests and correlations."""

import numpy as np
from jaxtyping import Float, Int, Shaped
from scipy import stats

from cuescope_sdk.statistics._groups import level_indices
from cuescope_sdk.statistics._resampling import percentile_interval
from cuescope_sdk.statistics._shapes import BoolPerItem, PerItem

RESAMPLES = 2000


def auroc(
    scores: PerItem,
    positive: BoolPerItem,
    strata: Shaped[np.ndarray, " item"] | None = None,
) -> float | None:
    """The chance that a positive scores higher than another one (Mann and Whitney, 1947).

    Equal scores count half. None where all are positive, or none is. Within `strata` each is
    weighted by its smaller side (covariate-adjusted: Pepe, 2003); where no stratum has both
    sides, all items are compared.
    """
    if strata is not None:
        values = []
        sizes = []
        for inside in level_indices(strata):
            value = auroc(scores[inside], positive[inside])
            if value is not None:
                positives = int(positive[inside].sum())
                values.append(value)
                sizes.append(min(positives, len(inside) - positives))
        if values:
            return float(np.average(values, weights=sizes))
    positives = int(positive.sum())
    others = int((~positive).sum())
    if not positives or not others:
        return None
    ranks = stats.rankdata(scores)
    # less what the ranks of the positives among themselves add up to
    wins = ranks[positive].sum() - positives * (positives + 1) / 2
    return float(wins / (positives * others))


def mann_whitney_p_value(
    first: PerItem, second: Float[np.ndarray, " other_item"]
) -> float:
    """One-sided p-value that the first are larger than the second (Mann and Whitney, 1947).

    Raises ValueError where one of them is empty.
    """
    if not len(first) or not len(second):
        raise ValueError(
            f"expected numbers on both sides, got {len(first)} and {len(second)}"
        )
    return float(stats.mannwhitneyu(first, second, alternative="greater").pvalue)


def rank_correlation(first: PerItem, second: PerItem) -> float:
    """Spearman's rho (1904). NaN where one of the two does not vary."""
    return float(stats.spearmanr(first, second).statistic)


def rank_correlation_interval(
    levels: Float[np.ndarray, " level"],
    values: Float[np.ndarray, "level repeat"],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> tuple[float, float, float]:
    """Spearman's rho (1904) of values with their levels, and its percentile interval (Efron, 1979).

    Each level's repeats are drawn anew among themselves, for levels are chosen, not drawn.
    """
    repeats = values.shape[1]
    draws = rng.integers(repeats, size=(resamples, *values.shape))
    # Repeats change places within their level, so every draw has all levels.
    resampled = np.take_along_axis(values[None], draws, axis=2)
    # The data are the first row, so that they and their draws are ranked alike.
    rows = np.concatenate([values[None], resampled]).reshape(resamples + 1, -1)
    centred = stats.rankdata(np.repeat(levels, repeats))
    centred -= centred.mean()
    ranks = stats.rankdata(rows, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    scale = np.sqrt((centred @ centred) * (ranks**2).sum(axis=1))
    correlation = ranks @ centred / scale
    low, high = percentile_interval(correlation[1:], confidence)
    return float(correlation[0]), low, high


def auroc_error(positives: int, others: int) -> float:
    """Standard error of an AUROC of scores that tell nothing (Mann and Whitney, 1947).

    >>> auroc_error(40, 40)
    0.0649...
    """
    return float(np.sqrt((positives + others + 1) / (12 * positives * others)))


def equal_parts(values: PerItem, count: int) -> Int[np.ndarray, " item"]:
    """In which of `count` parts of about equal size each value lies; equal ones lie in one.

    >>> equal_parts(np.array([3.0, 1.0, 4.0, 1.0]), 2).tolist()
    [1, 0, 1, 0]
    """
    edges = np.unique(np.quantile(values, np.arange(1, count) / count))
    return np.searchsorted(edges, values, side="right")


def youden_cut(scores: PerItem, positive: BoolPerItem) -> float:
    """The score that tells both sides apart best: the largest sum of both rates (Youden, 1950)."""
    values = np.unique(scores)
    between = (values[:-1] + values[1:]) / 2
    cuts = np.append(between, values[-1])
    above = scores >= cuts[:, None]
    right = above[:, positive].mean(axis=1)
    wrong = above[:, ~positive].mean(axis=1)
    return float(cuts[np.argmax(right - wrong)])
