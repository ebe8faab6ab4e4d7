"""Bounds that hold at every look: coverage over all looks, and no looser than they must be."""

import numpy as np
import pytest

from cuescope_sdk.statistics import Groups, always_valid_bounds, mean_interval


def misses(seed: int, share: float, error: float, draws: int = 400) -> bool:
    """Whether any of many looks leaves the true mean out, on either side."""
    values = (np.random.default_rng(seed).random(draws) < share).astype(float)
    for count in range(40, draws + 1, 40):
        low, high = always_valid_bounds(values[:count], error)
        if low > share or high < share:
            return True
    return False


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_bounds_hold_over_all_looks(share: float) -> None:
    """Two sides at 10% each: 20% at most; a bound looked at once would miss far more often."""
    missed = sum(misses(seed, share, 0.1) for seed in range(40))
    assert missed <= 14


def test_a_bound_looked_at_often_would_miss() -> None:
    """What the bounds are for: with intervals for one look the same looks miss."""
    missed = 0
    for seed in range(60):
        values = (np.random.default_rng(seed).random(400) < 0.5).astype(float)
        for count in range(20, 401, 20):
            low, high = mean_interval(
                values[:count], Groups.single(count), confidence=0.8
            )
            if low is None or high is None or low > 0.5 or high < 0.5:
                missed += 1
                break
    assert missed > 30


def test_bounds_close_in_and_keep_their_scale() -> None:
    values = np.tile([0.0, 1.0], 2000)
    low, high = always_valid_bounds(values, 0.01)
    assert 0.44 < low < 0.5 < high < 0.56
    wide = always_valid_bounds(4 * values - 2, 0.01, bounds=(-2.0, 2.0))
    assert wide == pytest.approx((4 * low - 2, 4 * high - 2))
    assert always_valid_bounds(values[:0], 0.01) == (0.0, 1.0)
    assert always_valid_bounds(np.ones(50), 0.01)[1] == 1.0
