"""Tests that permute what was drawn together: whole groups, within strata."""

from collections.abc import Callable
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Literal

import numpy as np
from jaxtyping import Float, Int, Shaped
from scipy import stats

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._resampling import permutation_p_value
from cuescope_sdk.statistics._shapes import (
    BoolSampleByCell,
    DrawByCell,
    IntOrderBySample,
    IntPerGroup,
    IntPerSample,
    PerCell,
    PerSample,
    SampleByCell,
)
from cuescope_sdk.statistics._tests import accuracy_gap_p_value, overlap_p_value

Alternative = Literal["two-sided", "greater", "less"]
ALL_ORDERS = 10_000  # so many are tried one by one
DRAWS = 100_000  # at most, where there are more
REACHED = 50  # a cell is done once so many draws reached it: its p-value is then known to 14%
PORTION = 2_000_000  # numbers of a draw that are in memory together
TIE = 1e-9


def gap_p_values(
    values: PerSample,
    present: BoolSampleByCell,
    groups: Groups,
    rng: np.random.Generator,
    *,
    strata: IntPerSample | None = None,
    draws: int = DRAWS,
) -> PerCell:
    """One-sided p-values that values are lower where a feature is present, one a column.

    Under the null the values of a group could have been another group's of the same stratum:
    whole groups change places, in the order of their samples, and whatever is alike within a
    group stays together. A group of another size is stretched to its place. A group that lies in
    several strata moves within the one in which most of it is, by how much its values differ from
    their strata's means. Exact for right and wrong answers of single groups (the hypergeometric
    test of Fisher) and where there are few orders; else Monte Carlo with at most so many `draws`,
    stopped where the p-value is known to about 14% (Besag and Clifford, 1991).
    """
    values = np.asarray(values, dtype=float)
    everywhere = np.zeros(len(values), dtype=int)
    strata = everywhere if strata is None else strata
    if groups.all_single and np.ptp(strata) == 0 and np.isin(values, (0.0, 1.0)).all():
        return _fisher(values, present)
    centred = np.array(present, dtype=np.float64)
    residuals = values.copy()
    for stratum in np.unique(strata):
        part = strata == stratum
        centred[part] -= centred[part].mean(axis=0)
        residuals[part] -= residuals[part].mean()
    orders = _Orders(groups, groups.strata(strata))
    scale = np.abs(centred).sum(axis=0) * max(np.abs(residuals).max(initial=0.0), 1.0) + 1.0
    limit = residuals @ centred + TIE * scale
    if orders.count <= ALL_ORDERS:
        statistics = residuals[orders.all()] @ centred
        return np.asarray((statistics <= limit).mean(axis=0))
    return _sequential(residuals, centred, limit, orders, rng, draws)


def _fisher(values: PerSample, present: BoolSampleByCell) -> PerCell:
    with_feature = np.asarray(present, dtype=float)
    sides = 1 - with_feature, with_feature
    counts = [count for side in sides for count in (values @ side, side.sum(axis=0))]
    return accuracy_gap_p_value(*(np.rint(count).astype(int) for count in counts))


class _Orders:
    """Where each sample's value comes from, as whole groups change places within strata."""

    def __init__(self, groups: Groups, stratum: IntPerGroup) -> None:
        codes = groups.codes
        self._by_group = np.argsort(codes, kind="stable")  # samples, group after group
        self._sizes = np.bincount(codes, minlength=groups.count)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._place = np.empty(len(codes), dtype=int)  # of a sample within its group
        self._place[self._by_group] = np.arange(len(codes)) - self._starts[codes[self._by_group]]
        self._codes = codes
        self._strata = [np.flatnonzero(stratum == value) for value in np.unique(stratum)]

    @property
    def count(self) -> int:
        return prod(factorial(min(len(members), 20)) for members in self._strata)

    def all(self) -> IntOrderBySample:
        choices = [permutations(members.tolist()) for members in self._strata]
        orders = np.empty((self.count, len(self._sizes)), dtype=int)
        orders[:, np.concatenate(self._strata)] = [
            list(chain.from_iterable(order)) for order in product(*choices)
        ]
        return self._samples(orders)

    def draw(self, count: int, rng: np.random.Generator) -> IntOrderBySample:
        orders = np.empty((count, len(self._sizes)), dtype=int)
        for members in self._strata:
            orders[:, members] = rng.permuted(np.tile(members, (count, 1)), axis=1)
        return self._samples(orders)

    def _samples(self, orders: Int[np.ndarray, "order group"]) -> IntOrderBySample:
        source = orders.take(self._codes, axis=1)  # much faster than orders[:, codes]
        if (self._sizes == self._sizes[0]).all():
            place = self._place
        else:  # a longer group is thinned out, a shorter one repeats its samples
            place = self._place * self._sizes.take(source) // self._sizes[self._codes]
        return self._by_group.take(self._starts.take(source) + place)


