"""Weights of clusters, the maps that they paint, and where a map lies."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from cuescope_cci.scores import (
    background_clusters,
    closest_pairs,
    importance_map,
    iou,
    region_of_map,
    relative_drop,
    weights,
)

SIXTIETHS = st.integers(-300, 300).map(lambda number: number / 60)
DROPS = arrays(np.float64, st.integers(1, 9), elements=SIXTIETHS)


@pytest.mark.parametrize("negative", ["keep", "zero"])
def test_positive_drops_are_shared_out_as_the_paper_says(negative: str) -> None:
    drops = np.array([0.2, 0.5, 0.1])
    assert weights(drops, negative) == pytest.approx([0.25, 0.625, 0.125])  # type: ignore[arg-type]


def test_a_negative_drop_is_kept_or_made_zero_and_never_turns_the_map_over() -> None:
    drops = np.array([1.0, -3.0, 1.0])  # their plain sum is negative
    assert weights(drops, "keep") == pytest.approx([0.2, -0.6, 0.2])
    assert weights(drops, "zero") == pytest.approx([0.5, 0.0, 0.5])
    # sum is zero
    assert weights(np.array([2.0, -2.0]), "keep") == pytest.approx([0.5, -0.5])


def test_the_papers_sum_has_signs() -> None:
    assert weights(np.array([2.0, -1.0, 1.0]), "signed") == pytest.approx(
        [1.0, -0.5, 0.5]
    )


def test_nothing_lost_is_nothing_important() -> None:
    assert not weights(np.zeros(4)).any()
    assert not weights(np.array([-1.0, -2.0]), "zero").any()


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


Overlap = Literal["iou", "soft-iou", "mass"]
OVERLAPS: tuple[Overlap, ...] = ("iou", "soft-iou", "mass")
LEFT = np.zeros((8, 8), dtype=bool)
LEFT[:, :4] = True
SMALL = np.zeros((8, 8), dtype=bool)
SMALL[2:4, 2:4] = True  # 4 of 64 pixels


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_a_map_on_one_side_is_on_that_side(overlap: Overlap) -> None:
    assert region_of_map(LEFT.astype(float), LEFT, overlap) == "foreground"
    assert region_of_map((~LEFT).astype(float), LEFT, overlap) == "background"


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_of_equals_the_foreground_has_it(overlap: Overlap) -> None:
    assert region_of_map(np.ones((8, 8)), LEFT, overlap) == "foreground"


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_nothing_is_said_of_an_empty_map_or_a_mask_of_one_region(
    overlap: Overlap,
) -> None:
    some = LEFT.astype(float)
    assert region_of_map(np.zeros((8, 8)), LEFT, overlap) is None
    assert region_of_map(-some, LEFT, overlap) is None
    assert region_of_map(some, np.ones((8, 8), bool), overlap) is None
    assert region_of_map(some, np.zeros((8, 8), bool), overlap) is None


def test_the_overlaps_differ_where_much_is_weak() -> None:
    """The object at 1, all of the background at 0.4: by hand from 4 + 60 pixels.

    Strongest half: the object alone, IoU 1 and 0. Soft: foreground 4 / (4 + 24) = 0.14, background
    24 / (60 + 4) = 0.375. Mass: 4 / 28 on the object.
    """
    importance = np.where(SMALL, 1.0, 0.4)
    regions = [region_of_map(importance, SMALL, overlap) for overlap in OVERLAPS]
    assert regions == ["foreground", "background", "background"]


def test_a_small_object_with_as_much_background_beside_it() -> None:
    """IoU forgives a map as large again as its object; a share of the weights does not say."""
    importance = SMALL.astype(float)
    importance[2:4, 4:7] = 1.0  # 6 pixels of background at equal strength
    regions = [region_of_map(importance, SMALL, overlap) for overlap in OVERLAPS]
    # 4/10 and 6/60; 4/10 of the mass
    assert regions == ["foreground", "foreground", "background"]


def test_strongest_counts_from_a_share_of_the_top() -> None:
    importance = np.where(SMALL, 1.0, 0.4)
    # everything: 4/64 and 60/64
    assert region_of_map(importance, SMALL, "iou", 0.4) == "background"
    assert region_of_map(importance, SMALL, "iou", 0.41) == "foreground"


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


# --------------------------------------------------------------------------------- class embeddings


def similarities(*upper: float) -> np.ndarray:
    """Symmetric, 1 on the diagonal, from the entries above it."""
    size = int((1 + np.sqrt(1 + 8 * len(upper))) / 2)
    cosines = np.eye(size)
    cosines[np.triu_indices(size, k=1)] = upper
    return np.maximum(cosines, cosines.T)


def test_the_closest_pairs_are_found_by_rank() -> None:
    close = closest_pairs(similarities(0.90, 0.91, 0.92, 0.93, 0.94, 0.95), 0.6)
    assert np.array_equal(close[np.triu_indices(4, k=1)], [False] * 3 + [True] * 3)
    assert np.array_equal(close, close.T)
    shifted = closest_pairs(similarities(*np.linspace(0.1, 0.6, 6)), 0.6)
    assert np.array_equal(close, shifted)  # ranks alone matter


def test_pairs_that_tie_stand_together() -> None:
    close = closest_pairs(similarities(0.1, 0.5, 0.5), 0.9)
    assert close[np.triu_indices(3, k=1)].tolist() == [False, True, True]


@pytest.mark.parametrize("labels", [1, 2])
def test_one_label_has_no_pair_and_two_have_one(labels: int) -> None:
    close = closest_pairs(
        similarities(*[0.5] * (labels - 1)) if labels > 1 else np.eye(1), 0.9
    )
    assert close.shape == (labels, labels)
    assert bool(close[0, -1]) is (labels == 2)


def test_ious_by_counting() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 6, 5)) < 0.4
    expected = len(set(np.flatnonzero(one)) & set(np.flatnonzero(other))) / len(
        set(np.flatnonzero(one)) | set(np.flatnonzero(other))
    )
    assert iou(one, other) == expected
    assert iou(one.astype(float), other) == pytest.approx(expected)
    assert iou(np.full((2, 2), 0.5), np.ones((2, 2), bool)) == 0.5
    assert iou(np.zeros((2, 2), bool), np.zeros((2, 2), bool)) == 1
