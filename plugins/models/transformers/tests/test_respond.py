"""Answers of the plugin against the library's own forward on the library's own inputs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import current_thread
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from media_files import OddImage
from PIL import Image

from cuescope_sdk import Frame, HideTokens, Sample, Trial, UserError
from cuescope_transformers import Transformers

LABELS = ("bird", "boat", "cow")
PROMPTS = [f"a photo of a {label}." for label in LABELS]
BOTH = frozenset({"logits", "embedding"})
PADDING = {"clip": True, "siglip": "max_length", "siglip2": "max_length", "xclip": True}
Build = Callable[..., Transformers]


def stock(folder: Path, images: list[Image.Image], padding: Any) -> Any:
    """The library's own answer to PROMPTS."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    read_images = transformers.AutoImageProcessor.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = tokenizer(
        PROMPTS, padding=padding, truncation=True, max_length=32, return_tensors="pt"
    )
    with torch.inference_mode():
        return model(**read_images(images, return_tensors="pt"), **texts)


def one(frame: Frame, *, choices: tuple[str, ...] = LABELS) -> Sample:
    return Sample(key="one", frames=(frame,), choices=choices)


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2"])
def test_a_single_frame_is_the_stock_zero_shot_classifier(
    build: Build, folders: dict[str, Path], kind: str, frames: tuple[Frame, ...]
) -> None:
    model = build(kind)
    for frame in frames[:2]:
        [answer] = model.respond([Trial(sample=one(frame), outputs=BOTH)])
        expected = stock(folders[kind], [frame.load()], PADDING[kind])
        np.testing.assert_allclose(
            answer.logits, expected.logits_per_image[0], atol=1e-5
        )
        np.testing.assert_allclose(
            answer.embedding, expected.image_embeds[0], atol=1e-6
        )
        assert np.ptp(answer.logits) > 1e-3


def test_a_video_is_the_stock_classifier_with_prompted_texts(
    build: Build, folders: dict[str, Path], frames: tuple[Frame, ...]
) -> None:
    model = build("xclip")
    shown = frames[0:8:2]
    sample = Sample(key="clip", frames=shown, choices=LABELS)
    [answer] = model.respond([Trial(sample=sample, outputs=BOTH)])
    expected = stock(folders["xclip"], [frame.load() for frame in shown], True)
    np.testing.assert_allclose(answer.logits, expected.logits_per_video[0], atol=1e-5)
    np.testing.assert_allclose(answer.embedding, expected.video_embeds[0], atol=1e-6)
    unprompted = model.embed_choices(LABELS) @ answer.embedding * model._head.scale
    assert not np.allclose(unprompted, answer.logits, atol=1e-2)


