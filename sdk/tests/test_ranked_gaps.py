"""Gaps of rankings against brute force and simulation: deals and strata."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import generator
from cuescope_sdk.statistics import GapTest
from cuescope_sdk.statistics._ranked_gaps import gap_weights, shuffled_gaps


def rng(name: str) -> np.random.Generator:
    return generator(0, name)


def test_shuffled_null_is_that_of_all_deals() -> None:
    """Four units, two overlapping cues: every deal by hand."""
    rates = np.array([0, 1 / 3, 2 / 3, 1])
    weights = gap_weights(np.array([[0, 1], [1, 2]]), np.array([[2, 3], [0, 3]]), 4)
    every = [max(weights @ rates[list(deal)]) for deal in permutations(range(4))]
    maxima = shuffled_gaps(rates, weights, None, 20_000, rng("shuffle")).max(axis=1)
    for value in set(every):
        assert (maxima >= value - 1e-9).mean() == pytest.approx(
            np.mean(np.array(every) >= value - 1e-9), abs=0.02
        )


def test_units_change_places_within_their_stratum_alone() -> None:
    """All of the gap goes with the stratum: nothing is left of it, in no deal."""
    rates, stratum = np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1])
    sides = np.array([[0, 1]]), np.array([[2, 3]])
    weights = gap_weights(*sides, 4)
    assert (shuffled_gaps(rates, weights, stratum, 50, rng("strata")) == 1).all()
    test = GapTest.of(rates, *sides, 50, rng("strata"), stratum=stratum)
    assert test.by_strata.tolist() == [1.0]
    assert (test.strength.tolist(), test.p_value.tolist()) == ([0.0], [1.0])


def test_units_that_do_not_count_have_no_weight() -> None:
    kept = np.array([True, False, True, True])
    weights = gap_weights(
        np.array([[0, 1], [1, 1]]), np.array([[2, 3], [2, 3]]), 4, kept
    )
    assert weights[0].tolist() == [1.0, 0.0, -0.5, -0.5]
    assert not weights[1].any()  # nothing is left of its top


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_answers_that_are_all_alike_prove_nothing(rate: float) -> None:
    sides = np.array([[0, 1]]), np.array([[2, 3]])
    test = GapTest.of(np.full(4, rate), *sides, 50, rng("alike"))
    assert test.p_value.tolist() == [1.0]


def test_random_rankings_are_draws_without_replacement() -> None:
    rates = np.repeat([0, 1 / 3, 1], [5, 7, 8])
    maxima = GapTest.random_maxima(rates, 3, 6, 20_000, rng("random"))
    brute, source = [], rng("brute")
    for _ in range(4_000):
        deals = [source.permutation(rates) for _ in range(3)]
        brute.append(max(deal[:6].mean() - deal[6:12].mean() for deal in deals))
    assert stats.ks_2samp(np.round(maxima, 6), np.round(brute, 6)).pvalue > 0.001
    assert maxima.mean() == pytest.approx(np.mean(brute), abs=0.01)
