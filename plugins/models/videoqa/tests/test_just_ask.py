"""JustAsk against the library's own modules, and against its formula."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import videoqa_published as published
from media_files import MediaFile
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear
from transformers import DistilBertConfig, DistilBertModel
from transformers.models.distilbert.modeling_distilbert import Transformer
from videoqa_samples import ANSWERS, WORDS, asked, video

from cuescope_sdk import Context, Frame, Sample, Trial, UserError
from cuescope_sdk.data import Videos

SAMPLE = asked("two", "does the man open the door ?", ("dog", "red ball", "blue"))


def distilbert(tensors: dict[str, Tensor], prefix: str) -> Any:
    config = DistilBertConfig(
        vocab_size=published.VOCABULARY,
        dim=published.WIDE,
        n_layers=2,
        n_heads=4,
        hidden_dim=48,
        max_position_embeddings=published.PLACES,
    )
    model = DistilBertModel(config).eval()
    own = {
        n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)
    }
    model.load_state_dict(own)
    return model


@torch.no_grad()
def by_hand(tensors: dict[str, Tensor], features: Tensor, sample: Sample) -> np.ndarray:
    """The authors' forward in vqa mode, padding and all, from stock modules."""

    def affine(name: str, states: Tensor) -> Tensor:
        return linear(states, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def normed(name: str, states: Tensor) -> Tensor:
        size = states.shape[-1:]
        return layer_norm(
            states, size, tensors[f"{name}.weight"], tensors[f"{name}.bias"], 1e-12
        )

    def ids(text: str) -> Tensor:
        words = ["[CLS]", *text.split(), "[SEP]"]
        return torch.tensor([[WORDS.index(word) for word in words]])

    question = ids(sample.question or "")
    words = distilbert(tensors, "bert.bert.")(question).last_hidden_state
    empty = published.QUESTION - question.shape[1]
    words = torch.cat([words, torch.zeros(1, empty, published.WIDE)], dim=1)
    video = torch.zeros(1, published.FEATURES, published.S3D)
    video[0, : len(features)] = features
    states = torch.cat(
        [
            normed("norm_question", gelu(affine("linear_question", words))),
            normed("norm_video", gelu(affine("linear_video", video))),
        ],
        dim=1,
    )
    modality = torch.tensor([0] * published.QUESTION + [1] * published.FEATURES)
    states = states + tensors["position.position_embeddings.weight"]
    states = normed(
        "position.LayerNorm",
        states + tensors["position.modality_embedding.weight"][modality],
    )
    mask = torch.zeros(1, published.QUESTION + published.FEATURES, dtype=torch.bool)
    mask[0, : question.shape[1]] = True
    mask[0, published.QUESTION : published.QUESTION + len(features)] = True
    config = DistilBertConfig(dim=published.SMALL, n_layers=2, n_heads=2, hidden_dim=24)
    config._attn_implementation = "sdpa"
    fusion = Transformer(config).eval()
    fusion.load_state_dict(
        {n[4:]: t for n, t in tensors.items() if n.startswith("mmt.")}
    )
    fused = fusion(states, attention_mask=mask[:, None, None]).last_hidden_state
    answer_encoder = distilbert(tensors, "amodel.bert.bert.")
    answers = [
        answer_encoder(ids(answer)).last_hidden_state[:, 0] for answer in sample.choices
    ]
    embedded = affine("amodel.linear_text", torch.cat(answers))
    return (embedded @ affine("vqproj.1", fused[0, 0])).numpy()


def test_answers_as_the_formula_says(build: Callable[..., Any], place: Path) -> None:
    tensors = published.drawn(published.just_ask())
    tensors = {name.removeprefix("module."): tensor for name, tensor in tensors.items()}
    features = torch.load(place / "s3d.pth")["two"]
    found = build("just-ask").respond([Trial(sample=SAMPLE)])[0].logits
    np.testing.assert_allclose(
        found, by_hand(tensors, features, SAMPLE), rtol=1e-4, atol=1e-5
    )


def test_long_videos_are_thinned_evenly(build: Callable[..., Any], place: Path) -> None:
    """Of seven features five: the authors take those at (place * 7) // 5."""
    rows = torch.load(place / "s3d.pth")
    assert len(rows["five"]) == 7
    torch.save(
        {"two": rows["five"][[0, 1, 2, 4, 5]], "five": rows["five"]}, place / "thin.pth"
    )
    model = build("just-ask", features=place / "thin.pth")
    one, other = (
        response.logits
        for response in model.respond(
            [Trial(sample=asked(name, "what is it ?")) for name in ("two", "five")]
        )
    )
    # rows of one batch, float32
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_a_segment_has_the_features_of_its_seconds(
    build: Callable[..., Any], place: Path, tmp_path: Path
) -> None:
    """A video of 6 s with a feature a second; frames of unknown seconds are refused."""
    MediaFile.video(tmp_path / "long.mp4", 60)  # 10 frames a second
    videos = Videos.open(tmp_path, {"long": ("long",)}, Context(cache=tmp_path), "test")
    clip = videos.good["long"]
    rows = torch.randn(6, published.S3D, generator=torch.Generator().manual_seed(1))
    features = {"long": rows, "two": rows[2:4], "from": rows[4:], "part": rows[1:3]}
    torch.save(features, place / "seconds.pth")
    model = build("just-ask", features=place / "seconds.pth")

    def answer(frames: tuple[Frame, ...]) -> np.ndarray:
        sample = replace(asked("two", "what is it ?"), frames=frames)
        found: np.ndarray = model.respond([Trial(sample=sample)])[0].logits
        return found

    for (start, end), expected in {
        (0.0, None): "long",
        (2.0, 4.0): "two",
        (4.0, None): "from",
        (1.2, 2.9): "part",  # touches both
    }.items():
        found = answer(clip.clip(4, start, end))
        np.testing.assert_array_equal(found, answer(video(expected, 4)))
    with pytest.raises(UserError, match="nor known seconds of it"):
        answer(clip.frames_at([20, 25, 30]))


def test_open_questions_have_the_best_of_the_vocabulary(
    build: Callable[..., Any],
) -> None:
    model = build("just-ask")
    closed = Trial(sample=asked("one", "what is it ?", ANSWERS))
    opened = Trial(sample=asked("one", "what is it ?", ()), outputs=frozenset({"text"}))
    one, other = model.respond([closed, opened])
    assert other.text == ANSWERS[int(one.logits.argmax())] == one.text
    assert other.logits is None


def test_features_go_by_the_file_that_is_shown(
    build: Callable[..., Any], place: Path
) -> None:
    """As a folder of arrays, and under the ids that the authors' files have."""
    rows = torch.load(place / "s3d.pth")
    folder = place / "arrays"
    folder.mkdir()
    for name in ("one", "two"):
        np.save(folder / f"{name}.mp4.npy", rows[name].half().numpy())
    torch.save({7010: rows["one"], "abcdefghijk": rows["two"]}, place / "ids.pth")

    def answer(name: str, features: Path) -> np.ndarray:
        trial = Trial(sample=asked(name, "what is it ?"))
        found: np.ndarray = (
            build("just-ask", features=features).respond([trial])[0].logits
        )
        return found

    for name, published_as in (("one", "video7010"), ("two", "v_abcdefghijk")):
        plain = answer(name, place / "s3d.pth")
        np.testing.assert_allclose(answer(name, folder), plain, atol=0.02)
        np.testing.assert_array_equal(answer(published_as, place / "ids.pth"), plain)
