"""Units in their places, against every order; score intervals against a binomial's."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import Placement, share_beyond_chance
from cuescope_sdk.statistics._placement import score_interval


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
    placement = Placement(block, place)
    p_value = placement.p_value(fit, rng, draws=19_999)
    # it may stop where the p-value is known to a tenth
    assert p_value == pytest.approx(exact, abs=0.3 * exact)
    z = (own - np.mean(totals)) / np.std(totals)
    assert placement.z(fit) == pytest.approx(z)


def test_units_that_are_alone_or_fit_all_places_alike_tell_nothing() -> None:
    rng, alone = np.random.default_rng(1), np.arange(3)
    first_place = np.zeros(3, int)
    assert Placement(alone, first_place).p_value(rng.normal(size=(3, 1)), rng) == 1
    one_block, fit = (
        Placement(np.zeros(3, int), alone),
        np.tile([[1.0], [2.0], [3.0]], (1, 3)),
    )
    assert one_block.p_value(fit, rng) == 1
    assert one_block.z(fit) == 0


def test_places_are_dealt_within_blocks() -> None:
    block, place = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 0])
    rng = np.random.default_rng(2)
    draws = np.array([Placement(block, place).deal(rng) for _ in range(200)])
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
        share = score_interval(scores, shares, extremes=extremes)
        assert share.value == pytest.approx(right.sum() / 300, abs=0.004)
        hits += share.low <= 0.3 <= share.high
        values.append(share.value)
    assert 363 <= hits <= 395
    assert np.mean(values) == pytest.approx(0.3, abs=0.01)


def test_one_group_bounds_nothing() -> None:
    shares = np.linspace(0.01, 0.99, 99)
    scores = (3 / shares - 7 / (1 - shares))[None]
    share = score_interval(scores, shares, extremes=np.zeros((0, 99)))
    assert share.value == pytest.approx(0.3, abs=0.011)
    assert (share.low, share.high) == (0.01, 0.99)


def test_the_share_beyond_chance_is_that_of_the_greatest_likelihood() -> None:
    rng = np.random.default_rng(5)
    rate = rng.uniform(0.05, 0.6, 80)
    holds = (rng.random(80) < 0.4) | (rng.random(80) < rate)
    result = share_beyond_chance(holds, rate, np.arange(80))
    assert result is not None
    value, low, high = result.value, result.low, result.high
    shares = np.linspace(0, 0.99, 991)
    chance = shares[:, None] + (1 - shares[:, None]) * rate
    likelihood = np.where(holds, np.log(chance), np.log(1 - chance)).sum(axis=1)
    assert value == pytest.approx(shares[likelihood.argmax()], abs=0.005)
    assert low < value < high
    assert share_beyond_chance(holds, np.ones(80), np.arange(80)) is None


def test_the_interval_of_the_share_beyond_chance_covers() -> None:
    rng, missed, draws = np.random.default_rng(6), 0, 200
    rate, group = np.tile([0.1, 0.3, 0.5], 40), np.arange(120) // 3
    for _ in range(draws):
        holds = (rng.random(120) < 0.3) | (rng.random(120) < rate)
        result = share_beyond_chance(holds, rate, group)
        assert result is not None
        missed += not result.low <= 0.3 <= result.high
    assert missed <= stats.binom.ppf(0.999, draws, 0.05)


def test_a_deviate_is_found_at_its_own_level_and_above() -> None:
    rng = np.random.default_rng(8)
    fit, units = rng.normal(size=(6, 6)) + np.eye(6), np.arange(6)
    placement = Placement(np.zeros(6, int), units)
    level = float(stats.norm.sf(placement.z(fit)))
    assert placement.fits(fit, level * 1.01)
    assert not placement.fits(fit, level * 0.99)
