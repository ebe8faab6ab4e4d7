"""Means over strata, changes against a margin and answers against labels: brute force, the null."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import (
    ChangePlan,
    Groups,
    Permutation,
    WeightedMeans,
    change_interval,
    change_p_value,
    mean_interval,
)
from cuescope_sdk.statistics._inversion import one_sided_p_value
from cuescope_sdk.statistics._weighted_means import MarginTest

RNG = np.random.default_rng


def test_a_weighted_mean_is_the_mean_of_the_strata() -> None:
    rng = RNG(0)
    stratum = np.repeat([0, 1, 2], [5, 20, 75])
    values = rng.random(100)
    means = WeightedMeans.over(stratum, Groups.single(100), unit=100.0)
    expected = 100 * np.mean([values[stratum == level].mean() for level in range(3)])
    assert means.mean(values) == pytest.approx(expected)


def test_one_stratum_has_the_intervals_of_plain_means() -> None:
    rng = RNG(1)
    values, change = rng.random(60), rng.integers(-1, 2, 60).astype(float)
    groups = Groups(np.repeat(np.arange(20), 3), 20, True)
    means = WeightedMeans.over(np.zeros(60, int), groups)
    assert means.mean_interval(values, 0.9) == mean_interval(
        values, groups, confidence=0.9
    )
    assert means.change_interval(change, 0.9) == change_interval(
        change, groups, confidence=0.9
    )


def test_intervals_of_weighted_means_cover() -> None:
    rng, missed, draws = RNG(2), 0, 400
    stratum = np.repeat([0, 1], [40, 160])
    means = WeightedMeans.over(stratum, Groups.single(200))
    rate = np.where(stratum == 0, 0.9, 0.3)
    for _ in range(draws):
        low, high = means.mean_interval((rng.random(200) < rate).astype(float), 0.95)
        missed += not low <= 0.6 <= high
    assert missed <= stats.binom.ppf(0.999, draws, 0.05)


def test_the_correlation_of_two_means_is_that_of_their_groups() -> None:
    first, second = RNG(3).random((2, 50))
    means = WeightedMeans.over(np.zeros(50, int), Groups.single(50))
    expected = np.corrcoef(first, second)[0, 1]
    assert means.correlation(first, second) == pytest.approx(expected)
    assert means.correlation(first, np.ones(50)) == 0


# ------------------------------------------------------------------- tests that invert intervals


def test_an_interval_gives_the_p_value_of_its_test() -> None:
    """Of a z interval: the p-value is that of the z test."""

    def above(z: float, confidence: float) -> float:
        return z - float(stats.norm.isf((1 - confidence) / 2))

    for z in (0.8, 1.7, 3.2):
        p_value = one_sided_p_value(partial(above, z))
        assert p_value == pytest.approx(stats.norm.sf(z), rel=1e-6)
    assert one_sided_p_value(lambda confidence: -confidence) == 1.0


def test_a_mean_is_above_a_threshold_as_the_binomial_says() -> None:
    right = (np.arange(100) < 62).astype(float)
    means = WeightedMeans.over(np.zeros(100, int), Groups.single(100), unit=100.0)
    exact = stats.binomtest(62, 100, 0.5, alternative="greater").pvalue
    assert means.above_p_value(right, 50.0) == pytest.approx(exact)


def margin_test(lost: float, rng: np.random.Generator) -> MarginTest:
    """Of 300 answers, 80% right, from which so many points are lost; the margin is 6 points."""
    before = (rng.random(300) < 0.8).astype(float)
    after = before * (rng.random(300) >= lost / 0.8)
    means = WeightedMeans.over(np.zeros(300, int), Groups.single(300))
    return means.margin_test(
        before, before - after, before.mean(), chance=0.2, share=0.1, least=0.02
    )


def test_at_the_margin_neither_is_said_more_often_than_promised() -> None:
    rng, above, below, draws = RNG(4), 0, 0, 300
    for _ in range(draws):
        test = margin_test(0.06, rng)
        above += test.above_p_value() <= 0.05
        below += test.below_p_value() <= 0.05
    assert max(above, below) <= stats.binom.ppf(0.999, draws, 0.05)


@pytest.mark.parametrize(("lost", "is_above"), [(0.3, True), (0.0, False)])
def test_far_from_the_margin_the_side_is_told(lost: float, is_above: bool) -> None:
    test = margin_test(lost, RNG(5))
    assert (test.above_p_value() <= 0.01) == is_above
    assert (test.below_p_value() <= 0.01) == (not is_above)


# ------------------------------------------------------------------------ changes and agreement


def test_what_one_stratum_loses_and_another_wins_is_seen() -> None:
    """Ten "no" lost and ten "yes" won: nothing happens to the mean, all to the answers."""
    before = np.repeat([True, False, True], [10, 10, 20])
    after = np.repeat([False, True, True], [10, 10, 20])
    answer = np.repeat([0, 1, 0], [10, 10, 20])
    change, single = before.astype(float) - after, Groups.single(40)
    assert change_p_value(change, single, RNG(0)) == 1.0
    p_value = change_p_value(change, single, RNG(0), strata=answer)
    assert p_value < 0.001
    assert change_p_value(change, single, RNG(0), strata=np.zeros(40, int)) == 1.0


def test_agreement_is_that_of_all_orders_of_the_labels() -> None:
    label, given = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 1, 2, 0, 2])
    weight = 1 / np.bincount(label)[label]
    orders = np.array(list(permutations(range(7))))
    values = (weight[orders] * (given == label[orders])).sum(axis=1)
    exact = float((values >= (weight * (given == label)).sum() - 1e-9).mean())
    answered, best = Permutation.agreement_p_values(
        given, label, label, RNG(0), resamples=4000
    )
    assert answered == pytest.approx(exact, abs=0.02)
    # one in 210 orders is all right
    assert best == pytest.approx(2 * 2 * 6 / 5040, abs=0.003)


def test_agreement_of_two_answers_is_fishers_test() -> None:
    label, given = RNG(6).integers(0, 2, (2, 30))
    table = [[int(((label == a) & (given == b)).sum()) for b in (1, 0)] for a in (1, 0)]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    answered, _ = Permutation.agreement_p_values(
        given, label, np.zeros(30, int), RNG(0)
    )
    assert answered == pytest.approx(expected)


def test_the_smallest_flip_share_is_found_in_8_of_10() -> None:
    share = ChangePlan(0.01).smallest_loss(300)
    assert share is not None
    needed = next(m for m in range(1, 50) if 2 / 2**m <= 0.01)
    assert stats.binom.sf(needed - 1, 300, share) == pytest.approx(0.8)
    assert ChangePlan(0.01).smallest_loss(7) is None
