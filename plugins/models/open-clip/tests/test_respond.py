"""Answers of the plugin against open_clip's own forward."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch

from cuescope_open_clip import OpenCLIP
from cuescope_sdk import EmbedsText, Frame, HideTokens, Sample, Trial, UserError
from cuescope_sdk.fusion import AverageTokens

BOTH = frozenset({"logits", "embedding"})
Build = Callable[..., OpenCLIP]


def stock_embeddings(stock: Any, frames: tuple[Frame, ...]) -> np.ndarray:
    model, transform = stock
    with torch.inference_mode():
        images = torch.stack([transform(frame.load()) for frame in frames])
        return model.encode_image(images, normalize=True).numpy()


def stock_texts(model: Any, tokenizer: Any, texts: list[str]) -> np.ndarray:
    with torch.inference_mode():
        return model.encode_text(tokenizer(texts), normalize=True).numpy()


@pytest.fixture(scope="module")
def model(build: Build) -> OpenCLIP:
    return build()


def test_a_single_frame_is_the_stock_zero_shot_classifier(
    model: OpenCLIP, stock: Any, clip: Sample
) -> None:
    import open_clip

    [answer] = model.respond(
        [Trial(sample=clip.with_frames(clip.frames[:1], "one"), outputs=BOTH)]
    )
    tokenizer = open_clip.get_tokenizer(f"local-dir:{model.options.model}")
    texts = stock_texts(
        stock[0], tokenizer, [f"a photo of a {label}." for label in clip.choices]
    )
    image = stock_embeddings(stock, clip.frames[:1])[0]
    expected = float(stock[0].logit_scale.detach().exp()) * texts @ image
    np.testing.assert_allclose(answer.logits, expected, atol=1e-4)
    np.testing.assert_allclose(answer.embedding, image, atol=1e-6)


def test_a_sequence_is_the_unit_mean_of_its_unit_frames(
    model: OpenCLIP, stock: Any, clip: Sample
) -> None:
    [answer] = model.respond([Trial(sample=clip, outputs=BOTH)])
    mean = stock_embeddings(stock, clip.frames).mean(axis=0)
    np.testing.assert_allclose(answer.embedding, mean / np.linalg.norm(mean), atol=1e-6)


def test_a_mean_of_frames_is_unit_and_survives_opposite_rows(model: OpenCLIP) -> None:
    rows = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    np.testing.assert_allclose(model.pool(rows), [2**-0.5, 2**-0.5], rtol=1e-6)
    opposite = np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32)
    assert model.pool(opposite).tolist() == [0.0, 0.0]


def test_each_frame_is_encoded_once(build: Build, clip: Sample) -> None:
    model = build()
    trials = [
        Trial(sample=clip),
        *(Trial(sample=clip.static(index)) for index in range(4)),
    ]
    for _ in range(2):
        model.respond(trials)
        model.patch_features(clip.frames)
    assert model.passes == 4


def test_the_next_audit_finds_what_was_encoded(build: Build, clip: Sample) -> None:
    first, after = build(), build()
    after.context = first.context
    alone = build().patch_features(clip.frames)
    first.respond([Trial(sample=clip)])
    remembered = after.patch_features(clip.frames)
    assert after.passes == 0
    for patches, expected in zip(remembered, alone, strict=True):
        assert np.array_equal(patches, expected)


def test_the_memory_of_frames_is_bounded(
    build: Build, clip: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope_sdk.torch._encoding.REMEMBERED_ROWS", 2)
    model = build()
    model.respond([Trial(sample=clip)])
    assert list(model._encoder.memory.rows) == [
        (f.key, None, None) for f in clip.frames[-2:]
    ]


def test_answers_do_not_depend_on_the_batch(build: Build, clip: Sample) -> None:
    trials = [Trial(sample=clip.static(index), outputs=BOTH) for index in range(4)]
    together = build().respond(trials)
    apart = [build().respond([trial])[0] for trial in reversed(trials)][::-1]
    for one, other in zip(together, apart, strict=True):
        assert np.array_equal(one.logits, other.logits)
        assert np.array_equal(one.embedding, other.embedding)


def test_padded_chunks_answer_as_single_frames(
    build: Build, frames: tuple[Frame, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = Sample(key="seven", frames=frames, choices=("bird", "boat", "cow"))
    singly, padded = build(), build()
    monkeypatch.setattr(padded._encoder, "_chunk", 4)
    [one], [other] = (
        m.respond([Trial(sample=sample, outputs=BOTH)]) for m in (singly, padded)
    )
    np.testing.assert_allclose(one.embedding, other.embedding, atol=1e-6)
    np.testing.assert_allclose(one.logits, other.logits, atol=1e-4)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_low_precision_stays_near(build: Build, clip: Sample, dtype: str) -> None:
    [full] = build().respond([Trial(sample=clip, outputs=BOTH)])
    [low] = build(dtype=dtype).respond([Trial(sample=clip, outputs=BOTH)])
    assert low.embedding.dtype == np.float32
    assert full.embedding @ low.embedding == pytest.approx(1, abs=5e-3)
    assert not np.array_equal(full.embedding, low.embedding)


def test_choices_are_scored_by_the_prompt_ensemble(
    build: Build, stock: Any, clip: Sample
) -> None:
    import open_clip

    [answer] = build(templates="action28", logit_scale=50).respond([Trial(sample=clip)])
    tokenizer = open_clip.get_tokenizer(f"local-dir:{build().options.model}")
    from cuescope_sdk.models import Templates

    templates = Templates.find("action28", "open-clip")
    rows = []
    for label in clip.choices:
        prompts = templates.prompts(label)
        mean = stock_texts(stock[0], tokenizer, prompts).mean(axis=0)
        rows.append(mean / np.linalg.norm(mean))
    image = stock_embeddings(stock, clip.frames).mean(axis=0)
    expected = 50 * np.stack(rows) @ (image / np.linalg.norm(image))
    np.testing.assert_allclose(answer.logits, expected, atol=1e-4)


def test_siglip_adds_its_bias(
    build: Build, write_folder: Callable[..., Path], tmp_path: Path, clip: Sample
) -> None:
    import open_clip

    folder = write_folder(tmp_path / "siglip", init_logit_bias=-10.0, custom_text=True)
    one = clip.with_frames(clip.frames[:1], "one")
    [answer] = build(model=str(folder)).respond([Trial(sample=one)])
    model, transform = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    tokens = open_clip.get_tokenizer(f"local-dir:{folder}")(
        [f"a photo of a {label}." for label in clip.choices]
    )
    with torch.inference_mode():
        image, text, scale, bias = model.eval()(
            transform(one.frames[0].load())[None], tokens
        )
        expected = (scale * image @ text.T + bias)[0].numpy()
    assert float(bias.detach()) == -10
    np.testing.assert_allclose(answer.logits, expected, atol=1e-4)


def test_only_what_is_asked_for_is_answered(model: OpenCLIP, clip: Sample) -> None:
    nameless = Sample(key="nameless", frames=clip.frames)
    [answer] = model.respond([Trial(sample=nameless, outputs=frozenset({"embedding"}))])
    assert answer.logits is None
    assert np.linalg.norm(answer.embedding) == pytest.approx(1, abs=1e-6)
    with pytest.raises(UserError, match="'nameless' has no choices"):
        model.respond([Trial(sample=nameless)])


def test_edits_and_text_are_refused(model: OpenCLIP, clip: Sample) -> None:
    odd = HideTokens.from_mask(np.ones((4, 3, 5), bool))
    with pytest.raises(UserError, match=r"expected 4 x 4 patches, or .* got 3 x 5"):
        model.respond([Trial(sample=clip, edit=odd)])
    short = HideTokens.from_mask(np.ones((2, 4, 4), bool))
    with pytest.raises(UserError, match="a mask for each of 4 frames, got 2"):
        model.respond([Trial(sample=clip, edit=short)])
    averaged = AverageTokens(modalities=frozenset({"video"}))
    with pytest.raises(UserError, match="got the edit 'average-tokens'"):
        model.respond([Trial(sample=clip, edit=averaged)])
    with pytest.raises(UserError, match="no text"):
        model.respond([Trial(sample=clip, outputs=frozenset({"text"}))])


def test_texts_are_embedded_as_they_stand(model: OpenCLIP, stock: Any) -> None:
    import open_clip

    assert isinstance(model, EmbedsText)
    texts = [f"text number {index}" for index in range(130)]
    tokenizer = open_clip.get_tokenizer(f"local-dir:{model.options.model}")
    rows = model.embed_texts(texts)
    np.testing.assert_allclose(rows, stock_texts(stock[0], tokenizer, texts), atol=1e-6)
    assert model.embed_texts([]).shape == (0, 16)


def test_openai80_is_open_clips_own(build: Build) -> None:
    templates = build(templates="openai80").more_templates()["openai80"]
    filled = [template.replace("{label}", "jay") for template in templates]
    assert filled == [
        template("jay") for template in open_clip.OPENAI_IMAGENET_TEMPLATES
    ]
    assert len(set(filled)) == 80
