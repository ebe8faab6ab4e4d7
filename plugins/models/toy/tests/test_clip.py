"""The small CLIP from end to end: trained, cached, unpacked, and answered by open-clip."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch

from cuescope_sdk import Context, EmbedsText, HideTokens, Sample, Trial, UserError
from cuescope_testing import FakeDataset, ModelContract, PluginShelf
from cuescope_toy.clip import ToyCLIP, training

BRIEF = {"epochs": 1}


class TestContract(ModelContract):
    plugin = ToyCLIP
    options = {**BRIEF, "data": "scenes:0", "data_options": {"train": 64}}
    other_options = {**options, "seed": 1}
    token_grid = (12, 12)


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with one training."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def build(common: Path) -> Callable[..., ToyCLIP]:
    """`build(data, **options)`: a toy CLIP, in the common cache folder or another."""
    shelf = PluginShelf({("model", "toy-clip"): ToyCLIP}, installed=True)

    def make(
        data: str = "scenes:0",
        train: int = 64,
        folder: Path = common,
        **options: Any,
    ) -> ToyCLIP:
        context = Context(shelf, folder, device="cpu")
        given = {"data": data, "data_options": {"train": train}, **BRIEF, **options}
        model: ToyCLIP = context.build("model", "toy-clip", given)
        model.open_weights()
        return model

    return make


def pictures(spec: str, count: int, **options: Any) -> list[Sample]:
    data = Context().build("dataset", spec, {"val": count, **options})
    return [data[index] for index in range(count)]


@pytest.mark.long
def test_an_equal_training_is_taken_from_the_cache(
    build: Callable[..., ToyCLIP], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = partial(build, folder=tmp_path)
    first = build()
    fitted = []
    original = training.fit
    monkeypatch.setattr(
        training, "fit", lambda *given: fitted.append(1) or original(*given)
    )
    assert build().fingerprint == first.fingerprint
    assert not fitted
    others = [
        build(seed=1),
        build(epochs=2),
        build("scenes:0.9"),
        build(train=72),
    ]
    assert len(fitted) == 4
    assert len({model.fingerprint for model in (first, *others)}) == 5


def test_what_is_audited_changes_no_training(build: Callable[..., ToyCLIP]) -> None:
    model = build()
    data = model.context.build("dataset", "scenes:0", {"train": 64, "audit_dial": 0.9})
    again = ToyCLIP(ToyCLIP.Options(**BRIEF), replace(model.context, dataset=data))
    assert again.fingerprint == model.fingerprint


def test_a_damaged_cache_is_made_again(
    build: Callable[..., ToyCLIP], tmp_path: Path
) -> None:
    (sample,) = pictures("scenes:0", 8)[:1]

    def logits() -> Any:
        model = build(folder=tmp_path)
        return model.respond([Trial(sample=sample)])[0].logits

    before = logits()
    (folder,) = (path for path in (tmp_path / "toy-clip").iterdir() if path.is_dir())
    (folder / "open_clip_model.safetensors").write_bytes(b"short")
    np.testing.assert_array_equal(logits(), before)
    (packed,) = (tmp_path / "toy-clip").glob("*.safetensors")
    packed.write_bytes(packed.read_bytes()[:100])
    with pytest.warns(UserWarning, match="corrupt"):
        np.testing.assert_array_equal(logits(), before)


def test_answers_as_open_clip_itself_does(
    build: Callable[..., ToyCLIP], common: Path
) -> None:
    model = build()
    (folder,) = (path for path in (common / "toy-clip").iterdir() if path.is_dir())
    stock, transform = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    tokenize = open_clip.get_tokenizer(f"local-dir:{folder}")
    (sample,) = pictures("scenes:0", 8)[:1]
    with torch.no_grad():
        image = transform(sample.frames[0].load())[None]
        texts = tokenize([f"a photo of a {choice}." for choice in sample.choices])
        expected = stock.eval().get_logits(image, texts)[0][0].numpy()
    (response,) = model.respond([Trial(sample=sample)])
    np.testing.assert_allclose(response.logits, expected, atol=1e-4)


def test_can_do_what_open_clip_can(build: Callable[..., ToyCLIP]) -> None:
    model, (sample,) = build(), pictures("scenes:0", 8)[:1]
    assert isinstance(model, EmbedsText)
    assert model.embed_texts(["a photo"]).shape == (1, 64)
    assert hasattr(model, "patch_features")
    (features,) = model.patch_features(sample.frames)
    assert features.shape == (12, 12, 96)
    (canvas,) = model.canvas(sample.frames)
    np.testing.assert_array_equal(canvas, sample.frames[0].load())
    hidden = Trial(sample=sample, edit=HideTokens.from_mask(np.ones((1, 12, 12), bool)))
    plain, blind = model.respond([Trial(sample=sample), hidden])
    assert plain.logits is not None
    assert blind.logits is not None
    assert np.abs(plain.logits - blind.logits).max() > 1e-3


def test_options_of_texts_reach_open_clip(build: Callable[..., ToyCLIP]) -> None:
    (sample,) = pictures("scenes:0", 8)[:1]
    plain, halved = (
        build(logit_scale=scale).respond([Trial(sample=sample)])[0].logits
        for scale in (10.0, 5.0)
    )
    assert plain is not None
    assert halved is not None
    np.testing.assert_allclose(plain - plain[0], 2 * (halved - halved[0]), atol=1e-4)
    with pytest.raises(UserError, match="Did you mean 'plain'"):
        build(templates="plane")


def test_refuses_data_that_it_cannot_be_trained_on(tmp_path: Path) -> None:
    class Sequences(FakeDataset):
        def split(self, name: str) -> "Sequences":
            return self

    class Single(Sequences):
        def __getitem__(self, index: int) -> Sample:
            whole = super().__getitem__(index)
            return replace(whole.with_frames(whole.frames[:1], "one"), label=None)

    def built(dataset: Any) -> None:
        shelf = PluginShelf({}, installed=True)
        ToyCLIP(
            ToyCLIP.Options(), Context(shelf, tmp_path, dataset=dataset)
        ).open_weights()

    plain = Context()
    with pytest.raises(UserError, match="toy-clip: nothing to train on"):
        built(None)
    with pytest.raises(
        UserError, match=r"is a sequence: expected one frame .* got \d+\. Use"
    ):
        built(Sequences(Sequences.Options(), plain))
    with pytest.raises(
        UserError, match=r"cannot be trained on: expected a label .* got no label"
    ):
        built(Single(Single.Options(), plain))
