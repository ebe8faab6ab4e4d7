"""Bootstraps and permutations: intervals and p-values from random draws.

Each function takes its numbers from the generator in the same order whatever it holds in memory at
a time, so a seed gives the same interval on every machine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

AT_ONCE = 4_000_000  # numbers of a draw that are in memory together
DRAWS = 4000  # of a permutation test
TIE = 1e-12  # equal sums in another order differ by rounding, and must count as equal


def portions(total: int, width: int) -> list[int]:
    """Numbers of rows of `width` that are drawn together: `total` in all, within AT_ONCE numbers.

    >>> portions(10, AT_ONCE // 4)
    [4, 4, 2]
    """
    # Small integers are cut from words of 32 bits. Multiples of four rows end at a word, so that
    # how a draw is cut into portions does not change what is drawn.
    step = max(4, AT_ONCE // width // 4 * 4)
    return [min(step, total - start) for start in range(0, total, step)]


# ----------------------------------------------------------------------------------- bootstraps


def percentiles(
    draws: Float[np.ndarray, "resample ..."], confidence: float
) -> Float[np.ndarray, "2 ..."]:
    """Ends of the percentile bootstrap interval (Efron, 1979) of each figure."""
    tail = (1 - confidence) / 2
    return np.asarray(np.quantile(draws, (tail, 1 - tail), axis=0))


def percentile_interval(
    draws: Sequence[float] | Float[np.ndarray, " resample"],
    confidence: float,
    value: float | None = None,
) -> tuple[float, float]:
    """The same of one figure; `value`, where it is given, lies within it."""
    low, high = percentiles(np.asarray(draws), confidence).tolist()
    # Rounding may leave the figure itself outside by one part in 1e16 where all draws are alike.
    return (low, high) if value is None else (min(low, value), max(high, value))


def bootstrap_mean_interval(
    values: Float[np.ndarray, " sample"],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a mean, the mean itself within it (Efron, 1979)."""
    if len(values) == 0:
        raise ValueError("expected at least one value, got none")
    drawn = rng.integers(len(values), size=(resamples, len(values)))
    values = np.asarray(values, dtype=np.float64)
    return percentile_interval(values[drawn].mean(axis=1), confidence, float(values.mean()))


def bootstrap_mean_band(
    curves: Float[np.ndarray, "sample step"], rng: np.random.Generator
) -> tuple[Float[np.ndarray, " step"], Float[np.ndarray, " step"]]:
    """95% percentile bootstrap interval of a mean curve, by step; samples are drawn whole."""
    samples = len(curves)
    if samples == 0:
        raise ValueError("expected at least one curve, got none")
    # How often each curve is drawn is all that counts, so the means are one matrix product.
    times = rng.multinomial(samples, np.full(samples, 1 / samples), size=1000)
    low, high = percentiles(times @ curves / samples, 0.95)
    return low, high


def bootstrap_gap_interval(
    first: Float[np.ndarray, " a"],
    second: Float[np.ndarray, " b"],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a difference of means; each group is drawn by itself.

    Meant for values with few levels, as shares of a few answers have.
    """
    gaps = _level_means(first, rng, resamples) - _level_means(second, rng, resamples)
    return percentile_interval(gaps, confidence, float(first.mean() - second.mean()))


def _level_means(
    values: Float[np.ndarray, " sample"], rng: np.random.Generator, resamples: int
) -> Float[np.ndarray, " resample"]:
    """Means of resamples, from how often each level is drawn."""
    # Other draws than those of bootstrap_mean_interval, whose indices are of single samples.
    levels, counts = np.unique(values, return_counts=True)
    draws = rng.multinomial(len(values), counts / len(values), size=resamples)
    return np.asarray(draws @ levels / len(values))


def bootstrap_interval(
    figure: Callable[[Int[np.ndarray, " sample"]], float | None],
    samples: int,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> tuple[float, float] | None:
    """Percentile bootstrap of a figure of samples, given by their indices; None where it has none.

    Draws that have no figure are left out.
    """
    if samples == 0:
        return None
    draws = rng.integers(samples, size=(resamples, samples))
    values = [value for value in map(figure, draws) if value is not None]
    return percentile_interval(values, confidence) if values else None


def bootstrap_cluster_means(
    values: Float[np.ndarray, "sample column"],
    cluster: Int[np.ndarray, " sample"],
    stratum: Int[np.ndarray, " sample"],
    rng: np.random.Generator,
    *,
    resamples: int = 2000,
) -> Float[np.ndarray, "resample column"]:
    """Means over strata of the mean of each, of draws of whole clusters (Field and Welsh, 2007).

    Samples of one cluster are not independent, so they are drawn together. A stratum that a draw
    lacks is left out of it.
    """
    _, member = np.unique(cluster, return_inverse=True)
    clusters = int(member.max()) + 1
    sums = []
    for value in np.unique(stratum):
        part = stratum == value
        counted = np.zeros((clusters, 1 + values.shape[1]))
        np.add.at(counted, member[part], np.column_stack([np.ones(part.sum()), values[part]]))
        sums.append(counted)
    chunks = []
    for count in portions(resamples, clusters):
        # A draw only says how often each cluster counts, so its sums are one matrix product.
        times = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=count)
        totals = [times.astype(np.float64) @ table for table in sums]
        with np.errstate(invalid="ignore"):  # 0 / 0 of a stratum that was not drawn is NaN
            means = np.stack([total[:, 1:] / total[:, :1] for total in totals])
        chunks.append(np.nanmean(means, axis=0))
    return np.concatenate(chunks)


# ---------------------------------------------------------------------------------- permutations


def monte_carlo_p_value(reached: int, draws: int) -> float:
    """Of the draws, the data itself among them (Davison and Hinkley, 1997, eq. 4.11)."""
    # The data is one of the equally likely draws, so no p-value is 0 (Phipson and Smyth, 2010).
    return (1 + reached) / (1 + draws)


def permutation_p_value(
    statistic: Callable[[Int[np.ndarray, " sample"]], float],
    orders: Sequence[Int[np.ndarray, " sample"]],
    *,
    tie: float = 1e-9,
    exact: bool = False,
) -> float:
    """One-sided p-value of a statistic of samples in their order, among `orders` of them.

    `exact` says that these are all orders there are. What is lower by `tie` counts as equal.
    """
    observed = statistic(np.arange(len(orders[0]))) - tie
    reached = sum(bool(statistic(order) >= observed) for order in orders)
    # Among all orders is the observed one, which is not counted twice.
    return reached / len(orders) if exact else monte_carlo_p_value(reached, len(orders))


def sign_flip_p_value(
    values: Float[np.ndarray, " sample"],
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    dtype: Any = np.int64,
) -> float:
    """One-sided p-value of a mean above 0, by flipping signs (Fisher, 1935, section 21).

    As the signs of n values have 2**n patterns, few samples cannot prove anything. `dtype` is that
    of the drawn signs: int8 is faster and uses other random numbers.
    """
    if len(values) == 0:
        return 1.0
    observed, reached = values.mean() - TIE, 0
    for count in portions(draws, len(values)):
        signs = rng.integers(0, 2, (count, len(values)), dtype=dtype) * 2.0 - 1.0
        reached += int((signs @ values / len(values) >= observed).sum())
    return monte_carlo_p_value(reached, draws)


def exchange_p_value(
    own: Float[np.ndarray, " sample"],
    random: Float[np.ndarray, "sample draw"],
    rng: np.random.Generator,
) -> float:
    """One-sided p-value that values are higher in the mean than random ones of the same samples.

    Were they random too, each could change places with any of its sample's random ones: a
    randomization test within blocks (Pitman, 1938).
    """
    if len(own) == 0:
        return 1.0
    rows, reached = np.column_stack([own, random]), 0
    for count in portions(DRAWS, len(own)):
        column = rng.integers(0, rows.shape[1], (count, len(own)))
        means = rows[np.arange(len(own)), column].mean(axis=1)
        reached += int((means >= own.mean() - TIE).sum())
    return monte_carlo_p_value(reached, DRAWS)
