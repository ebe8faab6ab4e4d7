"""Statistics against brute force: every permutation, every resample."""

from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.maths import (
    _resampling as resampling,
    _stats as ours,
    accuracy_gap_interval,
    accuracy_gap_p_value,
    benjamini_hochberg,
    bootstrap_cluster_means,
    bootstrap_gap_interval,
    bootstrap_interval,
    bootstrap_mean_interval,
    correlation_interval,
    exceeds_rate_p_value,
    exchange_p_value,
    holm,
    mcnemar_p_value,
    overlap_p_value,
    permutation_p_value,
    sign_flip_p_value,
    single_gap_p_value,
    wilson_interval,
)


def cell(*counts: int) -> tuple[np.ndarray, ...]:
    return tuple(np.array([count]) for count in counts)


@pytest.mark.parametrize("counts", [(3, 4, 1, 3), (2, 5, 2, 2), (0, 3, 2, 4), (4, 4, 0, 4)])
def test_p_value_is_that_of_every_permutation(counts: tuple[int, int, int, int]) -> None:
    right_without, without, right_with, n_with = counts
    right = np.arange(without + n_with) < right_without + right_with
    gap = right_without / without - right_with / n_with
    as_large = [
        np.delete(right, chosen).mean() - right[list(chosen)].mean() >= gap - 1e-12
        for chosen in combinations(range(len(right)), n_with)
    ]
    assert accuracy_gap_p_value(*cell(*counts))[0] == pytest.approx(np.mean(as_large))
    assert single_gap_p_value(*counts) == accuracy_gap_p_value(*cell(*counts))[0]


@pytest.mark.parametrize("counts", [(3, 4, 1, 3), (2, 3, 2, 4), (1, 1, 0, 2), (3, 3, 2, 2)])
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
def test_interval_is_that_of_every_resample(
    counts: tuple[int, int, int, int], confidence: float
) -> None:
    right_without, without, right_with, n_with = counts
    first = (np.arange(without) < right_without).astype(float)
    second = (np.arange(n_with) < right_with).astype(float)
    gaps = np.sort(
        [
            first[list(a)].mean() - second[list(b)].mean()
            for a in product(range(without), repeat=without)
            for b in product(range(n_with), repeat=n_with)
        ]
    )
    tail = (1 - confidence) / 2
    expected = [np.quantile(gaps, q, method="inverted_cdf") for q in (tail, 1 - tail)]
    low, high = accuracy_gap_interval(*cell(*counts), confidence=confidence)
    assert [low[0], high[0]] == pytest.approx(expected, abs=1e-8)


def test_interval_matches_monte_carlo_on_larger_cells() -> None:
    counts = tuple(np.array(c) for c in ([70, 18], [100, 20], [9, 40], [30, 60]))
    low, high = accuracy_gap_interval(*counts)
    rng = np.random.default_rng(0)
    right_without, without, right_with, n_with = counts
    drawn = (
        rng.binomial(without, right_without / without, (200_000, 2)) / without
        - rng.binomial(n_with, right_with / n_with, (200_000, 2)) / n_with
    )
    assert np.stack([low, high]) == pytest.approx(
        np.quantile(drawn, [0.025, 0.975], axis=0), abs=0.006
    )


def test_cells_do_not_mix(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    without, n_with = rng.integers(1, 30, (2, 50))
    counts = (rng.integers(0, without + 1), without, rng.integers(0, n_with + 1), n_with)
    together = np.stack(accuracy_gap_interval(*counts))
    monkeypatch.setattr(ours, "CHUNK", 64)
    assert np.array_equal(np.stack(accuracy_gap_interval(*counts)), together)
    for index in range(0, 50, 7):
        alone = np.stack(accuracy_gap_interval(*(count[index : index + 1] for count in counts)))
        assert np.array_equal(alone[:, 0], together[:, index])


def test_no_cells_give_no_figures_and_an_empty_group_is_refused() -> None:
    nothing = (np.array([], dtype=np.int64),) * 4
    assert accuracy_gap_p_value(*nothing).shape == accuracy_gap_interval(*nothing)[0].shape == (0,)
    with pytest.raises(ValueError, match="empty group"):
        accuracy_gap_interval(*cell(1, 2, 0, 0))


def test_q_values_by_hand_with_tests_that_were_not_made() -> None:
    assert benjamini_hochberg([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.04, 0.04])
    assert benjamini_hochberg([None, None]) == [None, None]
    assert benjamini_hochberg([]) == []


def test_mean_interval_agrees_with_the_normal_one_and_is_seeded() -> None:
    values = np.random.default_rng(2).normal(3.0, 2.0, 400)
    low, high = bootstrap_mean_interval(values, np.random.default_rng(0), resamples=4000)
    half = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02)
    again = bootstrap_mean_interval(values, np.random.default_rng(0), resamples=4000)
    assert again == (low, high)
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_mean_interval(values[:0], np.random.default_rng(0))


