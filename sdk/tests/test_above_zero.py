"""Whether means are above zero: rarely where a blind map made them, and often where they are."""

import numpy as np
import pytest

from cuescope_sdk.statistics import (
    Groups,
    mean_above_zero_p_value,
    smallest_mean_above_zero,
)
from cuescope_sdk.statistics._above_zero import is_mean_above_zero


def groups_of(count: int, alike: int) -> Groups:
    return Groups(np.repeat(np.arange(count), alike), count, alike > 1)


@pytest.mark.parametrize(
    ("count", "alike", "area"),
    [(24, 1, 0.06), (40, 1, 0.5), (10, 10, 0.06), (12, 5, 0.5)],
)
def test_a_spot_at_random_is_no_lean(count: int, alike: int, area: float) -> None:
    """A blind map of one spot misses a small object nearly always, in all clips of a source.

    Binomial with 1 in 20: more than 13 of 100 come up once in two thousand times.
    """
    groups, wrong = groups_of(count, alike), 0
    for seed in range(100):
        hit = np.random.default_rng(seed).random(count) < area
        p_value = mean_above_zero_p_value((area - hit)[groups.codes], groups)
        wrong += p_value is not None and p_value <= 0.05
    assert wrong <= 13


def test_maps_beside_the_objects_are_found() -> None:
    rng = np.random.default_rng(0)
    lean = np.clip(rng.normal(0.3, 0.2, 24), -1, 1)
    p_value = mean_above_zero_p_value(lean, Groups.single(24))
    assert p_value is not None
    assert p_value < 0.01
    assert mean_above_zero_p_value(-lean, Groups.single(24)) == 1.0
    few = mean_above_zero_p_value(np.repeat(lean[:3], 8), groups_of(3, 8))
    assert few is not None
    assert few > 0.05


def test_the_p_value_is_the_level_of_the_interval() -> None:
    lean = np.random.default_rng(1).normal(0.1, 0.2, 30)
    groups = Groups.single(30)
    p_value = mean_above_zero_p_value(lean, groups)
    assert p_value is not None
    assert is_mean_above_zero(lean, groups, p_value * 1.01)
    assert not is_mean_above_zero(lean, groups, p_value * 0.99)


def test_one_group_proves_nothing() -> None:
    assert mean_above_zero_p_value(np.full(9, 0.5), groups_of(1, 9)) is None
    rng = np.random.default_rng(2)
    assert smallest_mean_above_zero(np.full(9, 0.5), groups_of(1, 9), 0.05, rng) is None


def test_the_smallest_mean_above_zero_is_found_in_eight_of_ten() -> None:
    rng = np.random.default_rng(3)
    lean, groups = rng.normal(0.0, 0.2, 40), Groups.single(40)
    limit = smallest_mean_above_zero(lean, groups, 0.025, rng)
    assert limit is not None
    hits = sum(
        is_mean_above_zero(rng.normal(limit, 0.2, 40), groups, 0.025)
        for _ in range(100)
    )
    assert 60 <= hits <= 95
