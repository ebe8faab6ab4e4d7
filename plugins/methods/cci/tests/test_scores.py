"""Weights of clusters, the maps that they paint, and where a map lies."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from cuescope_cci.scores import (
    background_clusters,
    importance_map,
    iou,
    region_of_map,
    relative_drop,
    weights,
)

SIXTIETHS = st.integers(-300, 300).map(lambda number: number / 60)
DROPS = arrays(np.float64, st.integers(1, 9), elements=SIXTIETHS)


@pytest.mark.parametrize("signed", [False, True])
def test_positive_drops_are_shared_out_as_the_paper_says(signed: bool) -> None:
    drops = np.array([0.2, 0.5, 0.1])
    assert weights(drops, signed=signed) == pytest.approx([0.25, 0.625, 0.125])


def test_a_negative_drop_never_turns_the_map_over() -> None:
    drops = np.array([1.0, -3.0, 1.0])  # their plain sum is negative
    assert weights(drops) == pytest.approx([0.2, -0.6, 0.2])
    # sum is zero
    assert weights(np.array([2.0, -2.0])) == pytest.approx([0.5, -0.5])


def test_the_papers_sum_has_signs() -> None:
    assert weights(np.array([2.0, -1.0, 1.0]), signed=True) == pytest.approx(
        [1.0, -0.5, 0.5]
    )


def test_nothing_lost_is_nothing_important() -> None:
    assert not weights(np.zeros(4)).any()


@given(drops=DROPS)
def test_weights_share_out_one_and_keep_signs_and_order(drops: np.ndarray) -> None:
    shares = weights(drops)
    assert np.abs(shares).sum() == pytest.approx(1.0 if drops.any() else 0.0)
    assert (np.sign(shares) == np.sign(drops)).all()
    assert (np.argsort(shares, kind="stable") == np.argsort(drops, kind="stable")).all()


@given(drops=DROPS, scale=st.floats(0.01, 200), bias=st.floats(-20, 20))
def test_the_scale_and_bias_of_logits_do_not_matter(
    drops: np.ndarray, scale: float, bias: float
) -> None:
    whole, hidden = 0.3, 0.3 - drops
    logits = (scale * whole + bias) - (scale * hidden + bias)
    assert weights(logits) == pytest.approx(weights(drops), abs=1e-6)


def test_each_patch_has_the_weight_of_its_cluster() -> None:
    painted = importance_map(
        np.array([[0, 0, 1], [0, 2, 1]]), np.array([2.0, -1.0, 1.0])
    )
    assert np.array_equal(painted, [[0.5, 0.5, -0.25], [0.5, 0.25, -0.25]])


# --------------------------------------------------------------------------------- where a map lies


LEFT = np.zeros((8, 8), dtype=bool)
LEFT[:, :4] = True
SMALL = np.zeros((8, 8), dtype=bool)
SMALL[2:4, 2:4] = True  # 4 of 64 pixels


def test_a_map_on_one_side_is_on_that_side() -> None:
    assert region_of_map(LEFT.astype(float), LEFT) == "foreground"
    assert region_of_map((~LEFT).astype(float), LEFT) == "background"


def test_of_equals_the_foreground_has_it() -> None:
    assert region_of_map(np.ones((8, 8)), LEFT) == "foreground"


def test_nothing_is_said_of_an_empty_map_or_a_mask_of_one_region() -> None:
    some = LEFT.astype(float)
    assert region_of_map(np.zeros((8, 8)), LEFT) is None
    assert region_of_map(-some, LEFT) is None
    assert region_of_map(some, np.ones((8, 8), bool)) is None
    assert region_of_map(some, np.zeros((8, 8), bool)) is None


def test_weights_below_half_of_the_top_do_not_count() -> None:
    assert region_of_map(np.where(SMALL, 1.0, 0.4), SMALL) == "foreground"
    # everything: 4/64 and 60/64
    assert region_of_map(np.where(SMALL, 1.0, 0.6), SMALL) == "background"


def test_negative_weights_do_not_count() -> None:
    importance = np.where(LEFT, 0.1, -5.0)
    assert region_of_map(importance, LEFT) == "foreground"


def test_a_coarse_map_is_upsampled_to_the_mask() -> None:
    assert region_of_map(np.array([[0.0, 1.0]]), LEFT) == "background"
    assert region_of_map(np.array([[1.0, 0.0]]), LEFT) == "foreground"


# ----------------------------------------------------------------------------- regions hidden whole


CLUSTER = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]])
# bottom right, in pixels
OBJECT = np.kron(CLUSTER == 3, np.ones((4, 4), bool)).astype(bool)


def test_clusters_are_of_the_region_that_they_lie_on() -> None:
    assert background_clusters(CLUSTER, OBJECT).tolist() == [True, True, True, False]
    half = OBJECT.copy()
    half[:8, :8] = True  # two clusters of four are covered
    assert background_clusters(CLUSTER, half).tolist() == [False, True, True, False]


def test_what_all_choices_lose_is_no_loss_of_one() -> None:
    assert relative_drop(np.array([5.0, 5.0]), np.array([1.0, 1.0]), 0) == 0.0
    # a text of its own
    assert relative_drop(np.array([4.0]), np.array([1.0]), 0) == 3.0
    assert relative_drop(
        np.array([5.0, 5.0]), np.array([1.0, 3.0]), 0
    ) == pytest.approx(1.0)


def test_ious_by_counting() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 6, 5)) < 0.4
    expected = len(set(np.flatnonzero(one)) & set(np.flatnonzero(other))) / len(
        set(np.flatnonzero(one)) | set(np.flatnonzero(other))
    )
    assert iou(one, other) == expected
    assert iou(np.zeros((2, 2), bool), np.zeros((2, 2), bool)) == 1
