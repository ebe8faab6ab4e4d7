"""Units in their places, against every order; score intervals against a binomial's."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import Placement


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


def test_a_deviate_is_found_at_its_own_level_and_above() -> None:
    rng = np.random.default_rng(8)
    fit, units = rng.normal(size=(6, 6)) + np.eye(6), np.arange(6)
    placement = Placement(np.zeros(6, int), units)
    level = float(stats.norm.sf(placement.z(fit)))
    assert placement.fits(fit, level * 1.01)
    assert not placement.fits(fit, level * 0.99)
