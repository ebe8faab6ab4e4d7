"""Dropped tokens against masked ones: the library's whole forward, hidden keys at -inf, by hand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor

from cuescope_sdk import Frame, HideTokens, Sample, Trial
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM

Build = Callable[..., TransformersVLM]
CHOICES = ("yes", "red ball")


@contextmanager
def masking(layers: Any, hidden: Tensor) -> Iterator[None]:
    """No query of these layers sees the hidden tokens, bool (image, token)."""
    bias = torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)[:, None, None]

    def hook(module: Any, args: Any, kwargs: Any) -> Any:
        if args:
            return (args[0], bias, *args[2:]), kwargs
        return args, {**kwargs, "attention_mask": kwargs["attention_mask"] + bias}

    hooks = [
        layer.register_forward_pre_hook(hook, with_kwargs=True) for layer in layers
    ]
    yield
    for one in hooks:
        one.remove()


@contextmanager
def masking_packed(visual: Any, hidden: Tensor) -> Iterator[None]:
    """The same for patches in the encoder's order, which segments of them come in."""
    at = 0

    def attend(
        module: Any, query: Tensor, key: Tensor, value: Tensor, scaling: float, **_: Any
    ) -> tuple[Tensor, None]:
        nonlocal at
        part = hidden[at : at + key.shape[2]]
        at = (at + key.shape[2]) % len(hidden)
        logits = (query @ key.mT * scaling).masked_fill(part, -torch.inf)
        return (logits.softmax(-1).nan_to_num() @ value).transpose(1, 2), None

    transformers.AttentionInterface.register("by hand", attend)
    visual.config._attn_implementation = "by hand"
    yield


def answered(
    network: Any, tokenizer: Any, inputs: dict[str, Any], hidden: Tensor
) -> list[float]:
    """Log-probabilities of the choices after the prompt, whose `hidden` tokens nobody sees."""
    scores = []
    for choice in CHOICES:
        answer = tokenizer(choice, add_special_tokens=False, return_tensors="pt")[
            "input_ids"
        ]
        given = {**inputs, "input_ids": torch.cat([inputs["input_ids"], answer], dim=1)}
        seen = torch.cat(
            [~hidden[None], torch.ones_like(answer, dtype=torch.bool)], dim=1
        )
        places = torch.arange(seen.shape[1])[None]
        if "mm_token_type_ids" in inputs:
            types = inputs["mm_token_type_ids"]
            given["mm_token_type_ids"] = torch.cat(
                [types, torch.zeros_like(answer)], dim=1
            )
            grids = {name: inputs[name] for name in inputs if name.endswith("grid_thw")}
            places, _ = network.model.get_rope_index(
                given["input_ids"], given["mm_token_type_ids"], **grids
            )
        if "cross_attention_mask" in inputs:
            cross = inputs["cross_attention_mask"]
            more = cross[:, -1:].expand(-1, answer.shape[1], -1, -1)
            given["cross_attention_mask"] = torch.cat([cross, more], dim=1)
        given |= {"attention_mask": seen.long(), "position_ids": places}
        with torch.inference_mode():
            logits = (
                network(**given).logits[0, -1 - answer.shape[1] : -1].log_softmax(-1)
            )
        scores.append(float(logits.gather(1, answer.T).sum()))
    return scores


def stock(plugin: TransformersVLM, trial: Trial) -> tuple[Any, Any, dict[str, Any]]:
    """A model that this package never touched, its processor, and what it makes of the trial."""
    folder = plugin.options.model  # type: ignore[attr-defined]
    with quiet():
        network = transformers.AutoModelForImageTextToText.from_pretrained(
            folder
        ).eval()
        processor = transformers.AutoProcessor.from_pretrained(folder)
        parts = [{"type": "image"}, {"type": "text", "text": trial.sample.question}]
        talk = [{"role": "user", "content": parts}]
        prompt = processor.apply_chat_template(talk, add_generation_prompt=True)
        images = [frame.load() for frame in trial.sample.frames]
        return (
            network,
            processor,
            dict(processor(text=[prompt], images=images, return_tensors="pt")),
        )


