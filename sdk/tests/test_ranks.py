"""AUROC, rank tests and correlations, and bootstraps of groups, against scipy and scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from cuescope_sdk.statistics import Correlation, Estimate, Roc, student_interval
from cuescope_sdk.statistics._resampling import stratified_orders

RNG = np.random.default_rng


def test_auroc_counts_pairs() -> None:
    scores, shows = np.array([1.0, 2, 2, 3]), np.array([False, True, False, True])
    assert Roc(scores, shows).auroc() == pytest.approx(3.5 / 4)
    assert Roc(scores, np.full(4, True)).auroc() is None
    assert Roc(scores, np.full(4, False)).auroc() is None


def test_auroc_is_scikit_learns() -> None:
    rng = RNG(0)
    for _ in range(20):
        scores = rng.integers(0, 6, 40).astype(float)
        positive = rng.random(40) < 0.3
        assert Roc(scores, positive).auroc() == pytest.approx(
            roc_auc_score(positive, scores)
        )


def test_a_matched_auroc_knows_no_difference_of_strata() -> None:
    """The stratum makes all scores; within strata they tell nothing."""
    stratum = np.repeat(["low", "high"], 4)
    positive = np.array([True, False, False, False, True, True, True, False])
    scores = np.repeat([0.0, 1.0], 4)
    assert Roc(scores, positive).auroc() == pytest.approx(0.75)
    assert Roc(scores, positive).auroc(stratum) == pytest.approx(0.5)
    whole = stratum == "low"
    assert Roc(scores, whole).auroc(stratum) == Roc(scores, whole).auroc()


def test_a_matched_auroc_weighs_strata_by_their_smaller_side() -> None:
    stratum = np.array([0, 0, 1, 1, 1, 1])
    positive = np.array([True, False, True, True, False, False])
    scores = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    assert Roc(scores, positive).auroc(stratum) == pytest.approx(
        (1 * 1.0 + 2 * 0.0) / 3
    )


def test_mann_whitney_is_that_of_all_splits() -> None:
    """Without ties and with few numbers scipy's test is exact: every split by hand."""
    first, second = np.array([3.0, 5.0, 7.0]), np.array([1.0, 2.0, 4.0, 6.0])
    every = np.concatenate([first, second])
    ranks = stats.rankdata(every)
    observed = ranks[:3].sum()
    sums = [ranks[list(chosen)].sum() for chosen in combinations(range(7), 3)]
    share = np.mean(np.array(sums) >= observed)
    assert Roc.of(first, second).p_value() == pytest.approx(share)
    with pytest.raises(ValueError, match="both sides"):
        Roc.of(first, first[:0]).p_value()


def test_rank_correlation_is_pearsons_of_ranks() -> None:
    first, second = RNG(1).integers(0, 9, (2, 30)).astype(float)
    ranks = stats.rankdata(first), stats.rankdata(second)
    assert Correlation.spearman(first, second) == pytest.approx(
        np.corrcoef(*ranks)[0, 1]
    )


def test_a_rank_correlation_and_its_draws_are_scipys() -> None:
    rng = RNG(2)
    levels = np.array([0.0, 0.5, 1.0])
    values = levels[:, None] + rng.normal(0, 0.5, (3, 6))
    flat = np.repeat(levels, 6)
    rho, low, high = Correlation.spearman_interval(
        levels, values, RNG(3), resamples=300
    )
    assert rho == pytest.approx(stats.spearmanr(flat, values.ravel()).statistic)
    source, draws = RNG(3), []
    for places in source.integers(6, size=(300, 3, 6)):
        drawn = np.take_along_axis(values, places, axis=1)
        draws.append(stats.spearmanr(flat, drawn.ravel()).statistic)
    assert (low, high) == pytest.approx(tuple(np.quantile(draws, (0.025, 0.975))))


# ------------------------------------------------------------------------ Student's and Fisher's


def test_students_interval_is_scipys() -> None:
    values = RNG(5).normal(2, 3, 12)
    for confidence in (0.9, 0.95):
        ends = stats.ttest_1samp(values, 0).confidence_interval(confidence)
        assert student_interval(values, confidence=confidence) == pytest.approx(
            tuple(ends)
        )
    with pytest.raises(ValueError, match="two numbers"):
        student_interval(values[:1])


def test_pearsons_interval_is_scipys() -> None:
    first, second = RNG(6).normal(size=(2, 20))
    pearson = stats.pearsonr(first, second)
    expected = (pearson.statistic, *pearson.confidence_interval())
    assert Correlation.pearson_interval(first, second) == pytest.approx(expected)
    assert Correlation.pearson_interval(first[:3], second[:3])[1:] == (-1.0, 1.0)


def test_a_difference_of_two_figures_is_newcombes() -> None:
    """Of two shares with Wilson's intervals: the example of Newcombe (1998), 56/70 and 48/80."""
    shares = []
    for right, count in ((56, 70), (48, 80)):
        interval = stats.binomtest(right, count).proportion_ci(method="wilson")
        shares.append(Estimate(right / count, interval.low, interval.high))
    difference = shares[0].minus(shares[1])
    ends = difference.low, difference.high
    assert ends == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_orders_keep_samples_in_their_stratum() -> None:
    stratum = np.array(["a", "b", "a", "b", "a"])
    orders = stratified_orders(stratum, 3000, RNG(8))
    assert (stratum[orders] == stratum).all()
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 12  # 3! orders of one stratum, 2! of the other
    assert stats.chisquare(counts).pvalue > 0.001
