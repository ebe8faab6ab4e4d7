"""Curves, knees and proofs, against values that are known."""

import numpy as np
import pytest

from cuescope_maps.explainers.sampling import difference_of_means, shapley_values
from cuescope_maps.scores import Proof, area_under, knee, sizes_of, top_parts
from cuescope_sdk import generator


def test_sizes_grow_and_end_with_all() -> None:
    assert sizes_of(49).tolist() == [0, 1, 2, 3, 5, 8, 13, 21, 34, 49]
    assert sizes_of(1).tolist() == [0, 1]


def test_a_straight_curve_has_half_the_area() -> None:
    sizes = sizes_of(12)
    assert area_under(sizes, sizes / 12) == pytest.approx(0.5)


def test_the_knee_is_where_three_parts_carry_all() -> None:
    sizes = sizes_of(49)
    carried = np.minimum(sizes / 3, 1.0)
    assert knee(sizes, carried, 1 - carried) == 3


def test_where_nothing_is_used_a_region_is_one_part() -> None:
    sizes = sizes_of(49)
    flat = np.full(len(sizes), 0.5)
    assert knee(sizes, flat, flat) == 1


def test_a_region_leaves_room_for_its_controls() -> None:
    sizes = sizes_of(16)
    late = (sizes >= 13).astype(float)
    assert knee(sizes, late, 1 - late) <= 16 / 3


def test_of_equal_parts_the_first_are_taken() -> None:
    chosen = top_parts(np.array([0.0, 2.0, 1.0, 1.0]), 2)
    assert chosen.tolist() == [False, True, True, False]


def test_shapley_values_of_a_sum_are_its_terms() -> None:
    rng = generator(0, "shapley")
    terms = np.array([0.4, 0.0, 0.3, 0.1, 0.0, 0.1])
    shown = rng.random((4000, 6)) < 0.5
    values = 0.1 + shown @ terms
    found = shapley_values(shown, values, 0.1, 1.0)
    assert found == pytest.approx(terms, abs=0.01)
    assert found.sum() == pytest.approx(0.9, abs=1e-3)


def test_a_difference_of_means_needs_both_sides() -> None:
    shown = np.array([[True, True], [True, False]])
    found = difference_of_means(shown, np.array([1.0, 0.25]))
    assert found.tolist() == [0.0, 0.75]


def test_a_proof_is_beyond_its_controls() -> None:
    moved = np.array([0.9, 0.8, 0.95, 0.85])
    assert Proof(moved, np.zeros(4)).above(0.1) > 0.99
    assert Proof(moved, moved).above(0.1) == 0.0
    assert Proof(np.array([0.9, 0.0, 0.0, 0.0]), np.zeros(4)).above(0.1) < 0.95
