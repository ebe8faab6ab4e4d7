"""`transformers serve` on loopback with tiny models: what it says comes through, in a whole audit.

One server loads both models: a language model that always writes the same list, and a
vision-language model with random weights whose answers begin with yes or no.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers.utils.import_utils import is_serve_available

from cuescope.application import Runner
from cuescope_sdk import Context, Frame, Request, Sample, Trial

LIST = ("table,", "tree,", "window", "</s>")
WORDS = (
    "yes",
    "no",
    "is",
    "there",
    "a",
    "cup",
    "bird",
    "in",
    "the",
    "image",
    "see",
    "?",
    *LIST[:3],
)
MARKS = ("<unk>", "<pad>", "<s>", "</s>", "<image>")
CHAT = (
    "{% for message in messages %}{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}{{ '<image>' if part['type'] == 'image'"
    " else part['text'] }} {% endfor %}{% endif %}{% endfor %}"
)
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
IDS = {"pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3}
MOST = 4  # tokens of an answer
PROPOSALS = 8  # four for each class
LOUD = 8.0

pytestmark = [
    pytest.mark.skipif(
        not is_serve_available(),
        reason="needs the server of transformers: pip install 'transformers[serving]'",
    )
]


class Served(NamedTuple):
    """A server that is up, what it logs, and the folders of its models."""

    url: str
    log: Path
    writer: Path
    viewer: Path

    @property
    def requests(self) -> int:
        """Completions that were asked of it so far."""
        return self.log.read_text().count("POST /v1/chat/completions")


def tokenizer() -> Any:
    """Whole words and marks."""
    vocabulary = {word: place for place, word in enumerate((*MARKS, *WORDS))}
    rules = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    rules.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
    )
    made.chat_template = CHAT
    return made


def write_writer(folder: Path) -> Path:
    """A language model whose last word decides the next: LIST, whatever is asked."""
    words = tokenizer()
    size = len(words)
    config = transformers.LlamaConfig(**SMALL, **IDS, vocab_size=size)
    model = transformers.LlamaForCausalLM(config)
    chain = dict(pairwise(words.convert_tokens_to_ids(list(LIST))))
    first = words.convert_tokens_to_ids(LIST[0])
    with torch.no_grad():
        for layer in model.model.layers:  # nothing is added to a word on its way
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(size, SMALL["hidden_size"]))
        model.lm_head.weight.zero_()
        for word in range(size):
            model.lm_head.weight[chain.get(word, first), word] = 1
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def write_viewer(folder: Path) -> Path:
    """A LLaVA with random weights that has no other words than yes and no."""
    words = tokenizer()
    config = transformers.LlavaConfig(
        text_config={**SMALL, **IDS, "model_type": "llama", "vocab_size": len(words)},
        vision_config={
            **SMALL,
            "model_type": "clip_vision_model",
            "image_size": 16,
            "patch_size": 4,
            "projection_dim": 16,
        },
        image_token_index=words.image_token_id,
    )
    square = {"height": 16, "width": 16}
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessor(size=square, crop_size=square),
        tokenizer=words,
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.AutoModelForImageTextToText.from_config(config)
        axis = torch.randn(SMALL["hidden_size"])
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(LOUD)  # the image is heard in the answer
        model.lm_head.weight.zero_()
        for word, sign in {"yes": 1, "no": -1}.items():
            model.lm_head.weight[words.convert_tokens_to_ids(word)] = sign * axis
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("served")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    command = [
        sys.executable,
        "-m",
        "transformers.cli.transformers",
        "serve",
        "--device",
        "cpu",
        "--host",
        "127.0.0.1",
        "--port",
        port,
    ]
    with (place / "log").open("w") as log:
        process = subprocess.Popen(
            command, env={**os.environ, "HF_HUB_OFFLINE": "1"}, stdout=log, stderr=log
        )
    try:
        folders = write_writer(place / "writer"), write_viewer(place / "viewer")
        wait_for(f"http://127.0.0.1:{port}/health", process)
        yield Served(f"http://127.0.0.1:{port}/v1", place / "log", *folders)
    finally:
        process.terminate()
        process.wait(30)


def wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    """Until it answers; raises where it ends before, or takes two minutes."""
    deadline = time.monotonic() + 120
    while True:
        try:
            httpx.get(address).raise_for_status()
            return
        except httpx.HTTPError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def greedy(folder: Path, sample: Sample) -> str:
    """What the model writes by the library's own hand."""
    processor = transformers.AutoProcessor.from_pretrained(folder)
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder)
    image, words = sample.frames[0].load(), sample.question
    parts = [{"type": "image", "image": image}, {"type": "text", "text": words}]
    inputs = processor.apply_chat_template(
        [{"role": "user", "content": parts}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    )
    tokens = model.generate(**inputs, do_sample=False, max_new_tokens=MOST)
    return str(processor.decode(tokens[0, inputs["input_ids"].shape[1] :]))


@pytest.mark.long
def test_text_comes_through(served: Served, tmp_path: Path) -> None:
    options = {"base_url": served.url, "max_tokens": 10}
    tool = Context(cache=tmp_path).build("tool", f"openai:{served.writer}", options)
    assert tool.generate(["is there a bird?", "a cup"]) == ["table, tree, window"] * 2


@pytest.mark.long
def test_images_come_through(served: Served, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pixels = [rng.integers(0, 256, (16, 16, 3), dtype=np.uint8) for _ in range(6)]
    options = {"base_url": served.url, "max_tokens": MOST}
    model = Context(cache=tmp_path).build("model", f"openai:{served.viewer}", options)
    samples = [
        Sample(
            key=f"{place}",
            frames=(Frame.from_array(one),),
            choices=("yes", "no"),
            question="is there a bird in the image?",
        )
        for place, one in enumerate(pixels)
    ]
    both = frozenset({"text", "logits"})
    answers = model.respond([Trial(sample=sample, outputs=both) for sample in samples])
    texts = [str(answer.text) for answer in answers]
    assert texts == [greedy(served.viewer, sample) for sample in samples]
    assert len(set(texts)) > 1
    chosen = [("yes", "no")[answer.prediction or 0] for answer in answers]
    assert chosen == [text.split()[0] for text in texts]


@pytest.mark.long
def test_an_audit_goes_through(served: Served, tmp_path: Path) -> None:
    """Proposals of one model, answers of the other, and each is asked for once."""
    url = {"base_url": served.url}
    request = Request(
        method="spurlens",
        model=f"openai:{served.viewer}",
        data="object-scenes",
        model_options={**url, "max_tokens": MOST},
        data_options={"val": 60},
        method_options={"classes": "cup,bird", "k": 8, "draws": 200},
        tools={"proposer": f"llm:openai:{served.writer}", "detector": "annotations"},
        tool_options={"proposer": {"generator_options": url}},
        device="cpu",
    )
    before = served.requests
    runner = Runner(Context(cache=tmp_path / "cache"), tmp_path / "runs")
    report = runner.run(request)
    questions = report.cost.model_calls
    # "tree beside a cup"
    cues = {str(feature.name).split()[0] for feature in report.features}
    assert cues == {"table", "tree", "window"}
    assert (
        f"{questions} distinct questions; 0 answered neither" in report.notes["answers"]
    )
    again = runner.run(request)
    assert (again.hash, again.cost.model_calls) == (report.hash, 0)
    assert served.requests - before == PROPOSALS + questions
