"""The fusion toy from end to end: trained, cached, asked with frames, words, either or both."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from cuescope_sdk import Context, Dataset, Outcome, Sample, Trial, UserError
from cuescope_sdk.fusion import TEXT, VIDEO, AverageAttention, AverageTokens, HasFusion
from cuescope_testing import ModelContract, PluginShelf
from cuescope_toy.fusion import ToyFusion, training

BRIEF = {"epochs": 2, "data": "moving-shapes:none"}
FEW = {"train": 120, "val": 60, "test": 60}


class TestContract(ModelContract):
    plugin = ToyFusion
    options = {"epochs": 2}
    other_options = {"epochs": 2, "positions": False}


class TestHalfPrecision(ModelContract):
    plugin = ToyFusion
    options = {"epochs": 1}
    dtype = "bfloat16"


Build = Callable[..., tuple[ToyFusion, Dataset]]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build(planted, **options)`: a model and the data that it was trained on."""
    common = tmp_path_factory.mktemp("cache")
    shelf = PluginShelf({("model", "toy-fusion"): ToyFusion}, installed=True)

    def make(
        planted: str = "both",
        *,
        folder: Path = common,
        sizes: Any = FEW,
        **options: Any,
    ) -> tuple[ToyFusion, Dataset]:
        asked = {"questions": planted, **sizes}
        context = Context(shelf, folder, device="cpu")
        model = context.build(
            "model", "toy-fusion", {**BRIEF, "data_options": asked, **options}
        )
        model.open_weights()
        return model, context.build("dataset", "moving-shapes:none", asked)

    return make


def some(data: Dataset, count: int = 40) -> list[Sample]:
    return [data[index] for index in range(count)]


def logits(model: ToyFusion, trials: Iterable[Trial]) -> np.ndarray:
    return np.stack(
        [np.asarray(response.logits) for response in model.respond(list(trials))]
    )


def accuracy(model: ToyFusion, samples: list[Sample], *quadrants: Any) -> float:
    edit = AverageAttention(quadrants=frozenset(quadrants))
    trials = [Trial(sample=sample, edit=edit) for sample in samples]
    answered = zip(trials, model.respond(trials), strict=True)
    return float(np.mean([Outcome(*pair).correct() for pair in answered]))


def without_video(samples: list[Sample]) -> list[Sample]:
    return [sample.with_frames((), "blind") for sample in samples]


def without_words(samples: list[Sample]) -> list[Sample]:
    return [replace(sample, question=None) for sample in samples]


def test_text_that_tells_the_answer_is_all_that_is_used(build: Build) -> None:
    model, data = build("text", epochs=8, sizes={**FEW, "train": 1600, "val": 240})
    samples = some(data, 200)
    assert accuracy(model, samples) > 0.95
    assert accuracy(model, without_video(samples)) > 0.95
    assert accuracy(model, without_words(samples)) < 0.45
    assert accuracy(model, samples, "VT", "TV") > 0.95
    assert accuracy(model, samples, "VV", "TV") > 0.95
    assert accuracy(model, samples, "TT", "VT") < 0.45


@pytest.mark.long
def test_a_video_that_tells_the_answer_is_all_that_is_used(build: Build) -> None:
    model, data = build("video", epochs=9, sizes={**FEW, "train": 1600, "val": 240})
    samples = some(data, 200)
    assert accuracy(model, samples) > 0.9
    assert accuracy(model, without_words(samples)) > 0.85
    assert accuracy(model, without_video(samples)) < 0.45
    assert accuracy(model, samples, "TT", "VT") > 0.85
    assert accuracy(model, samples, "VT", "TV") < 0.55


def test_a_bag_of_frames_is_blind_to_their_order(build: Build) -> None:
    for positions in (False, True):
        model, data = build(positions=positions)
        plain = some(data)
        turned = [sample.with_frames(sample.frames[::-1], "turned") for sample in plain]
        rows = [
            logits(model, [Trial(sample=s) for s in shown]) for shown in (plain, turned)
        ]
        assert (np.abs(rows[0] - rows[1]).max() < 1e-5) is not positions
        assert model.facts["frames"].startswith(
            "in their order" if positions else "a bag"
        )


def test_any_number_of_frames_and_words_goes_together_as_alone(build: Build) -> None:
    model, data = build()
    edits = (
        None,
        AverageAttention(quadrants=frozenset(("VV", "TV"))),
        AverageTokens(modalities=frozenset(("video",))),
    )
    trials = [
        Trial(
            sample=sample.with_frames(sample.frames[:count] * times, f"{count}"),
            edit=edit,
        )
        for edit in edits
        for sample, count, times in zip(
            some(data), (0, 1, 3, 5, 5), (1, 1, 1, 1, 3), strict=False
        )
    ]
    trials += [Trial(sample=sample) for sample in without_words(some(data, 3))]
    trials += [
        Trial(sample=sample) for sample in without_video(without_words(some(data, 2)))
    ]
    alone = np.concatenate([logits(model, [trial]) for trial in trials])
    np.testing.assert_allclose(logits(model, trials), alone, rtol=0, atol=1e-5)


