"""All-in-one against the library's ViT, and its frames against brute force."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import videoqa_published as published
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear
from transformers import ViTConfig, ViTModel
from videoqa_samples import ANSWERS, WORDS, asked, video

from cuescope_sdk import Context, Trial, UserError
from cuescope_videoqa import AllInOne
from cuescope_videoqa.all_in_one import exchange_patches, preprocess

QUESTION = "does the man open the door ?"


def stock_vit(tensors: dict[str, Tensor]) -> ViTModel:
    """The library's ViT with the checkpoint's tensors."""
    config = ViTConfig(
        hidden_size=published.WIDE,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        image_size=published.SIDE,
        patch_size=published.PATCH,
        layer_norm_eps=1e-6,
    )
    model = ViTModel(config, add_pooling_layer=False).eval()
    ours = {
        "embeddings.cls_token": "cls_token",
        "embeddings.position_embeddings": "pos_embed",
        "embeddings.patch_embeddings.projection": "patch_embed.proj",
        "layernorm": "norm",
        "layernorm_before": "norm1",
        "layernorm_after": "norm2",
        "attention.o_proj": "attn.proj",
        "mlp.fc1": "mlp.fc1",
        "mlp.fc2": "mlp.fc2",
    }
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            part, kind = name.rsplit(".", 1)
            block = ""
            if part.startswith("layers."):
                number, part = part.removeprefix("layers.").split(".", 1)
                block = f"blocks.{number}."
            if part in ("attention.q_proj", "attention.k_proj", "attention.v_proj"):
                third = "qkv".index(part[10])
                tensor.copy_(
                    tensors[f"transformer.{block}attn.qkv.{kind}"].chunk(3)[third]
                )
            elif name in ours:
                tensor.copy_(tensors[f"transformer.{ours[name]}"])
            else:
                tensor.copy_(tensors[f"transformer.{block}{ours[part]}.{kind}"])
    return model


@torch.no_grad()
def test_its_blocks_are_a_vit(build: Callable[..., Any]) -> None:
    """Patches of one frame alone, its place in time taken off."""
    tensors = published.drawn(published.all_in_one())
    network = build("all-in-one").runner.network
    pixels = preprocess(video("one")[0], published.SIDE)
    tokens = network.transformer.patches(pixels[None, None].expand(1, 3, -1, -1, -1))[
        :1
    ]
    tokens[:, 1:] -= tensors["transformer.temporal_embed"][:, :1]
    seen = torch.ones(tokens.shape[:2], dtype=torch.bool)
    for number, block in enumerate(network.transformer.blocks):
        tokens = block(tokens, seen, number)
    expected = stock_vit(tensors)(pixels[None]).last_hidden_state
    torch.testing.assert_close(
        network.transformer.norm(tokens), expected, atol=1e-5, rtol=1e-5
    )


@torch.no_grad()
def by_hand(
    tensors: dict[str, Tensor], frames: list[Tensor], words: list[str]
) -> np.ndarray:
    """The authors' forward, one sequence a frame, with loops."""

    def affine(name: str, states: Tensor) -> Tensor:
        return linear(states, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def normed(name: str, states: Tensor, eps: float) -> Tensor:
        size = states.shape[-1:]
        return layer_norm(
            states, size, tensors[f"{name}.weight"], tensors[f"{name}.bias"], eps
        )

    ids = torch.tensor([WORDS.index(word) for word in words])
    text = tensors["text_embeddings.word_embeddings.weight"][ids]
    text = text + tensors["text_embeddings.position_embeddings.weight"][: len(ids)]
    text = text + tensors["text_embeddings.token_type_embeddings.weight"][0]
    text = normed("text_embeddings.LayerNorm", text, 1e-12)
    kinds = tensors["token_type_embeddings.weight"]
    sequences = []
    for number, pixels in enumerate(frames):
        weight, bias = (
            tensors[f"transformer.patch_embed.proj.{n}"] for n in ("weight", "bias")
        )
        step = published.PATCH
        cells = [
            (weight * pixels[:, row : row + step, col : col + step]).sum((1, 2, 3))
            + bias
            for row in range(0, published.SIDE, step)
            for col in range(0, published.SIDE, step)
        ]
        tokens = torch.stack([tensors["transformer.cls_token"][0, 0], *cells])
        tokens = tokens + tensors["transformer.pos_embed"][0]
        tokens[1:] += tensors["transformer.temporal_embed"][0, number]
        sequences.append(torch.cat([text + kinds[0], tokens + kinds[1]]))
    first = len(ids)
    for number in range(3):
        block = f"transformer.blocks.{number}"
        # of ten tokens one goes on: the first patch after the class token, and the last goes back
        there = [sequence[first + 1].clone() for sequence in sequences]
        back = [sequence[-1].clone() for sequence in sequences]
        for place, sequence in enumerate(sequences):
            sequence[first + 1] = there[place - 1]
            sequence[-1] = back[(place + 1) % len(sequences)]
        after = []
        for states in sequences:
            parts = affine(f"{block}.attn.qkv", normed(f"{block}.norm1", states, 1e-6))
            query, key, value = (
                part.unflatten(1, (4, 8)).transpose(0, 1) for part in parts.chunk(3, 1)
            )
            mixed = (query @ key.transpose(1, 2) / 8**0.5).softmax(-1) @ value
            states = states + affine(
                f"{block}.attn.proj", mixed.transpose(0, 1).flatten(1)
            )
            inner = gelu(
                affine(f"{block}.mlp.fc1", normed(f"{block}.norm2", states, 1e-6))
            )
            after.append(states + affine(f"{block}.mlp.fc2", inner))
        sequences = after
    pooled = torch.stack(
        [normed("transformer.norm", s[0], 1e-6) for s in sequences]
    ).mean(0)
    pooled = torch.tanh(affine("pooler.dense", pooled))
    inner = gelu(normed("vqa_classifier.2", affine("vqa_classifier.1", pooled), 1e-5))
    return affine("vqa_classifier.4", inner).numpy()


def test_answers_as_the_formula_says(build: Callable[..., Any]) -> None:
    tensors = published.drawn(published.all_in_one())
    choices = ("blue ball", "dog", "no")
    sample = asked("one", QUESTION, choices)
    found = build("all-in-one").respond([Trial(sample=sample)])[0].logits
    pixels = [preprocess(frame, published.SIDE) for frame in sample.frames]
    logits = by_hand(tensors, pixels, ["[CLS]", *QUESTION.split(), "[SEP]"])
    expected = logits[[ANSWERS.index(choice) for choice in choices]]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_patches_travel_in_a_circle() -> None:
    video = torch.arange(3 * 17.0).reshape(3, 17, 1)
    moved = exchange_patches(video, 3)
    for frame in range(3):
        before, after = video[frame - 1, :, 0], video[(frame + 1) % 3, :, 0]
        expected = [
            video[frame, 0, 0],
            *before[1:3],
            *video[frame, 3:15, 0],
            *after[15:],
        ]
        assert moved[frame, :, 0].tolist() == [float(value) for value in expected]


def test_frames_are_cropped_from_the_middle() -> None:
    """A frame of 28 x 20 becomes 39 x 28 (24 times 1.2, cut), and its middle 24 x 24 is seen."""
    frame = video("one")[0]
    pixels = preprocess(frame, 24)
    image = frame.load().resize((39, 28), 2)
    middle = np.asarray(image, dtype=np.float32)[2:26, 8:32] / 255
    expected = (middle - (0.485, 0.456, 0.406)) / np.array((0.229, 0.224, 0.225))
    np.testing.assert_allclose(pixels.permute(1, 2, 0), expected, atol=1e-5)


def own(place: Path, tensors: dict[str, Tensor], **changes: Any) -> AllInOne:
    torch.save({"state_dict": tensors}, place / "own.ckpt")
    chosen = {
        "checkpoint": place / "own.ckpt",
        "text_encoder": str(place / "words"),
        "head_dim": published.HEAD,
        "answers": place / "answers.json",
        **changes,
    }
    model = AllInOne(AllInOne.Options(**chosen), Context(device="cpu"))
    model.open_weights()
    return model


def test_a_chooser_reads_every_choice(place: Path) -> None:
    """The head of multiple choice: all choices before each of them, one score a text."""
    model = own(
        place, published.drawn(published.all_in_one("mc_vqa_classifier", 12, 1))
    )
    sample = asked("one", "what is it ?", ("dog", "red ball", "an unknown thing"))
    assert [prompt.text for prompt in model.runner.network.prompts(sample)][1] == (
        "what is it ?Options: dog red ball an unknown thingAnswer: red ball"
    )
    turned = replace(sample, choices=sample.choices[:2])
    found = model.respond([Trial(sample=sample), Trial(sample=turned)])
    assert [len(response.logits) for response in found] == [3, 2]
    assert len(set(found[0].logits.round(5).tolist())) == 3
    opened = Trial(sample=asked("one", QUESTION, ()), outputs=frozenset({"text"}))
    with pytest.raises(UserError, match="takes multiple-choice questions alone"):
        model.respond([opened])


def test_a_head_without_dropout_is_the_same(place: Path) -> None:
    tensors = published.drawn(published.all_in_one())
    shifted = {
        name.replace("classifier.1", "classifier.0")
        .replace("classifier.2", "classifier.1")
        .replace("classifier.4", "classifier.3"): tensor
        for name, tensor in tensors.items()
    }
    trial = Trial(sample=asked("one", QUESTION))
    one, other = (
        own(place, some).respond([trial])[0].logits for some in (tensors, shifted)
    )
    np.testing.assert_array_equal(one, other)


def test_answers_outside_the_vocabulary(place: Path) -> None:
    """One has the lowest logit, and a question of nothing else is refused."""
    model = own(place, published.drawn(published.all_in_one()))
    some = model.respond(
        [Trial(sample=asked("one", QUESTION, ("a zebra", "dog", "cat")))]
    )[0]
    assert some.logits.argmin() == 0
    with pytest.raises(
        UserError, match=r"no choice that is in the vocabulary.*got a zebra"
    ):
        model.respond([Trial(sample=asked("one", QUESTION, ("a zebra", "a gnu")))])
    (place / "many.json").write_text(json.dumps([str(number) for number in range(11)]))
    for answers, got in ((place / "many.json", "11"), (None, "0")):
        with pytest.raises(UserError, match=f"expected up to 10 .*got {got}"):
            own(place, published.drawn(published.all_in_one()), answers=answers)


def test_other_numbers_of_frames_are_refused(build: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match=r"expected 3 frames a sample, got 4.*frames=3"):
        build("all-in-one").respond([Trial(sample=asked("one", QUESTION, count=4))])
