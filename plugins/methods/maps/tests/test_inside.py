"""Flows through attention against values by hand, and the places of visual tokens."""

from types import SimpleNamespace

import numpy as np
import pytest

from cuescope_maps.explainers.inside import map_of, relevance, rollout
from cuescope_sdk import Frame, Sample, Trial, UserError
from cuescope_sdk.fusion import TEXT, VIDEO

FRAME = Frame.from_array(np.zeros((4, 4, 3), np.uint8))


def model_of(kinds: list[int]) -> SimpleNamespace:
    return SimpleNamespace(modalities=lambda trials, layer: [np.array(kinds + kinds)])


def test_rollout_halves_attention_with_the_residual() -> None:
    looks = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert rollout([looks])[1].tolist() == [0.5, 0.5]
    assert rollout([looks, looks])[1].tolist() == [0.75, 0.25]


def test_relevance_adds_what_each_layer_passes_on() -> None:
    looks = np.array([[0.0, 0.0], [0.2, 0.0]])
    assert relevance([looks])[1].tolist() == [0.2, 1.0]
    assert relevance([looks, looks])[1].tolist() == [0.4, 1.0]


def test_visual_tokens_lie_in_rows_and_columns() -> None:
    kinds = [TEXT, VIDEO, VIDEO, VIDEO, VIDEO, TEXT]
    flow = np.arange(36.0).reshape(6, 6)
    trial = Trial(sample=Sample(key="a", frames=(FRAME,)))
    assert map_of(model_of(kinds), trial, flow).tolist() == [[[31, 32], [33, 34]]]


def test_tokens_without_a_grid_are_refused() -> None:
    trial = Trial(sample=Sample(key="a", frames=(FRAME,)))
    with pytest.raises(UserError, match="no grid"):
        map_of(model_of([VIDEO, VIDEO, TEXT]), trial, np.zeros((3, 3)))
