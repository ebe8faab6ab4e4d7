"""Paired flips against brute force: every way in which the signs could have fallen."""

from itertools import product

import numpy as np
import pytest

from cuescope_sdk.maths import bootstrap_mean_interval, paired_flips

BEFORE = np.array([0, 0, 1, 0, 1, 0, 1, 0])
AFTER = np.array([1, 1, 1, 1, 0, 0, 1, 1])


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_the_p_values_are_those_of_every_sign(scale: float) -> None:
    change = scale * (AFTER - BEFORE)
    moved = np.abs(change[change != 0])
    gains = np.array([(np.array(signs) > 0).sum() for signs in product((-1, 1), repeat=len(moved))])
    gained = (change > 0).sum()
    expected = {
        "greater": (gains >= gained).mean(),
        "less": (gains <= gained).mean(),
        "two-sided": (np.abs(2 * gains - len(moved)) >= abs(2 * gained - len(moved))).mean(),
    }
    for alternative, p_value in expected.items():
        flips = paired_flips(BEFORE * scale, AFTER * scale, rng(), alternative=alternative)
        assert flips.p_value == pytest.approx(p_value)


def test_counts_and_interval_are_those_of_the_differences() -> None:
    flips = paired_flips(BEFORE, AFTER, rng(), confidence=0.8)
    assert (flips.gained, flips.lost, flips.flipped, flips.n) == (4, 1, 5, 8)
    assert flips.change == pytest.approx(3 / 8)
    change = (AFTER - BEFORE).astype(float)
    assert (flips.low, flips.high) == bootstrap_mean_interval(change, rng(), confidence=0.8)
    back = paired_flips(AFTER, BEFORE, rng())
    assert (back.gained, back.lost, back.change) == (1, 4, -flips.change)


def test_answers_that_stay_are_no_evidence() -> None:
    flips = paired_flips([True, False], [True, False], rng())
    assert (flips.change, flips.low, flips.high, flips.p_value) == (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("before", "after"), [([], []), ([1], [1, 0]), ([[1]], [[1]]), ([0, np.nan], [0, 1])]
)
def test_what_cannot_be_paired_is_refused(before: list[float], after: list[float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        paired_flips(before, after, rng())
