"""Statistics of an audit: intervals, exact nulls, and the correction for how much was tried."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import special, stats

TIE = 1e-9
BISECTIONS = 40
CHUNK = 2_000_000
P = TypeVar("P", float, float | None)


def accuracy_gap_interval(
    correct_without: Int[np.ndarray, " cell"],
    n_without: Int[np.ndarray, " cell"],
    correct_with: Int[np.ndarray, " cell"],
    n_with: Int[np.ndarray, " cell"],
    *,
    confidence: float = 0.95,
) -> tuple[Float[np.ndarray, " cell"], Float[np.ndarray, " cell"]]:
    """Percentile bootstrap interval of accuracy without minus accuracy with, without resampling.

    Resampling n answers of which k are correct draws Binomial(n, k / n) correct ones, so the
    distribution that infinitely many resamples would show is known, and its percentiles are
    found by bisection. Like every percentile bootstrap it has no width where both groups are
    all right or all wrong; the permutation p-value still tells how little one sample proves.
    """
    counts = np.stack([correct_without, n_without, correct_with, n_with], axis=1)
    if len(counts) and (counts[:, (1, 3)] < 1).any():
        raise ValueError("expected at least one sample in each group, got an empty group")
    cells, position = np.unique(counts.astype(np.int64), axis=0, return_inverse=True)
    tail = (1 - confidence) / 2
    low, high = np.empty(len(cells)), np.empty(len(cells))
    for part in _chunks(cells):
        low[part] = _gap_quantile(cells[part], tail)
        high[part] = _gap_quantile(cells[part], 1 - tail)
    gap = correct_without / n_without - correct_with / n_with
    return snap_to_value(low[position.ravel()], gap), snap_to_value(high[position.ravel()], gap)


def snap_to_value(
    bound: Float[np.ndarray, " cell"], value: Float[np.ndarray, " cell"], tolerance: float = 1e-8
) -> Float[np.ndarray, " cell"]:
    """The bound, or the value itself where they differ by rounding only."""
    return np.where(np.abs(bound - value) <= tolerance, value, bound)


def _chunks(cells: Int[np.ndarray, "cell 4"]) -> list[slice]:
    """Slices whose ragged supports stay within CHUNK numbers."""
    group = np.cumsum(cells[:, 3] + 1) // CHUNK
    edges = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(cells)]
    return [slice(start, end) for start, end in pairwise(edges)]


def _gap_quantile(
    cells: Int[np.ndarray, "cell 4"], probability: float
) -> Float[np.ndarray, " cell"]:
    """Smallest gap whose bootstrap distribution function reaches `probability`."""
    correct_without, n_without, correct_with, n_with = cells.T
    cell = np.repeat(np.arange(len(cells)), n_with + 1)
    start = np.concatenate([[0], np.cumsum(n_with + 1)[:-1]])
    drawn = np.arange(len(cell)) - start[cell]
    weight = stats.binom.pmf(drawn, n_with[cell], (correct_with / n_with)[cell])
    rate, size = (correct_without / n_without)[cell], n_without[cell].astype(np.float64)
    shift = drawn / n_with[cell]
    low, high = np.full(len(cells), -1.0 - TIE), np.full(len(cells), 1.0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = _binomial_cdf(size * (middle[cell] + shift + TIE), size, rate)
        reached = np.add.reduceat(weight * below, start) >= probability - TIE
        high, low = np.where(reached, middle, high), np.where(reached, low, middle)
    # Bisection ends beside the point it looks for; rounding lands on it where it is simple.
    return np.asarray(np.round(high, 8))


def _binomial_cdf(
    k: Float[np.ndarray, " n"], n: Float[np.ndarray, " n"], p: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    floor = np.floor(k)
    inside = special.bdtr(np.clip(floor, 0, n - 1), n.astype(np.int64), p)
    return np.where(floor < 0, 0.0, np.where(floor >= n, 1.0, inside))


def accuracy_gap_p_value(
    correct_without: Int[np.ndarray, " cell"],
    n_without: Int[np.ndarray, " cell"],
    correct_with: Int[np.ndarray, " cell"],
    n_with: Int[np.ndarray, " cell"],
) -> Float[np.ndarray, " cell"]:
    """Exact one-sided permutation p-value of accuracy without minus accuracy with.

    Permuting who has the feature keeps the number of correct answers, so how many of them fall
    among those with it is hypergeometric, and the gap falls as that number grows. Small where
    accuracy with the feature is lower than chance assignment explains (Fisher's exact test).
    """
    counts = np.stack([correct_without, n_without, correct_with, n_with], axis=1)
    # Many cells have the same counts, and the tail of each distinct one is computed once.
    cells, position = np.unique(counts.astype(np.int64), axis=0, return_inverse=True)
    right_without, without, right_with, with_feature = cells.T
    tail = stats.hypergeom.cdf(
        right_with, without + with_feature, right_without + right_with, with_feature
    )
    return np.asarray(np.minimum(tail, 1.0)[position.ravel()])


def single_gap_p_value(
    correct_without: int, n_without: int, correct_with: int, n_with: int
) -> float:
    """`accuracy_gap_p_value` of one pair of groups."""
    counts = np.array([[correct_without], [n_without], [correct_with], [n_with]])
    return float(accuracy_gap_p_value(*counts)[0])


def overlap_p_value(
    first: Bool[np.ndarray, " sample"], second: Bool[np.ndarray, " sample"]
) -> float:
    """Fisher's exact one-sided p-value that two properties meet more often than by chance (1935).

    With both margins fixed all is decided by how many samples have both.
    """
    # The upper tail: one minus the lower one, as accuracy_gap_p_value takes, differs in the last
    # digits, so neither is written by the other.
    both, n_first, n_second = int((first & second).sum()), int(first.sum()), int(second.sum())
    return float(stats.hypergeom.sf(both - 1, len(first), n_first, n_second))


def mcnemar_p_value(
    before: Bool[np.ndarray, " sample"], after: Bool[np.ndarray, " sample"]
) -> float:
    """Exact two-sided p-value that answers go wrong as often as right (McNemar, 1947)."""
    lost, won = int((before & ~after).sum()), int((~before & after).sum())
    return float(stats.binomtest(lost, lost + won, 0.5).pvalue) if lost + won else 1.0


def wilson_interval(
    count: int, n: int, *, confidence: float = 0.95
) -> tuple[float | None, float | None]:
    """Score interval of a share (Wilson, 1927); None where there is nothing to share."""
    if n == 0:
        return None, None
    interval = stats.binomtest(count, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def correlation_interval(r: float, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of Pearson's r over n independent points (Fisher, 1921)."""
    # r itself is skewed near 1; its inverse hyperbolic tangent is nearly normal.
    reach = stats.norm.ppf((1 + confidence) / 2) / np.sqrt(n - 3)
    middle = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected so that any false finding at all is rare (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    # The running maximum keeps the order: a larger p-value never gets a smaller one back.
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[P]) -> list[P]:
    """q-values (Benjamini and Hochberg, 1995) over all tests that were made.

    None marks a test that was not made: it stays None and does not count.
    """
    made = [p for p in p_values if p is not None]
    if not made:
        return list(p_values)
    q_values = iter(stats.false_discovery_control(made, method="bh").tolist())
    return [None if p is None else next(q_values) for p in p_values]


def exceeds_rate_p_value(successes: int, n: int, rate: float) -> float:
    """Exact one-sided binomial p-value that `successes` of `n` come from more than `rate`."""
    if n == 0:
        return 1.0
    return float(stats.binomtest(successes, n, min(rate, 1.0), alternative="greater").pvalue)