def test_exceeding_a_rate_is_the_binomial_tail() -> None:
    assert exceeds_rate_p_value(10, 10, 0.5) == pytest.approx(0.5**10)
    assert exceeds_rate_p_value(3, 10, 0.2) == pytest.approx(stats.binom.sf(2, 10, 0.2))
    assert exceeds_rate_p_value(0, 0, 0.2) == 1.0


def test_flipped_signs_err_at_their_level() -> None:
    rng = np.random.default_rng(0)
    p_values = [sign_flip_p_value(rng.normal(size=12), rng) for _ in range(300)]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.05)
    assert sign_flip_p_value(rng.normal(1.5, 1, 12), rng) < 0.01


def test_few_samples_prove_nothing() -> None:
    rng = np.random.default_rng(0)
    assert sign_flip_p_value(np.array([1.0]), rng) == pytest.approx(0.5, abs=0.05)
    assert sign_flip_p_value(np.array([]), rng) == 1
    assert exchange_p_value(np.array([1.0]), np.zeros((1, 5)), rng) == pytest.approx(
        1 / 6, abs=0.03
    )


def test_zero_is_not_above_zero() -> None:
    assert sign_flip_p_value(np.zeros(50), np.random.default_rng(0)) == 1


def test_exchanged_traces_err_at_their_level() -> None:
    rng = np.random.default_rng(0)
    drawn = [rng.random((10, 6)) for _ in range(300)]
    p_values = [exchange_p_value(rows[:, 0], rows[:, 1:], rng) for rows in drawn]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.05)
    assert exchange_p_value(np.full(10, 0.9), rng.random((10, 5)), rng) < 0.01


def test_bootstrap_leaves_out_draws_without_a_figure() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    rng = np.random.default_rng(0)

    def mean_without_first(index: np.ndarray) -> float | None:
        return None if 0 in index else float(values[index].mean())

    interval = bootstrap_interval(mean_without_first, 4, rng, confidence=0.9, resamples=500)
    low, high = interval or (0, 0)
    assert 1 <= low < high <= 3
    assert bootstrap_interval(lambda index: None, 4, rng, confidence=0.9, resamples=10) is None
    assert bootstrap_interval(lambda index: 1.0, 0, rng, confidence=0.9, resamples=10) is None