def hiding(cells: np.ndarray, side: int) -> Trial:
    """A frame of patches of 4 x 4 pixels, with those of some cells hidden."""
    mask = cells.repeat(side, 0).repeat(side, 1)
    pixels = np.random.default_rng(3).integers(0, 256, (*mask.shape, 3), dtype=np.uint8)
    sample = Sample(
        key="one",
        frames=(Frame.from_array(pixels),),
        question="what is it",
        choices=CHOICES,
    )
    return Trial(sample=sample, edit=HideTokens.from_mask(mask[None]))


def drawn(rows: int, cols: int, seed: int) -> np.ndarray:
    cells = np.random.default_rng(seed).random((rows, cols)) < 0.4
    cells[0, 0], cells[-1, -1] = True, False
    return cells


@pytest.mark.parametrize("kind", ["qwen2-vl", "qwen2.5-vl"])
@pytest.mark.parametrize("seed", [0, 1])
def test_merged_patches(build: Build, kind: str, seed: int) -> None:
    """Six tokens of 2 x 2 patches; Qwen2.5-VL's first layer has two windows of 16 pixels."""
    cells = drawn(2, 3, seed)
    trial = hiding(cells, 8)
    network, processor, inputs = stock(build(kind), trial)
    tokens = torch.from_numpy(cells).flatten()
    order = torch.arange(6) if kind == "qwen2-vl" else torch.tensor([0, 1, 3, 4, 2, 5])
    placeholders = inputs["input_ids"][0] == network.config.image_token_id
    hidden = torch.zeros_like(placeholders).masked_scatter(placeholders, tokens)
    with masking_packed(network.model.visual, tokens[order].repeat_interleave(4)):
        expected = answered(network, processor.tokenizer, inputs, hidden)
    [found] = build(kind).respond([trial])
    np.testing.assert_allclose(found.logits, expected, atol=2e-5)


@pytest.mark.parametrize(
    "kind", ["llava", "llava-next", "llava-next-video", "llava-onevision"]
)
def test_tiles_and_the_whole_image(build: Build, kind: str) -> None:
    """Of 16 patches; as a tile each line of four ends with a token that stays."""
    cells = drawn(4, 4, 2)
    trial = hiding(cells, 4)
    network, processor, inputs = stock(build(kind), trial)
    patches = torch.from_numpy(cells)
    lines = torch.nn.functional.pad(patches, (0, 1), value=False).flatten()
    tokens = (
        patches.flatten() if kind == "llava" else torch.cat([patches.flatten(), lines])
    )
    placeholders = inputs["input_ids"][0] == network.config.image_token_id
    hidden = torch.zeros_like(placeholders).masked_scatter(placeholders, tokens)
    keys = patches.flatten()[None]
    if kind != "llava-onevision":
        keys = torch.nn.functional.pad(keys, (1, 0), value=False)
    tower = network.model.vision_tower
    with masking(tower.encoder.layers, keys.expand(1 if kind == "llava" else 2, -1)):
        expected = answered(network, processor.tokenizer, inputs, hidden)
    [found] = build(kind).respond([trial])
    np.testing.assert_allclose(found.logits, expected, atol=2e-5)


def test_crossed_keys(build: Build) -> None:
    """Two tiles of a class token, 16 patches and 7 that pad."""
    cells = drawn(4, 8, 4)
    trial = hiding(cells, 4)
    network, processor, inputs = stock(build("mllama"), trial)
    tiles = torch.from_numpy(cells.reshape(4, 2, 4).transpose(1, 0, 2).reshape(2, 16))
    keys = torch.nn.functional.pad(tiles, (1, 0), value=False)
    vision = network.model.vision_model
    layers = [*vision.transformer.layers, *vision.global_transformer.layers]
    lowest = torch.finfo(torch.float32).min

    def cross(module: Any, args: Any, kwargs: Any) -> Any:
        mask = kwargs["cross_attention_mask"].masked_fill(keys.flatten(), lowest)
        return args, {**kwargs, "cross_attention_mask": mask}

    network.model.language_model.register_forward_pre_hook(cross, with_kwargs=True)
    padded = torch.nn.functional.pad(keys, (0, 7), value=False).flatten()[None]
    nothing = torch.zeros(inputs["input_ids"].shape[1], dtype=torch.bool)
    with masking(layers, padded):
        expected = answered(network, processor.tokenizer, inputs, nothing)
    [found] = build("mllama").respond([trial])
    np.testing.assert_allclose(found.logits, expected, atol=2e-5)
