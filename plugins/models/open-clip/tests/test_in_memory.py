"""A model in memory answers as the same model from its files, and is known by what it is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from torch import nn

from cuescope_open_clip import OpenCLIP, OpenCLIPOptions
from cuescope_sdk import Context, Frame, HideTokens, Sample, Trial, UserError

LABELS = ("bird", "boat", "cow")


def held(*parts: Any, **options: Any) -> OpenCLIP:
    return OpenCLIP.from_object(
        parts, OpenCLIPOptions(model="held", **options), Context(device="cpu")
    )


@pytest.fixture
def parts(folder: Any) -> tuple[Any, Any, Any]:
    """Model, preprocessing and tokenizer, as a user of open_clip has them."""
    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    return model.eval(), preprocess, open_clip.get_tokenizer(f"local-dir:{folder}")


def trials(clip: Sample) -> list[Trial]:
    mask = np.zeros((len(clip.frames), 4, 4), bool)
    mask[:, 1:3, 2] = True
    outputs = frozenset({"logits", "embedding"})
    return [
        Trial(sample=clip, outputs=outputs),
        Trial(sample=clip, edit=HideTokens.from_mask(mask), outputs=outputs),
    ]


@pytest.mark.parametrize("own_preprocess", [True, False])
def test_it_answers_as_from_its_files(
    parts: Any, build: Callable[..., OpenCLIP], clip: Sample, own_preprocess: bool
) -> None:
    model, preprocess, tokenizer = parts
    memory = held(model, preprocess if own_preprocess else None, tokenizer)
    files = build()
    for here, there in zip(
        memory.respond(trials(clip)), files.respond(trials(clip)), strict=True
    ):
        assert here.logits is not None
        assert np.array_equal(here.logits, there.logits)
        assert np.array_equal(here.embedding, there.embedding)
    for here, there in zip(
        memory.canvas(clip.frames), files.canvas(clip.frames), strict=True
    ):
        assert np.array_equal(here, there)
    assert memory.facts["weights"] == "in memory"
    assert memory.facts["text"] == files.facts["text"]


def test_what_changes_an_answer_changes_the_fingerprint(parts: Any) -> None:
    model, preprocess, tokenizer = parts
    known = {held(*parts).fingerprint}
    assert held(*parts).fingerprint in known

    def is_new(plugin: OpenCLIP) -> bool:
        new = plugin.fingerprint not in known
        known.add(plugin.fingerprint)
        return new

    other = open_clip.image_transform(
        32, is_train=False, mean=(0.1, 0.1, 0.1), std=(1, 1, 1)
    )
    assert is_new(held(model, other, tokenizer))
    assert is_new(held(*parts, templates="raw"))
    assert is_new(held(model, preprocess, lambda texts: tokenizer(texts).flip(1)))
    model.transformer.resblocks[0].mlp.gelu = open_clip.transformer.QuickGELU()
    assert is_new(held(*parts))
    model.visual.transformer.resblocks[0].attn.num_heads = 4  # no tensor says so
    assert is_new(held(*parts))
    with torch.no_grad():
        model.visual.proj[0, 0] += 1e-3
    assert is_new(held(*parts))
    assert is_new(held(model.bfloat16(), preprocess, tokenizer))


def test_takes_its_own_and_nothing_else(parts: Any) -> None:
    assert OpenCLIP.takes(parts)
    assert OpenCLIP.takes(parts[0])
    others: Sequence[object] = (
        (),
        "ViT-B-16",
        nn.Linear(2, 2),
        (parts[1], parts[0]),
        None,
    )
    assert not any(map(OpenCLIP.takes, others))


def test_mistakes_are_told(parts: Any) -> None:
    model, preprocess, tokenizer = parts
    with pytest.raises(
        UserError, match=r"expected model=\(model, preprocess, tokenizer\)"
    ):
        OpenCLIP.from_object(model, OpenCLIPOptions(model="held"), Context())
    with pytest.raises(UserError, match="no tokenizer to name the labels with"):
        held(model, preprocess, None)
    with pytest.raises(UserError, match="checkpoint with a model in memory"):
        held(*parts, checkpoint="weights.pt")
    with pytest.raises(UserError, match="tokenizer is a str"):
        held(model, preprocess, "ViT-B-16")
    training = open_clip.image_transform(32, is_train=True)
    torch.manual_seed(0)
    with pytest.raises(UserError, match=r"draws at random.*for evaluation"):
        held(model, training, tokenizer)
    with pytest.raises(UserError, match=r"Call model.eval\(\) first"):
        held(model.train(), preprocess, tokenizer)


def test_a_table_of_classes_needs_no_tokenizer(
    parts: Any, table: Any, frames: tuple[Frame, ...]
) -> None:
    model, preprocess, _ = parts
    plugin = held(model, preprocess, None, class_embeddings=table)
    sample = Sample(key="s", frames=frames[:1], choices=LABELS, label="bird")
    (response,) = plugin.respond([Trial(sample=sample)])
    assert response.logits is not None
    assert response.logits.shape == (3,)
