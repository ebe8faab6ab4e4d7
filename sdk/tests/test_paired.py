"""Paired changes: what the p-value finds is what the interval beside it excludes."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cuescope_sdk.statistics import (
    Groups,
    MeanAboveZero,
    change_interval,
    change_p_value,
    paired_flips,
)

BEFORE = np.array([0, 0, 1, 0, 1, 0, 1, 0])
AFTER = np.array([1, 1, 1, 1, 0, 0, 1, 1])
ALONE = Groups.single(8)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


KINDS = ("answers", "shares", "small", "rare", "lognormal", "of groups")


def changes_of(kind: str, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    samples = len(codes)
    of_group = rng.normal(0.1, 0.3, codes.max() + 1)[codes]
    return {
        "answers": lambda: rng.choice([-1.0, 0.0, 1.0], samples, p=[0.1, 0.6, 0.3]),
        "shares": lambda: np.clip(rng.normal(0.1, 0.3, samples), -1, 1),
        "small": lambda: rng.normal(0.02, 0.02, samples),
        "rare": lambda: np.where(rng.random(samples) < 0.05, -0.8, 0.042),
        "lognormal": lambda: np.clip(0.1 - 0.05 * rng.lognormal(size=samples), -1, 1),
        "of groups": lambda: np.clip(of_group, -1, 1),
    }[kind]()


@settings(max_examples=60)
@given(
    kind=st.sampled_from(KINDS),
    groups=st.integers(2, 60),
    most=st.sampled_from([1, 4, 20]),
    confidence=st.floats(0.5, 0.9999),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_star_stands_where_the_interval_excludes_zero(
    kind: str, groups: int, most: int, confidence: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(groups), rng.integers(1, most + 1, groups))
    change = changes_of(kind, codes, rng)
    drawn = Groups(codes, groups, most > 1)
    low, high = change_interval(change, drawn, confidence=confidence)
    assert low is not None
    assert high is not None
    error = 1 - confidence
    # where a p-value is as small as they get it is rounded up
    if change_p_value(change, drawn) > 1e-6:
        assert (change_p_value(change, drawn) <= error) == (low > 0 or high < 0)
    greater = change_p_value(change, drawn, alternative="greater")
    less = change_p_value(change, drawn, alternative="less")
    assert (greater <= error) == (low > 0)
    assert (less <= error) == (high < 0)
    test = MeanAboveZero(change, drawn)
    assert test.p_value() == greater
    assert test.holds(error) == (low > 0)


def skewed(kind: str, groups: int, rng: np.random.Generator) -> np.ndarray:
    """Changes of groups, with a mean of 0 and a tail on one side."""
    if kind == "rare":
        return np.where(rng.random(groups) < 0.05, -0.8, 0.8 * 0.05 / 0.95)
    if kind == "beta":
        return 0.4 / 4.4 - rng.beta(0.4, 4, groups)
    return 0.03 * (np.exp(0.5) - np.minimum(rng.lognormal(size=groups), 30))


@pytest.mark.parametrize("kind", ["rare", "beta", "lognormal"])
@pytest.mark.parametrize("most", [1, 12])
@pytest.mark.parametrize("groups", [10, 20, 40])
def test_a_long_tail_on_one_side_is_no_change(
    kind: str, most: int, groups: int
) -> None:
    """Flipping signs found one in 36% of audits of 20 groups where changes were rare.

    Binomial with 1 in 20: more than 14 of 100 come up once in five thousand times.
    """
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(100):
        # a group as large as it is by luck, which says nothing of its change
        codes = np.repeat(np.arange(groups), rng.integers(1, most + 1, groups))
        change = skewed(kind, groups, rng)[codes]
        low, high = change_interval(change, Groups(codes, groups, True))
        found += low is None or high is None or low > 0 or high < 0
    assert found <= 14


def test_counts_and_interval_are_those_of_the_differences() -> None:
    flips = paired_flips(BEFORE, AFTER, ALONE, rng(), confidence=0.8)
    assert (flips.gained, flips.lost, flips.flipped, flips.n) == (4, 1, 5, 8)
    assert flips.change == pytest.approx(3 / 8)
    change = (AFTER - BEFORE).astype(float)
    assert (flips.low, flips.high) == change_interval(change, ALONE, confidence=0.8)
    back = paired_flips(AFTER, BEFORE, ALONE, rng())
    assert (back.gained, back.lost, back.change) == (1, 4, -flips.change)


def test_answers_that_stay_are_no_evidence() -> None:
    flips = paired_flips([True, False], [True, False], Groups.single(2), rng())
    assert (flips.change, flips.p_value) == (0, 1)
    assert flips.low < 0 < flips.high


@pytest.mark.parametrize(
    ("before", "after"),
    [([], []), ([1], [1, 0]), ([[1]], [[1]]), ([0, np.nan], [0, 1])],
)
def test_what_cannot_be_paired_is_refused(
    before: list[float], after: list[float]
) -> None:
    with pytest.raises(ValueError, match="expected"):
        paired_flips(before, after, Groups.single(len(before)), rng())


def test_a_group_is_one_proof() -> None:
    before, after = np.zeros(40), np.repeat([1, 0], 20)
    alone = paired_flips(before, after, Groups.single(40), rng())
    together = paired_flips(
        before, after, Groups(np.repeat(np.arange(4), 10), 4, True), rng()
    )
    assert alone.p_value < 1e-4
    assert together.p_value > 0.1
    assert together.high - together.low > alone.high - alone.low
