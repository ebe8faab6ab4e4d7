"""Tests with weights, tests that cannot pass, and what was not counted, against brute force."""

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import GapPlan, most_unseen

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


# ---------------------------------------------------------------------------------------- power


def test_the_smallest_with_power_has_the_power() -> None:
    plan = GapPlan(10, 10, 1.0)
    smallest = plan.smallest(lambda effect: effect**2)
    assert smallest == pytest.approx(np.sqrt(0.8), abs=2e-3)
    assert plan.smallest(lambda effect: effect / 2) is None
