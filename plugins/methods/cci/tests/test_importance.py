"""Weights of clusters, and the maps that they paint."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cuescope_cci.importance import Look, about, weights
from cuescope_sdk import Frame, HideTokens, Sample

CHOICES = ("owl", "toad", "hawk")
SIXTIETHS = st.integers(-300, 300).map(lambda number: number / 60)
DROPS = arrays(np.float64, st.integers(1, 9), elements=SIXTIETHS)


def picture(**fields: object) -> Sample:
    frame = Frame.from_array(np.zeros((8, 8, 3), np.uint8))
    return Sample(key="a", frames=(frame,), choices=CHOICES, label="owl").model_copy(update=fields)


@pytest.mark.parametrize("negative", ["keep", "zero"])
def test_positive_drops_are_shared_out_as_the_paper_says(negative: str) -> None:
    drops = np.array([0.2, 0.5, 0.1])
    assert weights(drops, negative) == pytest.approx([0.25, 0.625, 0.125])  # type: ignore[arg-type]


def test_a_negative_drop_is_kept_or_made_zero_and_never_turns_the_map_over() -> None:
    drops = np.array([1.0, -3.0, 1.0])  # their plain sum is negative
    assert weights(drops, "keep") == pytest.approx([0.2, -0.6, 0.2])
    assert weights(drops, "zero") == pytest.approx([0.5, 0.0, 0.5])
    assert weights(np.array([2.0, -2.0]), "keep") == pytest.approx([0.5, -0.5])  # sum is zero


def test_nothing_lost_is_nothing_important() -> None:
    assert not weights(np.zeros(4)).any()
    assert not weights(np.array([-1.0, -2.0]), "zero").any()


@given(drops=DROPS)
def test_weights_share_out_one_and_keep_signs_and_order(drops: np.ndarray) -> None:
    found = weights(drops)
    assert np.abs(found).sum() == pytest.approx(1.0 if drops.any() else 0.0)
    assert (np.sign(found) == np.sign(drops)).all()
    assert (np.argsort(found, kind="stable") == np.argsort(drops, kind="stable")).all()


@given(drops=DROPS, scale=st.floats(0.01, 200), bias=st.floats(-20, 20))
def test_the_scale_and_bias_of_logits_do_not_matter(
    drops: np.ndarray, scale: float, bias: float
) -> None:
    whole, hidden = 0.3, 0.3 - drops
    logits = (scale * whole + bias) - (scale * hidden + bias)
    assert weights(logits) == pytest.approx(weights(drops), abs=1e-6)


def test_a_look_asks_for_the_whole_then_without_each_cluster() -> None:
    cluster = np.array([[0, 0, 1], [0, 2, 1]])
    whole, *hidden = Look(picture(), cluster).trials()
    assert whole.edit is None
    masks = [trial.edit.mask for trial in hidden if isinstance(trial.edit, HideTokens)]
    assert np.array_equal(masks, [(cluster == number)[None] for number in range(3)])


def test_each_patch_is_painted_with_its_clusters_value() -> None:
    look = Look(picture(), np.array([[0, 0, 1], [0, 2, 1]]))
    painted = look.painted(np.array([0.5, -0.25, 0.75]))
    assert np.array_equal(painted, [[0.5, 0.5, -0.25], [0.5, 0.75, -0.25]])


def test_a_text_of_its_own_takes_the_place_of_the_choices() -> None:
    plain = picture()
    assert about(plain, "toad") is plain
    other = about(plain, "a green pond")
    assert (other.choices, other.label) == (("a green pond",), None)
