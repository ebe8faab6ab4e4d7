"""The trained model: it needs motion where it must, and takes the shortcut where it can."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import HideTokens, Sample, Trial, UserError
from cuescope_toy import Toy, ToyOptions
from cuescope_toy.encoders import text_embedding


def _right(model: Toy, samples: list[Sample]) -> np.ndarray:
    responses = model.respond([Trial(sample=sample) for sample in samples])
    return np.array(
        [
            sample.choices[response.prediction or 0] == sample.label
            for sample, response in zip(samples, responses, strict=True)
        ]
    )


def _all(data: Any) -> list[Sample]:
    return [data[index] for index in range(len(data))]


def test_temporal_model_beats_single_frame_model_by_20_points(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    """The first half of the quality filter (TRoVe, appendix A), on a test split."""
    data = dots()
    test = _all(data.split("test"))
    temporal = _right(toy(data), test).mean()
    single = [
        _right(toy(data, frames=frames), test).mean() for frames in ("first", "middle")
    ]
    assert temporal > 0.9
    assert temporal > max(single) + 0.2


def test_biased_data_makes_a_biased_model(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    """The second half: the cue costs the other label accuracy, in clips and in still clips."""
    data = dots(lying=0.08)
    left = [
        index for index, sample in enumerate(_all(data)) if sample.label == "going left"
    ]
    samples, cue = [data[index] for index in left], data.cue[left]
    assert cue.sum() >= 10
    model = toy(data)
    for shown in (samples, [sample.static(0) for sample in samples]):
        right = _right(model, shown)
        assert right[~cue].mean() - right[cue].mean() > 0.2


def test_logits_are_cosines_over_temperature(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    data = dots(samples=20)
    model = toy(data, epochs=2)
    both = frozenset({"logits", "embedding"})
    (response,) = model.respond([Trial(sample=data[3], outputs=both)])
    assert response.logits is not None
    assert response.embedding is not None
    texts = np.stack([text_embedding(choice, 64) for choice in data.labels])
    assert np.linalg.norm(response.embedding) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(
        response.logits, texts @ response.embedding / 0.07, atol=1e-5
    )
    np.testing.assert_allclose(model.embed_texts(data.labels), texts)


def test_batch_size_is_how_fast_never_what(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    data = dots()
    model = toy(data)
    trials = [Trial(sample=sample) for sample in _all(data)[:100]]
    together: Any = [response.logits for response in model.respond(trials)]
    alone: Any = [model.respond([trial])[0].logits for trial in trials]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)


def test_single_frame_model_sees_one_frame_alone(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    data = dots(samples=20)
    first, other = data[0], data[1]
    mixed = first.with_frames((first.frames[0], other.frames[1]), "mixed")
    one, same = toy(data, epochs=2, frames="first").respond(
        [Trial(sample=first), Trial(sample=mixed)]
    )
    np.testing.assert_array_equal(one.logits, same.logits)
    one, not_same = toy(data, epochs=2).respond(
        [Trial(sample=first), Trial(sample=mixed)]
    )
    assert one.logits is not None
    assert not_same.logits is not None
    assert np.abs(one.logits - not_same.logits).max() > 1e-4


def test_refuses_what_it_cannot_answer(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    data = dots(samples=20)
    model, sample = toy(data, epochs=2), data[0]
    edit = HideTokens.from_mask(np.zeros((2, 2, 2), bool))
    longer = sample.with_frames(sample.frames * 2, "long")
    faults = [
        (Trial(sample=sample, edit=edit), "toy does not take this edit .*got the edit"),
        (Trial(sample=sample, outputs=frozenset({"text"})), "toy gives no text"),
        (Trial(sample=replace(sample, choices=())), "'val-0' has no choices"),
        (Trial(sample=longer), "'val-0/long' .*expected 2 frames.*, got 4. Train on"),
    ]
    for trial, message in faults:
        with pytest.raises(UserError, match=message):
            model.respond([trial])


def test_device_and_dtype_are_checked_before_training(
    toy: Callable[..., Toy], dots: Callable[..., Any]
) -> None:
    context = toy(dots(samples=20), epochs=2).context
    with pytest.raises(UserError, match="unknown device 'gpu'"):
        Toy(ToyOptions(epochs=2), replace(context, device="gpu")).open_weights()
