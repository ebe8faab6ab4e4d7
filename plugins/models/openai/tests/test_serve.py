"""`transformers serve` on loopback, with a tiny model built from its configuration."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from cuescope_openai import OpenAI, OpenAIOptions
from cuescope_openai.writing import OpenAIWriter, OpenAIWriterOptions
from cuescope_sdk import Context, Sample, Trial

WORDS = ["yes", "no", "is", "there", "a", "tree", "name", "house", "sky", "grass"]
TEMPLATE = "{% for message in messages %}{{ message['content'] }} {% endfor %}"


def tiny_llama(folder: Path) -> Path:
    """A language model of two small layers with seeded random weights, and its words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    marks = ["<unk>", "<s>", "</s>"]
    vocabulary = {word: place for place, word in enumerate([*marks, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    named = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    named.chat_template = TEMPLATE
    named.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def served(tmp_path: Path, unused_port: int) -> Iterator[tuple[str, str]]:
    """Address and model of a server that is up."""
    transformers = pytest.importorskip("transformers")
    if not transformers.utils.import_utils.is_serve_available():
        pytest.skip("needs the server of transformers: pip install 'transformers[serving]'")
    folder = str(tiny_llama(tmp_path / "tiny"))
    process = subprocess.Popen(
        [sys.executable, "-m", "transformers.cli.transformers", "serve", folder,
         "--device", "cpu", "--host", "127.0.0.1", "--port", str(unused_port)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{unused_port}/health").raise_for_status()
                break
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        yield f"http://127.0.0.1:{unused_port}/v1", folder
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:openai. .* answers name no choice")
def test_a_tiny_model_answers_through_transformers_serve(
    served: tuple[str, str], tmp_path: Path
) -> None:
    url, name = served
    context = Context(cache=tmp_path / "cache")
    writer = OpenAIWriter(OpenAIWriterOptions(model=name, base_url=url, max_tokens=6), context)
    first, second = writer.generate(["name a tree", "is there a house"])
    assert set(f"{first} {second}".split()) <= set(WORDS)
    model = OpenAI(OpenAIOptions(model=name, base_url=url, max_tokens=4), context)
    sample = Sample(key="s", frames=(), question="is there a tree", choices=("yes", "no"))
    (response,) = model.respond([Trial(sample=sample, outputs=frozenset({"text", "logits"}))])
    assert response.text is not None
    assert response.logits is not None
    assert np.isfinite(response.logits).all()
