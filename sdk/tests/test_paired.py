"""Paired flips against brute force: every way in which the signs could have fallen."""

from itertools import product

import numpy as np
import pytest

from cuescope_sdk.statistics import Groups, change_interval, paired_flips

BEFORE = np.array([0, 0, 1, 0, 1, 0, 1, 0])
AFTER = np.array([1, 1, 1, 1, 0, 0, 1, 1])
ALONE = Groups.single(8)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_the_p_values_are_those_of_every_sign(scale: float) -> None:
    change = scale * (AFTER - BEFORE)
    moved = np.abs(change[change != 0])
    gains = np.array(
        [(np.array(signs) > 0).sum() for signs in product((-1, 1), repeat=len(moved))]
    )
    gained = (change > 0).sum()
    expected = {
        "greater": (gains >= gained).mean(),
        "less": (gains <= gained).mean(),
        "two-sided": (
            np.abs(2 * gains - len(moved)) >= abs(2 * gained - len(moved))
        ).mean(),
    }
    for alternative, p_value in expected.items():
        flips = paired_flips(
            BEFORE * scale, AFTER * scale, ALONE, rng(), alternative=alternative
        )
        assert flips.p_value == pytest.approx(p_value)


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
    assert together.p_value == 0.5
    assert together.high - together.low > alone.high - alone.low
