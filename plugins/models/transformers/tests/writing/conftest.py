"""Tiny causal language models with seeded random weights, saved as a user finds them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from cuescope_sdk import Context
from cuescope_sdk.torch import quiet
from cuescope_transformers.writing import TransformersWriter, WriterOptions

MARKS = ("<unk>", "<pad>", "<s>", "</s>", "<turn>")
WORDS = (
    "user",
    "assistant",
    "system",
    "name",
    "an",
    "a",
    "animal",
    "plant",
    "say",
    "where",
    "tree",
    "stands",
    "yes",
    "no",
    "dog",
    "rope",
    "moss",
    ".",
    ":",
    "be",
    "brief",
)
SIZE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "vocab_size": len(MARKS) + len(WORDS),
    "bos_token_id": 2,
    "eos_token_id": 3,
}
CHAT = (
    "{% for message in messages %}<turn> {{ message['role'] }} : {{ message['content'] }} "
    "{% endfor %}{% if add_generation_prompt %}<turn> assistant :{% endif %}"
)
STRICT = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"


def _tokenizer(template: str | None) -> Any:
    words = {word: index for index, word in enumerate((*MARKS, *WORDS))}
    rules = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens={"turn_token": "<turn>"},
        chat_template=template,
    )


MAKERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "llama": lambda: (
        transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZE)),
        _tokenizer(CHAT),
    ),
    "qwen2": lambda: (
        transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SIZE)),
        _tokenizer(STRICT + CHAT),
    ),
    "bloom": lambda: (  # has no position_ids
        transformers.BloomForCausalLM(
            transformers.BloomConfig(
                vocab_size=SIZE["vocab_size"],
                hidden_size=32,
                n_layer=2,
                n_head=4,
                bos_token_id=2,
                eos_token_id=3,
            )
        ),
        _tokenizer(None),
    ),
}


@pytest.fixture(scope="session")
def writer_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`writer_folder(kind)`: a model with its tokenizer."""

    @cache
    def made(kind: str) -> Path:
        folder = tmp_path_factory.mktemp("writers") / kind
        with quiet():
            torch.manual_seed(5)
            model, tokenizer = MAKERS[kind]()
            for name, weight in model.named_parameters():
                if "norm" not in name and weight.ndim > 1:
                    weight.data.normal_(std=0.5)
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        return folder

    return made


@pytest.fixture
def writer(writer_folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., Any]:
    """`writer(kind or folder, cache=, dtype=, planning=, **options)`: the tool on the CPU."""

    def built(kind: str, *, cache: str = "cache", **given: Any) -> Any:
        folder = writer_folder(kind) if kind in MAKERS else kind
        settings = {
            name: given.pop(name) for name in ("dtype", "planning") if name in given
        }
        context = Context(cache=tmp_path / cache, device="cpu", **settings)
        asked = {"max_new_tokens": 12, **given}
        return TransformersWriter(WriterOptions(model=str(folder), **asked), context)

    return built