def test_sign_flips_against_all_of_them() -> None:
    values = np.array([0.3, -0.1, 0.5, 0.2, 0.05, -0.02])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    exact = (values @ signs >= values.sum() - 1e-12).mean()
    for dtype in (np.int8, np.int64):
        rng = np.random.default_rng(0)
        p_value = sign_flip_p_value(values, rng, draws=10_000, dtype=dtype)
        assert p_value == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(("count", "n"), [(0, 5), (3, 7), (12, 14), (9, 9)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilson_interval_in_closed_form(count: int, n: int, confidence: float) -> None:
    z = stats.norm.ppf((1 + confidence) / 2)
    centre = (count + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * np.sqrt(count * (n - count) / n + z**2 / 4)
    expected = centre - half, centre + half
    assert wilson_interval(count, n, confidence=confidence) == pytest.approx(expected)
    assert wilson_interval(0, 0) == (None, None)


def before_and_after(same: int, lost: int, won: int, never: int) -> tuple[np.ndarray, np.ndarray]:
    """Right before, and right after, of so many samples."""
    before = np.repeat([True, True, False, False], [same, lost, won, never])
    return before, np.repeat([True, False, True, False], [same, lost, won, never])


def test_mcnemar_by_hand() -> None:
    # 6 lost and 1 won: of 7 fair coins, at most 1 or at least 6 heads.
    by_hand = 2 * sum(comb(7, heads) for heads in (0, 1)) / 2**7
    assert mcnemar_p_value(*before_and_after(10, 6, 1, 3)) == pytest.approx(by_hand)
    assert by_hand == pytest.approx(0.125)
    assert mcnemar_p_value(*before_and_after(10, 3, 3, 3)) == 1.0
    assert mcnemar_p_value(*before_and_after(10, 0, 0, 3)) == 1.0
    assert mcnemar_p_value(*before_and_after(0, 20, 0, 0)) == pytest.approx(2 / 2**20)


def test_draws_of_clusters_against_plain_resampling() -> None:
    """The same statistic by repeating the samples of every drawn cluster."""
    rng = np.random.default_rng
    values = rng(1).normal(size=(40, 3))
    stratum, cluster = rng(2).integers(0, 2, 40), rng(3).integers(0, 9, 40)
    draws = bootstrap_cluster_means(values, cluster, stratum, rng(4), resamples=50)
    names = np.unique(cluster)
    times = rng(4).multinomial(len(names), np.full(len(names), 1 / len(names)), size=50)
    for row, counts in zip(draws, times, strict=True):
        repeated = np.repeat(names, counts)
        index = np.concatenate([np.flatnonzero(cluster == name) for name in repeated])
        means = [values[index[stratum[index] == part]].mean(axis=0) for part in (0, 1)]
        assert row == pytest.approx(np.mean(means, axis=0))


def test_the_overlap_of_two_properties_is_fishers_exact_test() -> None:
    draws = np.random.default_rng(1)
    for _ in range(20):
        given, label = draws.integers(0, 2, (2, 25))
        table = [[int(((given == a) & (label == b)).sum()) for b in (1, 0)] for a in (1, 0)]
        expected = stats.fisher_exact(table, alternative="greater").pvalue
        assert overlap_p_value(given == 1, label == 1) == pytest.approx(expected)


def test_interval_covers_what_two_binomials_have() -> None:
    """Bootstrap of k zero-one rates: the difference of two binomials, whose spread is known."""
    top, bottom = np.repeat([1.0, 0], [40, 10]), np.repeat([1.0, 0], [20, 30])
    low, high = bootstrap_gap_interval(top, bottom, np.random.default_rng(0), resamples=20_000)
    spread = np.sqrt(0.8 * 0.2 / 50 + 0.4 * 0.6 / 50)
    assert (low, high) == pytest.approx((0.4 - 1.96 * spread, 0.4 + 1.96 * spread), abs=0.02)


def test_orders_in_some_or_all() -> None:
    x, y = np.array([1.0, 2, 4, 3, 7]), np.array([0.0, 3, 2, 5, 6])
    orders = [np.array(order) for order in permutations(range(5))]
    values = [float(x @ y[order]) for order in orders]
    exact = np.mean([value >= x @ y for value in values])

    def product_of(order: np.ndarray) -> float:
        return float(x @ y[order])

    assert permutation_p_value(product_of, orders, exact=True) == pytest.approx(exact)
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(5) for _ in range(4000)]
    assert permutation_p_value(product_of, drawn) == pytest.approx(exact, abs=0.01)
    assert permutation_p_value(product_of, [orders[-1]]) > 0


def test_draws_are_the_same_in_any_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(0.2, 1, (9, 2))
    cluster, stratum = np.arange(9) // 2, np.arange(9) % 2

    def figures() -> list[float]:
        rng = np.random.default_rng(0)
        means = bootstrap_cluster_means(values, cluster, stratum, rng, resamples=50)
        p_values = [
            sign_flip_p_value(values[:, 0], rng, dtype=np.int8),
            sign_flip_p_value(values[:, 0], rng),
            exchange_p_value(values[:, 0], values[:, 1:], rng),
        ]
        return [*p_values, *means.ravel().tolist()]

    at_once = figures()
    monkeypatch.setattr(resampling, "AT_ONCE", 100)
    assert figures() == pytest.approx(at_once, abs=1e-12)


def test_interval_of_a_correlation_is_scipys() -> None:
    x, noise = np.random.default_rng(0).normal(size=(2, 30))
    known = stats.pearsonr(x, x + noise)
    interval = known.confidence_interval()
    ends = correlation_interval(float(known.statistic), 30)
    assert ends == pytest.approx((interval.low, interval.high))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