def test_images_of_different_grids_are_answered_together(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    model = build("siglip2")
    trials = [Trial(sample=one(frame), outputs=BOTH) for frame in frames[:4]]
    grids = {features.shape[:2] for features in model.patch_features(frames[:4])}
    assert grids == {(4, 5), (6, 3)}
    apart = [build("siglip2").respond([trial])[0] for trial in trials]
    for together, alone in zip(model.respond(trials), apart, strict=True):
        assert np.array_equal(together.logits, alone.logits)


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2", "xclip"])
def test_patch_features_are_the_librarys_hidden_states(
    build: Build, folders: dict[str, Path], kind: str, frames: tuple[Frame, ...]
) -> None:
    model = build(kind)
    loaded = transformers.AutoModel.from_pretrained(folders[kind]).eval()
    inputs = model.image_tower.prepare([frames[0].load()] * model.image_tower.frames)
    if kind == "xclip":
        inputs = {"pixel_values": inputs["pixel_values"][0]}
    with torch.inference_mode():
        hidden = loaded.vision_model(**inputs, output_hidden_states=True).hidden_states
    [first] = model.patch_features(frames[:1], layer=0)
    [last] = model.patch_features(frames[:1])
    for features, states in ((first, hidden[1]), (last, hidden[2])):
        prefix, (rows, cols, dim) = int("clip" in kind), features.shape
        expected = states[0, prefix : prefix + rows * cols].reshape(rows, cols, dim)
        np.testing.assert_allclose(features, expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2", "xclip"])
def test_the_canvas_is_what_the_processor_shows(
    build: Build, folders: dict[str, Path], kind: str, frames: tuple[Frame, ...]
) -> None:
    """Resized and cropped by the processor, without the rescaling and normalisation."""
    model = build(kind)
    processor = transformers.AutoImageProcessor.from_pretrained(folders[kind])
    for frame in frames[:2]:
        [canvas] = model.canvas([frame])
        assert canvas.dtype == np.uint8
        [again] = model.canvas([Frame.from_array(canvas)])
        assert np.array_equal(canvas, again)
        if kind != "siglip2":  # whose bare output is patches
            bare = processor(
                [frame.load()],
                do_rescale=False,
                do_normalize=False,
                return_tensors="np",
            )["pixel_values"].reshape(3, 32, 32)
            assert np.array_equal(canvas, bare.transpose(1, 2, 0))


def test_a_flexible_canvas_keeps_the_shape_of_the_image(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    from torchvision.transforms.v2 import functional

    [wide, tall] = build("siglip2").canvas(frames[:2])
    assert (wide.shape, tall.shape) == ((32, 40, 3), (48, 24, 3))
    pixels = torch.from_numpy(np.array(frames[0].load())).permute(2, 0, 1)
    resized = functional.resize(pixels, [32, 40], antialias=True).permute(1, 2, 0)
    assert np.array_equal(wide, resized.numpy())


@pytest.mark.parametrize("kind", ["clip", "siglip2", "xclip"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_low_precision_stays_near(
    build: Build, kind: str, dtype: str, frames: tuple[Frame, ...]
) -> None:
    full, low = build(kind), build(kind, dtype=dtype)
    sample = Sample(key="s", frames=frames[: full.image_tower.frames], choices=LABELS)
    [one], [other] = (
        m.respond([Trial(sample=sample, outputs=BOTH)]) for m in (full, low)
    )
    assert one.embedding @ other.embedding == pytest.approx(1, abs=1e-2)
    assert not np.array_equal(one.embedding, other.embedding)
    assert full.fingerprint != low.fingerprint


def test_texts_of_siglip_are_lower_cased_and_padded(build: Build) -> None:
    model = build("siglip")
    rows = model.embed_texts(
        ["A Photo of the COW", "a photo of the cow", "a photo of the cow ."]
    )
    assert np.array_equal(rows[0], rows[1])
    assert not np.allclose(rows[1], rows[2], atol=1e-3)


def test_a_text_beyond_the_context_is_cut_at_its_end(build: Build) -> None:
    model = build("clip")
    long, longer = "cow boat " * 10, "cow boat " * 10 + "bird " * 10
    rows = model.embed_texts([long, longer, "cow boat"])
    assert np.allclose(rows[0], rows[1], atol=1e-6)
    assert not np.allclose(rows[0], rows[2], atol=1e-3)


def test_an_image_tower_alone_scores_by_a_table(
    build: Build, table: Path, frames: tuple[Frame, ...]
) -> None:
    model = build("clip-vision", class_embeddings=table)
    [answer] = model.respond([Trial(sample=one(frames[0]), outputs=BOTH)])
    with np.load(table) as content:
        rows = content["embeddings"][:3]
    expected = 100 * rows @ answer.embedding / np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(answer.logits, expected, atol=1e-4)
    assert not hasattr(model, "embed_texts")
    with pytest.raises(
        UserError, match=r"^transformers: clip-vision has no text tower"
    ):
        build("clip-vision").respond([Trial(sample=one(frames[0]))])


def test_a_video_of_another_length_is_refused(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    sample = Sample(key="clip", frames=frames[:3], choices=LABELS)
    with pytest.raises(
        UserError, match=r"expected 4 frames a sample, got 3.*-O data.frames=4"
    ):
        build("xclip").respond([Trial(sample=sample)])


@pytest.mark.parametrize("kind", ["clip", "xclip"])
def test_a_mask_over_other_frames_is_refused(
    build: Build, kind: str, frames: tuple[Frame, ...]
) -> None:
    sample = Sample(key="clip", frames=frames[:4], choices=LABELS)
    edit = HideTokens.from_mask(np.zeros((3, 4, 4), dtype=bool))
    with pytest.raises(UserError, match="a mask for each of 4 frames, got 3"):
        build(kind).respond([Trial(sample=sample, edit=edit)])


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2"])
@pytest.mark.parametrize("odd", OddImage.every(), ids=lambda odd: odd.name)
def test_odd_images_are_answered(
    build: Build, kind: str, odd: OddImage, tmp_path: Path
) -> None:
    odd.check_answer(build(kind), Frame.from_file(odd.write(tmp_path)))


def test_frames_of_the_next_batch_are_loaded_while_this_one_is_answered(
    build: Build, frames: tuple[Frame, ...]
) -> None:
    """In threads, once each; answers stay bit by bit."""
    loaded: dict[int, str] = {}

    def load(number: int) -> Image.Image:
        assert number not in loaded  # once each
        loaded[number] = current_thread().name
        return frames[number % len(frames)].load()

    def trials(shown: list[Frame]) -> list[Trial]:
        return [Trial(sample=replace(one(f), key=str(i))) for i, f in enumerate(shown)]

    asked = trials(
        [Frame(f"{number:032x}", partial(load, number)) for number in range(8)]
    )
    model, answers = build("clip"), []
    model.open_weights()
    for start in range(0, 8, 2):
        model.prefetch(asked[start : start + 4])
        answers += model.respond(asked[start : start + 2])
    assert len(loaded) == 8
    assert all(name.startswith("cuescope-ahead") for name in loaded.values())
    alone = build("clip").respond(trials([frames[n % len(frames)] for n in range(8)]))
    for answer, other in zip(answers, alone, strict=True):
        assert np.array_equal(answer.logits, other.logits)
