"""Attention times its gradient, and log-probabilities of words, against other ways to get them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from cuescope_sdk import Trial, UserError
from cuescope_sdk.fusion import HasAttentionGradients
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM
from cuescope_transformers.generative.batches import batches, rows_of
from cuescope_transformers.generative.readouts import answers_of

Build = Callable[..., TransformersVLM]
MakeTrial = Callable[..., Trial]
KINDS = ["qwen2-vl", "llava", "internvl"]


@pytest.mark.parametrize("kind", KINDS)
def test_attention_with_a_gradient_is_a_part_of_attention(
    build: Build, trial: MakeTrial, kind: str
) -> None:
    plugin = build(kind)
    assert "attention-gradients" in plugin.capabilities.exposes
    assert isinstance(plugin, HasAttentionGradients)
    shown = trial(1)
    [layers] = plugin.attention_gradients([shown], "yes")
    weights = plugin.attention([shown], 0)[0]
    assert len(layers) == plugin.fusion.layers
    assert layers[0].shape == weights.shape[1:]
    assert layers.max() > 0
    # where no head attends nothing can have been weighted
    assert not layers[0][weights.max(axis=0) == 0].any()


def test_the_gradient_is_of_the_answer(build: Build, trial: MakeTrial) -> None:
    plugin = build("qwen2-vl")
    shown = trial(1)
    [one], [other] = (
        plugin.attention_gradients([shown], answer) for answer in ("yes", "dog")
    )
    assert not np.allclose(one, other)


@pytest.mark.parametrize("kind", ["qwen2-vl", "llava"])
def test_it_is_what_the_library_has(build: Build, trial: MakeTrial, kind: str) -> None:
    """The library's own attention weights, and torch's gradient of them."""
    plugin = build(kind)
    model: Any = plugin._model
    shown = trial(1, choices=("yes",))
    [row] = rows_of(model, [shown])
    [(_, batch)] = batches(model, [row])
    [[first]] = answers_of(model, row)
    with quiet():
        network: Any = transformers.AutoModelForImageTextToText.from_pretrained(
            plugin.options.model, attn_implementation="eager"
        )
        network.eval()
        output = network(**batch.inputs, output_attentions=True)
    weights = output.attentions
    score = output.logits[0, -1].log_softmax(-1)[first]
    gradients = torch.autograd.grad(score, weights)
    expected = [
        (of_layer * gradient).relu()[0].mean(dim=0).detach().numpy()
        for of_layer, gradient in zip(weights, gradients, strict=True)
    ]
    [found] = plugin.attention_gradients([shown], "yes")
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_model_answers_as_before(build: Build, trial: MakeTrial) -> None:
    plugin = build("qwen2-vl")
    shown = trial(1)
    before = plugin.respond([shown])[0].logits
    plugin.attention_gradients([shown], "yes")
    np.testing.assert_array_equal(plugin.respond([shown])[0].logits, before)


def test_an_encoder_and_decoder_is_refused(build: Build, trial: MakeTrial) -> None:
    with pytest.raises(UserError, match="another sequence"):
        build("florence2").attention_gradients([trial(1)], "yes")


def test_words_add_up_to_the_answer(build: Build, trial: MakeTrial) -> None:
    plugin = build("qwen2-vl")
    answer = "the red dog"
    shown = trial(1, choices=(answer, "yes"))
    logits = plugin.respond([shown])[0].logits
    assert logits is not None
    [words] = plugin.word_log_probabilities([shown], answer.split())
    assert len(words) == 3
    assert (words <= 0).all()
    assert words.sum() == pytest.approx(float(logits[0]), abs=1e-3)


def test_letters_are_no_words(build: Build) -> None:
    plugin = build("qwen2-vl", scoring="letters")
    assert "answer-words" not in plugin.capabilities.exposes
