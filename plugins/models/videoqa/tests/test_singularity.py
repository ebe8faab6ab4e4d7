"""Singularity against the library's BEiT and BERT, and its ranking against brute force."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import videoqa_published as published
from torch import Tensor
from torch.nn.functional import layer_norm
from transformers import BeitConfig, BeitModel, BertConfig, BertLMHeadModel, BertModel
from transformers.models.bert.modeling_bert import BertEncoder
from videoqa_samples import ANSWERS, WORDS, asked, video

from cuescope_sdk import Trial
from cuescope_sdk.fusion import AverageAttention
from cuescope_videoqa.singularity import (
    normalise_question,
    preprocess,
    temporal_positions,
)

QUESTION = "does the man open the door ?"
ASKED = ["[CLS]", "does", "the", "man", "open", "the", "door"]
BERT = {
    "vocab_size": published.VOCABULARY,
    "hidden_size": published.WIDE,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": published.PLACES,
}


def numbers(words: list[str]) -> Tensor:
    return torch.tensor([[WORDS.index(word) for word in words]])


def under(prefix: str) -> dict[str, Tensor]:
    tensors = published.drawn(published.singularity())
    return {
        n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)
    }


@torch.no_grad()
def patches(frames: int) -> Tensor:
    """(frame, patch, dim) after the stock BEiT, filled by the names that the library has now."""
    config = BeitConfig(
        hidden_size=published.WIDE,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        image_size=published.SIDE,
        patch_size=published.PATCH,
        use_relative_position_bias=True,
        use_mean_pooling=True,
        layer_scale_init_value=0.1,
    )
    model = BeitModel(config, add_pooling_layer=False).eval()
    old = under("vision_encoder.")
    for name, tensor in model.state_dict().items():
        layer, _, part = name.partition(".attention.")
        if layer.startswith("layers.") and part:
            one, kind = part.split(".")
            place = (
                "output.dense"
                if one == "o_proj"
                else "attention."
                + {"q_proj": "query", "k_proj": "key", "v_proj": "value"}[one]
            )
            source = (
                f"encoder.{layer.replace('layers', 'layer')}.attention.{place}.{kind}"
            )
        else:
            source = name.replace("layers.", "encoder.layer.")
            source = source.replace("mlp.fc1", "intermediate.dense")
            source = source.replace("mlp.fc2", "output.dense")
            source = source.replace(
                ".relative_position_bias.",
                ".attention.attention.relative_position_bias.",
            )
        tensor.copy_(old[source])
    pixels = torch.stack(
        [preprocess(frame, published.SIDE) for frame in video("one", frames)]
    )
    norm = under("vision_layernorm.")
    states = model(pixels).last_hidden_state
    return layer_norm(states, states.shape[-1:], norm["weight"], norm["bias"], 1e-12)


@torch.no_grad()
def temporal(states: Tensor) -> Tensor:
    """Every patch with those of its spot in the other frames, through the stock encoder."""
    encoder = BertEncoder(
        BertConfig(**BERT, num_hidden_layers=2, attn_implementation="sdpa")
    )
    encoder.eval().load_state_dict(under("temporal_vision_encoder."))
    places = under("temporal_embeddings")[""]
    rows = [
        states[:, spot] + temporal_positions(places, len(states))[0, :, 0]
        for spot in range(states.shape[1])
    ]
    return torch.stack([encoder(row[None]).last_hidden_state[0] for row in rows], dim=1)


@torch.no_grad()
def fused(video_states: Tensor) -> Tensor:
    """The question's states: BERT below, and above it BERT with cross-attention, both stock."""
    tensors = under("text_encoder.")
    lower = BertModel(
        BertConfig(**BERT, num_hidden_layers=1), add_pooling_layer=False
    ).eval()
    lower.load_state_dict({n: t for n, t in tensors.items() if n in lower.state_dict()})
    config = BertConfig(
        **BERT,
        num_hidden_layers=2,
        is_decoder=True,
        add_cross_attention=True,
        attn_implementation="sdpa",
    )
    upper = BertEncoder(config).eval()
    upper.load_state_dict(
        {
            n.replace(f".{k + 1}.", f".{k}.", 1).removeprefix("encoder."): t
            for k in range(2)
            for n, t in tensors.items()
            if n.startswith(f"encoder.layer.{k + 1}.")
        }
    )
    for layer in upper.layer:
        layer.attention.self.is_causal = False
    states = lower(numbers(ASKED)).last_hidden_state
    return upper(states, None, video_states[None]).last_hidden_state[0]  # type: ignore[no-any-return]