def _sequential(
    residuals: PerSample,
    centred: SampleByCell,
    limit: PerCell,
    orders: _Orders,
    rng: np.random.Generator,
    draws: int,
) -> PerCell:
    """Draws until REACHED of them are as low as the cell, or all are made."""
    p_values = np.ones(len(limit))
    reached = np.zeros(len(limit), dtype=int)
    drawn = 0
    open_cells = np.arange(len(limit))
    while len(open_cells) and drawn < draws:
        count = min(max(PORTION // len(residuals), 1), 1000 if drawn < 1000 else 10_000)
        count = min(count, draws - drawn)
        statistics = residuals[orders.draw(count, rng)] @ centred[:, open_cells]
        totals = reached[open_cells] + np.cumsum(statistics <= limit[open_cells], axis=0)
        done = totals[-1] >= REACHED
        last = (totals >= REACHED).argmax(axis=0)
        p_values[open_cells[done]] = REACHED / (drawn + last[done] + 1)
        reached[open_cells] = totals[-1]
        drawn += count
        open_cells = open_cells[~done]
    p_values[open_cells] = (1 + reached[open_cells]) / (1 + drawn)
    return p_values


def change_p_value(
    change: PerSample,
    groups: Groups,
    rng: np.random.Generator,
    *,
    alternative: Alternative = "two-sided",
) -> float:
    """p-value that paired changes, after minus before, have a mean of 0.

    Under the null a group's before and after could be exchanged. For right and wrong answers of
    single groups this is the exact test of McNemar (1947), else the signs of whole groups' sums
    are flipped: all ways where there are few, random ones else.
    """
    sums = groups.sums(np.asarray(change, dtype=float))
    sums = sums[np.abs(sums) > TIE]
    if len(sums) == 0:
        return 1.0
    if np.ptp(np.abs(sums)) < TIE:
        gained = int((sums > 0).sum())
        return float(stats.binomtest(gained, len(sums), 0.5, alternative=alternative).pvalue)
    if 2 ** len(sums) <= ALL_ORDERS:
        flips = np.array(list(product((1.0, -1.0), repeat=len(sums))))
    else:
        count = min(DRAWS, 10 * PORTION // len(sums))
        flips = rng.integers(0, 2, (count, len(sums)), dtype=np.int8) * 2.0 - 1.0
    totals = flips @ sums
    observed = sums.sum()
    scale = TIE * np.abs(sums).sum()

    def share(side: Float[np.ndarray, " flip"], own: float) -> float:
        hits = int((side >= own - scale).sum())
        exact = len(flips) == 2 ** len(sums)
        return hits / len(flips) if exact else (1 + hits) / (1 + len(flips))

    if alternative == "greater":
        return share(totals, float(observed))
    if alternative == "less":
        return share(-totals, -float(observed))
    return share(np.abs(totals), abs(float(observed)))


def stratified_change_p_value(
    change: PerSample, stratum: IntPerSample, groups: Groups, rng: np.random.Generator
) -> float:
    """`change_p_value` of one stratum; of several the smallest, times their number (Bonferroni).

    In a mean over strata one can lose what another wins, which one test of all would not see.
    """
    parts = [stratum == level for level in np.unique(stratum)]
    p_values = [change_p_value(change[part], groups.take(part), rng) for part in parts]
    return min(1.0, len(parts) * min(p_values))


def agreement_p_values(
    given: IntPerSample,
    label: IntPerSample,
    stratum: IntPerSample,
    rng: np.random.Generator,
    *,
    resamples: int = 2000,
) -> tuple[float, float]:
    """One-sided p-values that answers know nothing of the labels: theirs, and the best there is.

    Among all orders of the labels, so that it holds however often each answer is given. Of two
    answers this is the exact test of Fisher (1935), of more a permutation test of the mean over
    strata. The best is what the test gives where all is right: above the level there are too few
    samples to tell.
    """
    if max(label.max(), given.max()) <= 1:
        # With the overlap rises every mean of the two recalls, so it is exact for all of them.
        is_yes = label == 1
        return overlap_p_value(is_yes, given == 1), overlap_p_value(is_yes, is_yes)
    # Each label weighs as much as in the mean, less the constant number of strata.
    weight = 1 / np.bincount(stratum)[stratum]

    def agreement(answers: IntPerSample) -> Callable[..., float]:
        return lambda order: float(weight[order][answers == label[order]].sum())

    # the same orders for the answers and for the best
    orders = [rng.permutation(len(label)) for _ in range(resamples)]
    answered = permutation_p_value(agreement(given), orders)
    return answered, permutation_p_value(agreement(label), orders)


def chance_accuracy(
    answers: Shaped[np.ndarray, " sample"],
    labels: Shaped[np.ndarray, " sample"],
    groups: Groups,
    rng: np.random.Generator,
    *,
    draws: int = 2000,
) -> tuple[float, float]:
    """The accuracy of the same answers dealt out at random, and the p-value of doing no better.

    The labels of whole groups change places, so one answer given always, or mostly, is no better
    than chance however common its class is.
    """
    names, codes = np.unique(np.concatenate([answers, labels]), return_inverse=True)
    given, true = (groups.sums(np.eye(len(names))[part]) for part in np.split(codes, 2))
    true /= true.sum(axis=1, keepdims=True)
    observed = float((given * true).sum())
    dealt = np.array([(given * true[rng.permutation(groups.count)]).sum() for _ in range(draws)])
    p_value = (1 + (dealt >= observed - TIE).sum()) / (1 + draws)
    return float(dealt.mean()) / len(answers), float(p_value)


def step_down_max(observed: PerCell, draws: DrawByCell) -> PerCell:
    """p-values corrected for all cells at once, by the largest of each draw (Westfall and Young).

    Large is extreme, in `observed` and in the `draws` under the null, whose columns belong together
    as the cells do: what the cells have in common costs nothing. Any false finding at all is rare.
    """
    order = np.argsort(-observed, kind="stable")
    # of each cell and all that are less extreme
    largest = np.maximum.accumulate(draws[:, order[::-1]], axis=1)[:, ::-1]
    reached = (largest >= observed[order] - TIE).sum(axis=0)
    p_values = np.empty(len(observed))
    p_values[order] = np.maximum.accumulate((1 + reached) / (1 + len(draws)))
    return p_values
