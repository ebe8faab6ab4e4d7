"""Intervals at another level: the same at their own, wider for more tests, beside scipy's."""

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import DetectionLimit, Estimate, multiplicity


def test_an_interval_is_itself_at_its_own_level() -> None:
    assert Estimate(0.1, 0.02, 0.2).at_error(0.025) == pytest.approx((0.02, 0.2))


def test_it_is_that_of_a_normal_mean_at_another_level() -> None:
    low, high = stats.norm.interval(0.95, loc=3, scale=2)
    wanted = stats.norm.interval(1 - 2 * 0.01 / 7, loc=3, scale=2)
    assert Estimate(3, low, high).at_error(0.01 / 7) == pytest.approx(wanted)


def test_what_is_found_has_the_power_that_was_asked_for() -> None:
    spread = 0.02
    half = spread * stats.norm.isf(0.025)
    effect = DetectionLimit.of_intervals([half, half, 9.0], 0.03, 0.8)
    assert effect is not None
    # of one of three tests at 1% each
    chance = stats.norm.sf(stats.norm.isf(0.01) - effect / spread)
    assert chance == pytest.approx(0.8)
    assert DetectionLimit.of_intervals([], 0.01, 0.8) is None


@pytest.mark.parametrize("count", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("together", [0.0, 0.5])
def test_a_family_at_its_limits_fails_as_seldom_as_promised(
    count: int, together: float
) -> None:
    rng = np.random.default_rng(count)
    common = rng.standard_normal((4000, 1))
    own = rng.standard_normal((4000, count))
    strengths = np.sqrt(together) * common + np.sqrt(1 - together) * own
    paid = [multiplicity(int(beyond), count) for beyond in (strengths > 0).sum(1)]
    failed = strengths.max(axis=1) > stats.norm.isf(0.05 / np.array(paid))
    # of 4,000 families at most 5%, by chance 6%
    assert failed.mean() < 0.06
    if count > 2:
        # where all others lie far within their limits they cost nothing
        assert multiplicity(1, count) == 2
    assert multiplicity(0, 0) == 1
