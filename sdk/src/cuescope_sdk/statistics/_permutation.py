"""Tests that permute what was drawn together: whole groups, within strata."""

from itertools import permutations
from math import factorial

import numpy as np
from jaxtyping import Int, Shaped
from numpy.random import Generator

from cuescope_sdk.statistics._groups import Groups
from cuescope_sdk.statistics._resampling import (
    AT_ONCE,
    RESAMPLES,
    TIE,
    monte_carlo_p_value,
    portions,
    stratified_orders,
)
from cuescope_sdk.statistics._shapes import (
    BoolSampleByCell,
    DrawByCell,
    IntOrderBySample,
    IntPerSample,
    PerCell,
    PerSample,
    SampleByCell,
)
from cuescope_sdk.statistics._tests import Overlap, accuracy_gap_p_value

ALL_ORDERS = 10_000  # so many are tried one by one
DRAWS = 100_000  # at most, where there are more
# a cell is done once so many draws reached it: its p-value is then known to 14%
REACHED = 50


def gap_p_values(
    values: PerSample,
    present: BoolSampleByCell,
    groups: Groups,
    rng: Generator,
    *,
    draws: int = DRAWS,
) -> PerCell:
    """One-sided p-values that values are lower where a feature is present, one a column.

    Under the null the values of a group could have been another group's: whole groups change
    places, in the order of their samples, and whatever is alike within a group stays together. A
    group of another size is stretched to its place. Exact for right and wrong answers of single
    groups (the hypergeometric test of Fisher) and where there are few orders; else Monte Carlo with
    at most so many `draws`, stopped where the p-value is known to about 14% (Besag and Clifford,
    1991).
    """
    values = np.asarray(values, dtype=float)
    if groups.all_single and np.isin(values, (0.0, 1.0)).all():
        return _fisher(values, present)
    centred = present - np.mean(present, axis=0)
    residuals = values - values.mean()
    # at 5%, 0% to 6.0% of simulated audits raised an alarm (docs/statistics.md)
    orders = GroupOrders(groups)
    largest = max(np.abs(residuals).max(initial=0.0), 1.0)
    scale = np.abs(centred).sum(axis=0) * largest + 1.0
    # the same terms add up otherwise in another order, and a tie must count as one
    limit = residuals @ centred + TIE * scale
    if orders.count <= ALL_ORDERS:
        statistics = residuals[orders.all()] @ centred
        return np.asarray((statistics <= limit).mean(axis=0))
    return _sequential(residuals, centred, limit, orders, rng, draws)


def _fisher(values: PerSample, present: BoolSampleByCell) -> PerCell:
    with_feature = np.asarray(present, dtype=float)
    counts = []
    for side in (1 - with_feature, with_feature):
        counts += [values @ side, side.sum(axis=0)]
    return accuracy_gap_p_value(*np.rint(counts).astype(int))


class GroupOrders:
    """Where each sample's value comes from, as whole groups change places."""

    def __init__(self, groups: Groups) -> None:
        codes = groups.codes
        by_group = np.argsort(codes, kind="stable")  # samples, group after group
        self._sizes = np.bincount(codes, minlength=groups.count)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._place = np.empty(len(codes), dtype=int)  # of a sample within its group
        starts = self._starts[codes[by_group]]
        self._place[by_group] = np.arange(len(codes)) - starts
        self._by_group = by_group
        self._codes = codes

    @property
    def count(self) -> int:
        # 20! is far beyond ALL_ORDERS already, and larger ones only take time
        return factorial(min(len(self._sizes), 20))

    def all(self) -> IntOrderBySample:
        orders = list(permutations(range(len(self._sizes))))
        return self._samples(np.array(orders))

    def draw(self, count: int, rng: Generator) -> IntOrderBySample:
        one_stratum = np.zeros(len(self._sizes), dtype=int)
        return self._samples(stratified_orders(one_stratum, count, rng))

    def _samples(self, orders: Int[np.ndarray, "order group"]) -> IntOrderBySample:
        source = orders.take(self._codes, axis=1)  # much faster than orders[:, codes]
        place = self._place
        # a longer group is thinned out, a shorter one repeats its samples
        if np.ptp(self._sizes):
            # the one step that is not exact; it was simulated (docs/statistics.md)
            place = place * self._sizes.take(source) // self._sizes[self._codes]
        return self._by_group.take(self._starts.take(source) + place)


