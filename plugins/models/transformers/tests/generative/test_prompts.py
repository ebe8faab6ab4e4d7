"""What is said to a model, and the tokens of an answer as they follow it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from cuescope_sdk import Sample, Trial, UserError
from cuescope_transformers.generative import TransformersVLM, VLMOptions
from cuescope_transformers.generative.prompts import (
    answer_tokens,
    gap_before_answer,
    render_prompt,
    user_words,
)

LETTERS = VLMOptions(model="x", scoring="letters")
Build = Callable[..., TransformersVLM]
MakeTrial = Callable[..., Trial]


def asking(question: str | None, *choices: str) -> Sample:
    """A sample without frames."""
    return Sample(key="s", frames=(), question=question, choices=choices)


def test_what_is_said() -> None:
    briefly = VLMOptions(model="x", prompt="{question} One word.")
    assert user_words(asking("why?"), VLMOptions(model="x")) == "why?"
    assert user_words(asking("why?"), briefly) == "why? One word."
    assert user_words(asking(None), briefly) == "One word."
    assert user_words(asking(None), VLMOptions(model="x", question="what?")) == "what?"
    listed = user_words(asking("why?", "a cat", "a dog"), LETTERS)
    assert listed == "why?\n(A) a cat\n(B) a dog\nAnswer with the letter."


def test_more_choices_than_letters() -> None:
    sample = asking("why?", *map(str, range(27)))
    with pytest.raises(
        UserError, match=r"at most 26 .* got 27\. Use -O model.scoring=likelihood"
    ):
        user_words(sample, LETTERS)


def test_prompts_without_a_chat_template() -> None:
    processor = SimpleNamespace(
        chat_template=None, image_token="<i>", video_token="<v>"
    )
    said = render_prompt(processor, "llava", "what is it", ["image", "image"])
    assert said == "<i><i>\nwhat is it\nAnswer:"
    assert render_prompt(processor, "any", "what is it", []) == "what is it\nAnswer:"
    assert (
        render_prompt(processor, "paligemma", "what is it", ["image"])
        == "<i>answer en what is it"
    )
    assert (
        render_prompt(processor, "blip-2", "what is it", ["image"])
        == "Question: what is it Answer:"
    )


@pytest.mark.parametrize(
    ("prompt", "gap"),
    [
        ("assistant:", " "),
        ("assistant\n", ""),
        ("<|assistant|>", ""),
        ("", ""),
        ("model", " "),
    ],
)
def test_what_stands_before_an_answer(prompt: str, gap: str) -> None:
    assert gap_before_answer(prompt, "llava", True, ["<|assistant|>"]) == gap


def _words(pre_tokenizer: Any, *vocabulary: str) -> Any:
    rules = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="?")
    )
    rules.pre_tokenizer = pre_tokenizer
    return PreTrainedTokenizerFast(tokenizer_object=rules, unk_token="?")


def test_an_answer_is_tokenised_where_it_stands() -> None:
    """A word after a space, after a line's end and at the beginning may be three tokens."""
    byte_level = _words(
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        "?",
        "a",
        ":",
        "yes",
        "Ġyes",
        "Ġno",
    )
    assert answer_tokens(byte_level, "a:", " ", "yes") == (4,)
    assert answer_tokens(byte_level, "a:", "", "yes") == (3,)
    assert answer_tokens(byte_level, "a:", " ", "yes no") == (4, 5)
    piece = _words(
        pre_tokenizers.Metaspace(), "?", "▁a:", "▁yes", "yes", "▁no", "▁a:yes"
    )
    assert answer_tokens(piece, "a:", " ", "yes no") == (2, 4)
    # alone, where "a:yes" would be one
    assert answer_tokens(piece, "a:", "", "yes") == (2,)


def test_the_words_reach_the_model(build: Build, trial: MakeTrial) -> None:
    """The prompt option and the stand-in question are what the same words are as a question."""
    plain = build("internvl").respond([trial(2, "what is it ?")])[0]
    wrapped = build("internvl", prompt="{question} ?").respond(
        [trial(2, "what is it")]
    )[0]
    stood_in = build("internvl", question="what is it ?").respond([trial(2, None)])[0]
    nothing = build("internvl").respond([trial(2, None)])[0]
    assert plain.logits is not None
    np.testing.assert_array_equal(plain.logits, wrapped.logits)
    np.testing.assert_array_equal(plain.logits, stood_in.logits)
    assert np.abs(np.subtract(plain.logits, nothing.logits)).max() > 1e-2


def test_frames_a_second_are_read_by_models_that_know_time(
    build: Build, trial: MakeTrial
) -> None:
    shown = [trial(4)]
    for kind, reads in (("qwen2.5-vl", True), ("llava-onevision", False)):
        slow, fast = (
            build(kind, fps=fps).respond(shown)[0].logits for fps in (0.5, 4.0)
        )
        assert bool(np.abs(np.subtract(slow, fast)).max() > 1e-4) is reads
