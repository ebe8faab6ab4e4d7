"""Tests with weights, tests that cannot pass, and what was not counted, against brute force."""

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import GapPlan, most_unseen
from cuescope_sdk.statistics._unseen import lower_mean_p_value, most_by_chance

RNG = np.random.default_rng


@pytest.mark.parametrize(("seen", "chance"), [(0, 0.3), (2, 0.5), (7, 0.05)])
def test_more_unseen_would_be_a_surprise(seen: int, chance: float) -> None:
    most = seen + most_unseen(seen, chance, confidence=0.9)
    assert stats.binom.cdf(seen, most, chance) > 0.1
    assert stats.binom.cdf(seen, most + 1, chance) <= 0.1


def test_what_is_surely_seen_hides_nothing() -> None:
    assert most_unseen(3, 1.0) == 0
    with pytest.raises(ValueError, match="above 0"):
        most_unseen(3, 0.0)


def test_so_many_by_chance_is_a_quantile() -> None:
    for count, rate in ((10, 0.1), (40, 0.5)):
        most = most_by_chance(count, rate)
        assert stats.binom.cdf(most, count, rate) >= 0.95
        assert stats.binom.cdf(most - 1, count, rate) < 0.95
    assert most_by_chance(5, 2.0) == 5


def test_a_lower_mean_is_as_rare_as_among_all_draws() -> None:
    null, values = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0])
    # of nine draws of two, three have a mean of a half or less
    p_value = lower_mean_p_value(values, null, RNG(1), draws=20_000)
    assert p_value == pytest.approx(3 / 9, abs=0.02)
    mixed = lower_mean_p_value(
        values, null, RNG(1), others=np.zeros(1), mixed=1, draws=20_000
    )
    assert mixed == pytest.approx(2 / 3, abs=0.02)


def test_a_lower_mean_gives_no_more_false_alarms_than_promised() -> None:
    rng, alarms = RNG(2), 0
    null = rng.normal(size=2_000)
    for _ in range(400):
        p_value = lower_mean_p_value(rng.normal(size=5), null, rng, draws=199)
        alarms += p_value <= 0.05
    assert alarms <= stats.binom.ppf(0.999, 400, 0.05)


# ---------------------------------------------------------------------------------------- power


def test_the_smallest_with_power_has_the_power() -> None:
    plan = GapPlan(10, 10, 1.0)
    smallest = plan.smallest(lambda effect: effect**2)
    assert smallest == pytest.approx(np.sqrt(0.8), abs=2e-3)
    assert plan.smallest(lambda effect: effect / 2) is None
