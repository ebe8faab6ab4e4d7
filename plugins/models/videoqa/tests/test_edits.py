"""QUAG's edits and readings inside each of the four models."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from videoqa_samples import PLUGINS, SAMPLES, asked

from cuescope_sdk import Edit, Trial, UserError
from cuescope_sdk.fusion import TEXT, VIDEO, AverageAttention, AverageTokens

NAMES = tuple(PLUGINS)
QUADRANTS = ("VV", "VT", "TV", "TT")
EDITS: tuple[Edit, ...] = (
    AverageAttention(quadrants=frozenset({"VT", "TV"})),
    AverageAttention(quadrants=frozenset(QUADRANTS), layers=(0, 1)),
    AverageTokens(modalities=frozenset({"video"})),
    AverageTokens(modalities=frozenset({"video", "text"})),
)


def logits(
    model: Any, edit: Edit | None = None, one_by_one: bool = False
) -> np.ndarray:
    trials = [Trial(sample=sample, edit=edit) for sample in SAMPLES]
    if one_by_one:
        return np.concatenate([model.respond([trial])[0].logits for trial in trials])
    return np.concatenate([response.logits for response in model.respond(trials)])


@pytest.mark.parametrize("name", NAMES)
def test_empty_edit_is_the_plain_forward(name: str, build: Callable[..., Any]) -> None:
    model = build(name)
    for edit in (
        AverageAttention(quadrants=frozenset()),
        AverageTokens(modalities=frozenset()),
        AverageAttention(quadrants=frozenset(QUADRANTS), layers=()),
    ):
        np.testing.assert_allclose(logits(model, edit), logits(model), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_changes_answers(name: str, build: Callable[..., Any]) -> None:
    model = build(name)
    for edit in EDITS:
        assert np.abs(logits(model, edit) - logits(model)).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_samples_one_by_one(
    name: str, build: Callable[..., Any]
) -> None:
    model = build(name)
    for edit in (None, *EDITS):
        np.testing.assert_allclose(
            logits(model, edit), logits(model, edit, True), atol=2e-5
        )


@pytest.mark.parametrize("name", NAMES)
def test_without_video_its_quadrants_are_empty(
    name: str, build: Callable[..., Any]
) -> None:
    model = build(name)
    sample = asked("", "does the man open the door ?")
    plain = model.respond([Trial(sample=sample)])[0].logits
    for quadrants, same in (({"VV", "VT", "TV"}, True), ({"TT"}, False)):
        edit = AverageAttention(quadrants=frozenset(quadrants))
        edited = model.respond([Trial(sample=sample, edit=edit)])[0].logits
        assert np.allclose(edited, plain, atol=1e-5) == same
    assert set(model.modalities([Trial(sample=sample)], 0)[0]) == {TEXT}


@pytest.mark.parametrize("name", NAMES)
def test_text_averages_leave_the_video_to_itself(
    name: str, build: Callable[..., Any]
) -> None:
    """Row by row: a short-circuited quadrant is constant, mass and the other ones stay in place."""
    model, sample = build(name), SAMPLES[0]
    layer = 1 if name == "singularity" else 0
    trial = Trial(sample=sample)
    edited = Trial(sample=sample, edit=AverageAttention(quadrants=frozenset({"TV"})))
    before, after = (model.attention([one], layer)[0] for one in (trial, edited))
    kinds = model.modalities([trial], layer)[0]
    queries, keys = np.split(kinds, [before.shape[1]])
    assert before.shape[1:] == (len(queries), len(keys))
    np.testing.assert_allclose(before.sum(-1), 1, atol=1e-5)
    text, video = queries == TEXT, keys == VIDEO
    quadrant = after[:, text][:, :, video]
    assert np.ptp(quadrant, axis=-1).max() < 1e-6 < np.ptp(before[:, text][:, :, video])
    np.testing.assert_allclose(
        quadrant.sum(-1), before[:, text][:, :, video].sum(-1), atol=1e-5
    )
    np.testing.assert_allclose(after[:, :, ~video], before[:, :, ~video], atol=1e-6)
    np.testing.assert_allclose(after[:, ~text], before[:, ~text], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_padding_of_a_batch_is_left_out(name: str, build: Callable[..., Any]) -> None:
    model = build(name)
    trials = [Trial(sample=sample) for sample in SAMPLES]
    together = model.attention(trials, 1)
    for trial, weights in zip(trials, together, strict=True):
        np.testing.assert_allclose(weights, model.attention([trial], 1)[0], atol=1e-6)
    assert len({weights.shape for weights in together}) > 1


@pytest.mark.parametrize("name", NAMES)
def test_layers_outside_the_model_are_refused(
    name: str, build: Callable[..., Any]
) -> None:
    model = build(name)
    count = model.fusion.layers
    edit = AverageAttention(quadrants=frozenset({"TT"}), layers=(count,))
    expected = f"layer {count}: expected layers 0 to {count - 1}"
    with pytest.raises(UserError, match=expected):
        model.respond([Trial(sample=SAMPLES[0], edit=edit)])
    with pytest.raises(UserError, match=expected):
        model.attention([Trial(sample=SAMPLES[0])], count)
    averaged = Trial(
        sample=SAMPLES[0], edit=AverageTokens(modalities=frozenset({"video"}))
    )
    with pytest.raises(UserError, match="averaged away"):
        model.attention([averaged], 0)
