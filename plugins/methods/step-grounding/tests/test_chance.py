"""Tests and intervals where nothing is there, and where something is."""

import numpy as np
import pytest

from cuescope_step_grounding.chance import (
    bootstrap_interval,
    exchanged_p_value,
    mean_above_p_value,
    share_interval,
)


def test_flipped_signs_err_at_their_level() -> None:
    rng = np.random.default_rng(0)
    p_values = [mean_above_p_value(rng.normal(size=12), rng) for _ in range(300)]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.05)
    assert mean_above_p_value(rng.normal(1.5, 1, 12), rng) < 0.01


def test_few_samples_prove_nothing() -> None:
    rng = np.random.default_rng(0)
    assert mean_above_p_value(np.array([1.0]), rng) == pytest.approx(0.5, abs=0.05)
    assert mean_above_p_value(np.array([]), rng) == 1
    assert exchanged_p_value(np.array([1.0]), np.zeros((1, 5)), rng) == pytest.approx(
        1 / 6, abs=0.03
    )


def test_zero_is_not_above_zero() -> None:
    assert mean_above_p_value(np.zeros(50), np.random.default_rng(0)) == 1


def test_exchanged_traces_err_at_their_level() -> None:
    rng = np.random.default_rng(0)
    drawn = [rng.random((10, 6)) for _ in range(300)]
    p_values = [exchanged_p_value(rows[:, 0], rows[:, 1:], rng) for rows in drawn]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.05)
    assert exchanged_p_value(np.full(10, 0.9), rng.random((10, 5)), rng) < 0.01


def test_bootstrap_leaves_out_draws_without_a_figure() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    rng = np.random.default_rng(0)

    def mean_without_first(places: np.ndarray) -> float | None:
        return None if 0 in places else float(values[places].mean())

    low, high = bootstrap_interval(mean_without_first, 4, rng, confidence=0.9, resamples=500) or (
        0,
        0,
    )
    assert 1 <= low < high <= 3
    assert bootstrap_interval(lambda places: None, 4, rng, confidence=0.9, resamples=10) is None
    assert bootstrap_interval(lambda places: 1.0, 0, rng, confidence=0.9, resamples=10) is None


def test_shares_have_wilsons_interval() -> None:
    low, high = share_interval(0, 10, 0.95)
    assert (low, high) == (pytest.approx(0), pytest.approx(0.2775, abs=0.001))
