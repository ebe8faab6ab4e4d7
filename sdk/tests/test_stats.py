"""Statistics against brute force: every permutation, every resample."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.maths import _stats as ours
from cuescope_sdk.maths._stats import (
    accuracy_gap_interval,
    accuracy_gap_p_value,
    benjamini_hochberg,
    bootstrap_mean_interval,
    exceeds_rate_p_value,
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