@torch.no_grad()
def ranked(question: Tensor, answers: tuple[str, ...]) -> np.ndarray:
    """Log-probability of each answer, word for word, from the stock decoder; the first twice."""
    config = BertConfig(
        **BERT,
        num_hidden_layers=2,
        is_decoder=True,
        add_cross_attention=True,
        tie_word_embeddings=False,
    )
    decoder = BertLMHeadModel(config).eval()
    decoder.load_state_dict(
        {n: t for n, t in under("text_decoder.").items() if "position_ids" not in n}
    )
    scores = []
    for answer in answers:
        words = numbers(["[CLS]", *answer.split(), "[SEP]"])
        logits = decoder(words, encoder_hidden_states=question[None]).logits[0]
        each = [
            float(logits[i].log_softmax(-1)[words[0, i + 1]])
            for i in range(words.shape[1] - 1)
        ]
        scores.append(each[0] + sum(each))
    return np.array(scores)


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_answers_as_the_stock_parts_do(frames: int, build: Callable[..., Any]) -> None:
    """One frame skips the temporal encoder; five are more than the checkpoint has places for."""
    choices = ("dog", "red ball", "yes")
    found = (
        build("singularity")
        .respond([Trial(sample=asked("one", QUESTION, choices, count=frames))])[0]
        .logits
    )
    states = patches(frames)
    still = states + under("temporal_embeddings")[""][0, :1]
    states = temporal(states) if frames > 1 else still
    expected = ranked(fused(states.flatten(0, 1)), choices)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_without_temporal_encoder_frames_have_no_place(
    build: Callable[..., Any], place: Any
) -> None:
    tensors = published.drawn(published.singularity())
    still = {
        n: t for n, t in tensors.items() if not n.startswith("temporal_vision_encoder.")
    }
    torch.save(still, place / "still.pth")
    sample = asked("one", QUESTION, ("dog", "cat"), count=2)
    found = build("singularity", checkpoint=place / "still.pth").respond(
        [Trial(sample=sample)]
    )
    expected = ranked(fused(patches(2).flatten(0, 1)), sample.choices)
    np.testing.assert_allclose(found[0].logits, expected, rtol=1e-4, atol=1e-4)


def test_only_the_likeliest_first_words_are_ranked(
    build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open questions look at some answers; with all of them, at what closed ones do."""
    opened = Trial(sample=asked("one", QUESTION, ()), outputs=frozenset({"text"}))
    closed = Trial(sample=asked("one", QUESTION, ANSWERS))
    whole = build("singularity")
    logits = whole.respond([closed])[0].logits
    assert whole.respond([opened])[0].text == ANSWERS[int(logits.argmax())]
    monkeypatch.setattr("cuescope_videoqa.singularity.CONSIDERED", 1)
    network = build("singularity").runner.network
    batch = network.collate(network.prompts(opened.sample))
    with torch.no_grad():
        state = network(batch)
        first = network.score(state, opened.sample, ANSWERS)
    assert int(first.isfinite().sum()) == 1


def test_self_and_cross_attention_are_layers_of_their_own(
    build: Callable[..., Any],
) -> None:
    model = build("singularity")
    trial = Trial(sample=asked("one", QUESTION, count=2))
    patches_in_all = 2 * (1 + (published.SIDE // published.PATCH) ** 2)
    shapes = [
        model.attention([trial], layer)[0].shape for layer in range(model.fusion.layers)
    ]
    text = len(ASKED)
    assert shapes == [(4, text, text), (4, text, patches_in_all)] * 2
    plain_answer = model.respond([trial])[0].logits

    def change(quadrants: set[str], layers: tuple[int, ...] | None = None) -> float:
        edit = AverageAttention(quadrants=frozenset(quadrants), layers=layers)
        edited = model.respond([replace(trial, edit=edit)])[0].logits
        return float(np.abs(edited - plain_answer).max())

    assert change({"VV", "VT"}) < 1e-5
    assert change({"TV"}, (0, 2)) < 1e-5 < 1e-3 < change({"TV"}, (1, 3))
    assert change({"TT"}, (1, 3)) < 1e-5 < 1e-3 < change({"TT"}, (0, 2))


def test_questions_lose_case_and_punctuation() -> None:
    assert (
        normalise_question("  What's the man's T-shirt, red/blue?")
        == "whats the mans t shirt red blue"
    )