def _sequential(
    residuals: PerSample,
    centred: SampleByCell,
    limit: PerCell,
    orders: GroupOrders,
    rng: Generator,
    draws: int,
) -> PerCell:
    """Draws until REACHED of them are as low as the cell, or all are made."""
    p_values = np.ones(len(limit))
    reached = np.zeros(len(limit), dtype=int)
    drawn = 0
    open_cells = np.arange(len(limit))
    while len(open_cells) and drawn < draws:
        in_memory = max(AT_ONCE // len(residuals), 1)
        # cells with a p-value above 5% are done within the first thousand
        few = 1000 if drawn < 1000 else 10_000
        count = min(in_memory, few, draws - drawn)
        statistics = residuals[orders.draw(count, rng)] @ centred[:, open_cells]
        is_low = statistics <= limit[open_cells]
        totals = reached[open_cells] + np.cumsum(is_low, axis=0)
        done = totals[-1] >= REACHED
        last = (totals >= REACHED).argmax(axis=0)
        # the draws up to the last that was needed (Besag and Clifford, 1991)
        p_values[open_cells[done]] = REACHED / (drawn + last[done] + 1)
        reached[open_cells] = totals[-1]
        drawn += count
        open_cells = open_cells[~done]
    # the data is one of the draws, so no p-value is 0
    p_values[open_cells] = (1 + reached[open_cells]) / (1 + drawn)
    return p_values


class Permutation:
    """Tests that deal anew what could as well have been another's."""

    orders = staticmethod(stratified_orders)
    p_value = staticmethod(monte_carlo_p_value)

    @staticmethod
    def agreement_p_values(
        given: IntPerSample,
        label: IntPerSample,
        stratum: IntPerSample,
        rng: Generator,
        *,
        resamples: int = RESAMPLES,
    ) -> tuple[float, float]:
        """p-values that answers know nothing of the labels, one-sided: theirs and the best.

        Among all orders of the labels, so that it holds however often each answer is given. Of two
        answers this is the exact test of Fisher (1935), of more a permutation test of the mean over
        strata. The best is what the test gives where all is right: above the level there are too
        few samples to tell.
        """
        if max(label.max(), given.max()) <= 1:
            # With the overlap rises every mean of the two recalls, so it is exact for all of them.
            is_yes = label == 1
            return Overlap.p_value(is_yes, given == 1), Overlap.p_value(is_yes, is_yes)
        # Each label weighs as much as in the mean, less the constant number of strata.
        weight = 1 / np.bincount(stratum)[stratum]
        answers = np.stack([given, label])
        agreement = np.where(answers == label, weight, 0.0).sum(axis=1)
        reached = np.zeros(2, dtype=int)
        for count in portions(resamples, len(label)):
            # the same orders for the answers and for the best
            orders = np.stack([rng.permutation(len(label)) for _ in range(count)])
            dealt = label.take(orders)
            weights = weight.take(orders)
            for row, own in enumerate(answers):
                agreed = np.where(own == dealt, weights, 0.0).sum(axis=1)
                reached[row] += int((agreed >= agreement[row] - TIE).sum())
        p_value, best = (monte_carlo_p_value(int(n), resamples) for n in reached)
        return p_value, best

    @staticmethod
    def chance_accuracy(
        answers: Shaped[np.ndarray, " sample"],
        labels: Shaped[np.ndarray, " sample"],
        groups: Groups,
        rng: Generator,
    ) -> tuple[float, float]:
        """The accuracy of the same answers dealt out at random, and the p-value of doing no better.

        The labels of whole groups change places, so one answer given always, or mostly, is no
        better than chance however common its class is.
        """
        # an answer may be no label of these samples, and a label may never be given
        names, codes = np.unique(np.concatenate([answers, labels]), return_inverse=True)
        is_name = np.eye(len(names))[codes]
        given = groups.sums(is_name[: len(answers)])
        true = groups.sums(is_name[len(answers) :])
        # groups of unlike size change places, so each brings its shares of the labels
        true /= true.sum(axis=1, keepdims=True)
        observed = float((given * true).sum())
        dealt = np.empty(RESAMPLES)
        for draw in range(RESAMPLES):
            shuffled = true[rng.permutation(groups.count)]
            dealt[draw] = (given * shuffled).sum()
        reached = int((dealt >= observed - TIE).sum())
        return float(dealt.mean()) / len(answers), monte_carlo_p_value(
            reached, RESAMPLES
        )


def step_down_max(observed: PerCell, draws: DrawByCell) -> PerCell:
    """p-values corrected for all cells at once, by the largest of each draw (Westfall and Young).

    Large is extreme, in `observed` and in the `draws` under the null, whose columns belong together
    as the cells do: what the cells have in common costs nothing. Any false finding at all is rare.
    """
    order = np.argsort(-observed, kind="stable")[::-1]  # the least extreme cell first
    # of each cell and all that are less extreme
    largest = np.maximum.accumulate(draws[:, order], axis=1)
    reached = (largest >= observed[order] - TIE).sum(axis=0)
    steps = (1 + reached) / (1 + len(draws))
    p_values = np.empty(len(observed))
    # a less extreme cell never gets a smaller p-value
    p_values[order[::-1]] = np.maximum.accumulate(steps[::-1])
    return p_values
