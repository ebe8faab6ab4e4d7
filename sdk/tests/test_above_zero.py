"""Whether means are above zero: rarely where a blind map made them, and often where they are."""

import numpy as np
import pytest

from cuescope_sdk.statistics import Groups, MeanAboveZero


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
        p_value = MeanAboveZero((area - hit)[groups.codes], groups).p_value()
        wrong += p_value is not None and p_value <= 0.05
    assert wrong <= 13


def test_maps_beside_the_objects_are_found() -> None:
    rng = np.random.default_rng(0)
    lean = np.clip(rng.normal(0.3, 0.2, 24), -1, 1)
    p_value = MeanAboveZero(lean, Groups.single(24)).p_value()
    assert p_value is not None
    assert p_value < 0.01
    assert MeanAboveZero(-lean, Groups.single(24)).p_value() == 1.0
    few = MeanAboveZero(np.repeat(lean[:3], 8), groups_of(3, 8)).p_value()
    assert few is not None
    assert few > 0.05


def test_the_p_value_is_the_level_of_the_interval() -> None:
    lean = np.random.default_rng(1).normal(0.1, 0.2, 30)
    test = MeanAboveZero(lean, Groups.single(30))
    p_value = test.p_value()
    assert p_value is not None
    assert test.holds(p_value * 1.01)
    assert not test.holds(p_value * 0.99)


def test_one_group_proves_nothing() -> None:
    test = MeanAboveZero(np.full(9, 0.5), groups_of(1, 9))
    assert test.p_value() is None
    assert test.smallest(0.05, np.random.default_rng(2)) is None


def test_the_smallest_mean_above_zero_is_found_in_eight_of_ten() -> None:
    rng = np.random.default_rng(3)
    lean, groups = rng.normal(0.0, 0.2, 40), Groups.single(40)
    limit = MeanAboveZero(lean, groups).smallest(0.025, rng)
    assert limit is not None
    hits = sum(
        MeanAboveZero(rng.normal(limit, 0.2, 40), groups).holds(0.025)
        for _ in range(100)
    )
    assert 60 <= hits <= 95
