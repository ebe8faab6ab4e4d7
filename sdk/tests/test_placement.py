"""Units in their places, against every order; score intervals against a binomial's."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import deal_places, placement_p_value, placement_z, score_interval


def test_every_order_of_two_blocks_gives_the_p_value_and_its_deviate() -> None:
    rng = np.random.default_rng(0)
    fit, block = rng.normal(size=(7, 4)), np.array([0, 0, 0, 0, 1, 1, 1])
    place = np.array([2, 0, 3, 1, 1, 2, 0])
    totals = [
        sum(fit[unit, place[other]] for unit, other in enumerate((*first, *second)))
        for first in permutations(range(4))
        for second in permutations(range(4, 7))
    ]
    own = sum(fit[np.arange(7), place])
    exact = np.mean(np.array(totals) >= own - 1e-9)
    p_value = placement_p_value(fit, block, place, rng, draws=19_999)
    # it may stop where the p-value is known to a tenth
    assert p_value == pytest.approx(exact, abs=0.3 * exact)
    z = (own - np.mean(totals)) / np.std(totals)
    assert placement_z(fit, block, place) == pytest.approx(z)


def test_units_that_are_alone_or_fit_all_places_alike_tell_nothing() -> None:
    rng, alone = np.random.default_rng(1), np.arange(3)
    assert placement_p_value(rng.normal(size=(3, 1)), alone, np.zeros(3, int), rng) == 1
    one_block, fit = np.zeros(3, int), np.tile([[1.0], [2.0], [3.0]], (1, 3))
    assert placement_p_value(fit, one_block, alone, rng) == 1
    assert placement_z(fit, one_block, alone) == 0


def test_places_are_dealt_within_blocks() -> None:
    block, place = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 0])
    rng = np.random.default_rng(2)
    draws = np.array([deal_places(block, place, rng) for _ in range(200)])
    for members in ([0, 1, 2], [3, 4], [5]):
        assert (np.sort(draws[:, members], axis=1) == np.sort(place[members])).all()
    assert len({tuple(draw) for draw in draws.tolist()}) == 12


def test_the_interval_of_a_share_covers_as_it_says() -> None:
    """Scores of yes and no, by group: 95% of 400 are 380, fewer than 363 once in 5,000."""
    shares = np.linspace(0.001, 0.999, 333)
    yes, no = 1 / shares, -1 / (1 - shares)
    hits, values = 0, []
    for seed in range(400):
        rng = np.random.default_rng([3, seed])
        rates = stats.beta.rvs(3, 7, size=30, random_state=rng)  # groups differ
        right = rng.binomial(10, rates)
        scores = right[:, None] * yes + (10 - right)[:, None] * no
        extremes = np.stack([300 * yes, 300 * no])
        value, low, high = score_interval(scores, shares, extremes=extremes)
        assert value == pytest.approx(right.sum() / 300, abs=0.004)
        hits += low <= 0.3 <= high
        values.append(value)
    assert 363 <= hits <= 395
    assert np.mean(values) == pytest.approx(0.3, abs=0.01)


def test_one_group_bounds_nothing() -> None:
    shares = np.linspace(0.01, 0.99, 99)
    scores = (3 / shares - 7 / (1 - shares))[None]
    value, low, high = score_interval(scores, shares, extremes=np.zeros((0, 99)))
    assert (value, low, high) == (pytest.approx(0.3, abs=0.011), 0.01, 0.99)
