"""Statistics of an audit: intervals, exact nulls, and the correction for how much was tried."""

from collections.abc import Hashable, Sequence, Set
from itertools import combinations
from typing import TypeVar

import numpy as np
from jaxtyping import Float
from scipy import stats
from scipy.sparse.csgraph import connected_components

from cuescope_sdk.statistics._shapes import BoolPerSample, IntPerCell, PerCell

P = TypeVar("P", float, float | None)
# of what two findings list, from which on they are one cue: the share from which on PASCAL VOC
# takes two boxes for one thing (Everingham and others, 2010)
SAME_CUE = 0.5


def accuracy_gap_p_value(
    correct_without: IntPerCell,
    n_without: IntPerCell,
    correct_with: IntPerCell,
    n_with: IntPerCell,
) -> PerCell:
    """Exact one-sided permutation p-value of accuracy without minus accuracy with.

    Permuting who has the feature keeps the number of correct answers, so how many of them fall
    among those with it is hypergeometric, and the gap falls as that number grows. Small where
    accuracy with the feature is lower than chance assignment explains (Fisher's exact test).
    """
    right = correct_without + correct_with
    total = n_without + n_with
    tail = stats.hypergeom.cdf(correct_with, total, right, n_with)
    # a sum of probabilities may pass 1 by rounding
    return np.asarray(np.minimum(tail, 1.0))


class Overlap:
    """What sets have in common, beside what random ones of their sizes have."""

    @staticmethod
    def p_value(first: BoolPerSample, second: BoolPerSample) -> float:
        """Fisher's exact one-sided p-value (1935) that two properties meet more than by chance.

        With both margins fixed all is decided by how many samples have both.
        """
        both = (first & second).sum()
        n_first = first.sum()
        return float(stats.hypergeom.sf(both - 1, len(first), n_first, second.sum()))

    @staticmethod
    def chances(total: int, sizes: Sequence[int]) -> Float[np.ndarray, " count"]:
        """Chances that 0 to `total` things are common to sets of these sizes, each drawn at random.

        Exact: what is common to the sets so far is met by the next one as in an urn
        (hypergeometric).
        """
        counts = np.arange(total + 1)
        # before the first set all are common
        chance = (counts == total).astype(float)
        for size in sizes:
            chance = chance @ stats.hypergeom.pmf(counts, total, counts[:, None], size)
        return np.asarray(chance)

    @staticmethod
    def link(alike: Float[np.ndarray, "row row"]) -> list[list[int]]:
        """Rows in groups: connected components of those that have `SAME_CUE` or more in common.

        >>> Overlap.link(np.array([[1, 0.9, 0, 0], [0.9, 1, 0.5, 0], [0, 0.5, 1, 0], [0, 0, 0, 1]]))
        [[0, 1, 2], [3]]
        """
        count, group = connected_components(np.asarray(alike) >= SAME_CUE)
        return [np.flatnonzero(group == number).tolist() for number in range(count)]

    @staticmethod
    def dice(
        first: Set[tuple[str, int]], second: Set[tuple[str, int]], samples: Set[str]
    ) -> float:
        """Share of frames of these samples that two sets have in common (Dice, 1945); 0 of none."""
        one, other = (
            {frame for frame in frames if frame[0] in samples}
            for frames in (first, second)
        )
        return 2 * len(one & other) / max(len(one) + len(other), 1)

    @classmethod
    def link_findings(
        cls,
        abouts: Sequence[Hashable],
        names: Sequence[str | None],
        frames: Sequence[Set[tuple[str, int]]],
        runs: Sequence[int],
        seen: Sequence[Set[str]],
    ) -> list[list[int]]:
        """Rows of findings of several runs that are one cue; `seen` has the samples of each run.

        They are `abouts` the same, and have the same name, or list the same frames of samples that
        both runs saw: half of all or more (`dice`). No answer has a say in it.
        """
        alike = np.eye(len(abouts))
        for first, second in combinations(range(len(abouts)), 2):
            if abouts[first] != abouts[second] or runs[first] == runs[second]:
                continue
            share = 1.0
            if names[first] is None or names[first] != names[second]:
                both = seen[runs[first]] & seen[runs[second]]
                share = cls.dice(frames[first], frames[second], both)
            alike[[first, second], [second, first]] = share
        return cls.link(alike)


def cohen_kappa(first: BoolPerSample, second: BoolPerSample) -> float | None:
    """Agreement of two judges beyond chance (Cohen, 1960); None where chance agrees on all."""
    if len(first) == 0:
        return None
    yes = float(first.mean())
    other_yes = float(second.mean())
    chance = yes * other_yes + (1 - yes) * (1 - other_yes)
    if chance == 1:
        return None
    agreement = float((first == second).mean())
    return (agreement - chance) / (1 - chance)


def correlation_interval(r: float, n: int) -> tuple[float, float]:
    """95% interval of Pearson's r over n independent points (Fisher, 1921)."""
    # r itself is skewed near 1; its inverse hyperbolic tangent is nearly normal.
    reach = stats.norm.ppf(0.975) / np.sqrt(n - 3)
    # the inverse is infinite at -1 and 1
    middle = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected so that any false finding at all is rare (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    steps = np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    # The running maximum keeps the order: a larger p-value never gets a smaller one back.
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return adjusted.tolist()


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
    """Exact one-sided binomial p-value that `successes` of `n` come from more than `rate`.

    Clopper and Pearson, 1934.
    """
    # scipy refuses to test no trials, and nothing speaks for a higher rate
    if n == 0:
        return 1.0
    # scipy refuses a rate above 1
    test = stats.binomtest(successes, n, min(rate, 1.0), alternative="greater")
    return float(test.pvalue)


def uneven_p_value(counts: Sequence[int], expected: Sequence[float]) -> float:
    """p-value that counts differ from what is expected of them (Pearson, 1900)."""
    pairs = zip(counts, expected, strict=True)
    statistic = sum((count - mean) ** 2 / mean for count, mean in pairs if mean)
    return float(stats.chi2.sf(statistic, max(1, len(expected) - 1)))


def lower_p_value(values: Sequence[float], others: Sequence[float]) -> float:
    """One-sided p-value that values are lower than others (Mann and Whitney, 1947)."""
    return float(stats.mannwhitneyu(values, others, alternative="less").pvalue)