def test_an_edit_is_made_in_the_layers_that_it_names(build: Build) -> None:
    model, data = build(layers=3)
    sample = data[0]

    def edited(*layers: int) -> np.ndarray:
        edit = AverageAttention(quadrants=frozenset(("TV", "TT")), layers=layers)
        return logits(model, [Trial(sample=sample, edit=edit)])

    each = [
        logits(model, [Trial(sample=sample)]),
        *(edited(layer) for layer in range(3)),
    ]
    assert all(np.abs(a - b).max() > 1e-4 for a, b in combinations(each, 2))
    whole = AverageAttention(quadrants=frozenset(("TV", "TT")))
    np.testing.assert_allclose(
        edited(0, 1, 2), logits(model, [Trial(sample=sample, edit=whole)]), atol=1e-5
    )


def test_an_open_question_is_answered_from_all_labels(build: Build) -> None:
    model, data = build()
    sample = data[0]
    opened = replace(sample, choices=())
    fewer = replace(sample, choices=("north", "up"), label=None)
    asked = [
        Trial(sample=sample, outputs=frozenset(("logits", "text"))),
        Trial(sample=opened, outputs=frozenset({"text"})),
        Trial(sample=fewer, outputs=frozenset(("logits", "text"))),
    ]
    closed, open_, partly = model.respond(asked)
    assert closed.text == open_.text == sample.choices[closed.prediction or 0]
    assert open_.logits is None
    assert partly.text == "north"


def test_reading_shows_frames_words_and_the_answer(build: Build) -> None:
    model, data = build()
    looked_at = cast(HasFusion, model)
    sample = data[0]
    words = len(str(sample.question).split())
    trials = [
        Trial(sample=s, outputs=frozenset()) for s in (sample, *without_video([sample]))
    ]
    expected = [VIDEO] * 5 + [TEXT] * (words + 1)
    found = looked_at.modalities(trials, 1)
    assert [kinds.tolist() for kinds in found] == [expected * 2, expected[5:] * 2]
    assert [weights.shape for weights in looked_at.attention(trials, 1)] == [
        (4, words + 6, words + 6),
        (4, words + 1, words + 1),
    ]
    size = model.fusion
    assert size.heads * size.head_dim == size.dim == 64
    assert size.kv_heads == size.heads
    assert size.mlp_multiplications == 8 * size.dim**2


def test_refuses_what_it_cannot_answer(build: Build) -> None:
    model, data = build()
    sample = data[0]
    beyond = AverageAttention(quadrants=frozenset({"VV"}), layers=(0, 2))
    unknown = replace(sample, choices=("left", "right"), label=None)
    faults = [
        (
            Trial(sample=sample, edit=beyond),
            "no fusion layer 2: expected layers 0 to 1",
        ),
        (Trial(sample=unknown), "has no choice that was trained on: .*got left, right"),
        (Trial(sample=sample, outputs=frozenset({"embedding"})), "gives no embedding"),
        (Trial(sample=replace(sample, choices=())), "has no choices to score"),
    ]
    for trial, message in faults:
        with pytest.raises(UserError, match=message):
            model.respond([trial])
    looked_at = cast(HasFusion, model)
    with pytest.raises(UserError, match="no fusion layer 7"):
        looked_at.attention([Trial(sample=sample, outputs=frozenset())], 7)
    averaged = AverageTokens(modalities=frozenset({"text"}))
    with pytest.raises(UserError, match="no attention weights under average-tokens"):
        looked_at.attention(
            [Trial(sample=sample, edit=averaged, outputs=frozenset())], 0
        )


def test_equal_trainings_are_cached(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = []
    original = training.fit
    monkeypatch.setattr(
        training, "fit", lambda *given: fitted.append(1) or original(*given)
    )
    first, data = build(folder=tmp_path, epochs=1)
    again, _ = build(folder=tmp_path, epochs=1)
    assert len(fitted) == 1
    assert (first.fingerprint, first.facts) == (again.fingerprint, again.facts)
    trial = Trial(sample=data[0])
    np.testing.assert_array_equal(logits(first, [trial]), logits(again, [trial]))
    others = [
        build(folder=tmp_path, **{"epochs": 1, **other})[0].fingerprint
        for other in (
            {"seed": 1},
            {"positions": False},
            {"layers": 1},
            {"planted": "text"},
        )
    ]
    assert len(fitted) == 5
    assert len({first.fingerprint, *others}) == 5


def test_needs_data_to_train_on(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"toy-fusion: nothing to train on\. Name a data set"
    ):
        ToyFusion(ToyFusion.Options(), Context(PluginShelf({}), tmp_path))
