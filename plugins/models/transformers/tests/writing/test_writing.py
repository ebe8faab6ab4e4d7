"""What a local language model writes, against the library's own greedy search."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from cuescope_sdk import LazyWeights, PlanStopped, UserError
from cuescope_sdk.torch import quiet
from cuescope_transformers.writing import network
from cuescope_transformers.writing.network import render_prompt

Writer = Callable[..., Any]
PROMPTS = ["name an animal .", "say where a tree stands . be brief .", "name a plant"]


def said(ask: Callable[[], Any]) -> str:
    """The one line of a refusal."""
    with pytest.raises(UserError) as caught:
        ask()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def by_hand(folder: Path, prompt: str, most: int) -> str:
    """Greedy search over the full forward, a token at a time, without cache or padding."""
    with quiet(), torch.inference_mode():
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        start = len(ids)
        while len(ids) < start + most and (len(ids) == start or ids[-1] != 3):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return str(tokenizer.decode(ids[start:], skip_special_tokens=True)).strip()


@pytest.mark.parametrize(("kind", "chat"), [("llama", True), ("bloom", False)])
def test_it_writes_the_most_likely_tokens(
    writer: Writer, writer_folder: Callable[[str], Path], kind: str, chat: bool
) -> None:
    """In one batch of different lengths, each as if it were alone."""
    form = "<turn> user : {} <turn> assistant :" if chat else "{}"
    wanted = [
        by_hand(writer_folder(kind), form.format(prompt), 12) for prompt in PROMPTS
    ]
    assert writer(kind).generate(PROMPTS) == wanted
    assert len(set(wanted)) > 1
    assert all(wanted)
    assert [writer(kind, cache="other").generate([p])[0] for p in PROMPTS] == wanted


def test_nothing_is_written_twice(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = network.write

    def counting(of: Any, prompts: list[str], system: str, most: int) -> list[str]:
        asked.extend(prompts)
        return real(of, prompts, system, most)

    monkeypatch.setattr(network, "write", counting)
    first = writer("llama").generate([*PROMPTS, PROMPTS[0]])
    assert sorted(asked) == sorted(PROMPTS)
    assert first[3] == first[0]
    assert writer("llama").generate(PROMPTS[::-1]) == first[2::-1]
    assert len(asked) == 3
    writer("llama", max_new_tokens=3).generate(PROMPTS[:1])
    assert len(asked) == 4, "a shorter text is another text"


def test_weights_are_opened_when_something_new_is_written(
    writer: Writer, opened: list[str]
) -> None:
    planned = writer("llama", planning=True)
    with pytest.raises(PlanStopped, match="the weights of llama"):
        planned.generate(PROMPTS)
    first, second = writer("llama"), writer("llama")
    assert isinstance(first, LazyWeights)
    assert not opened
    said = first.generate(PROMPTS)
    assert second.generate(PROMPTS) == planned.generate(PROMPTS) == said
    assert opened == [first.facts["architecture"]] == ["LlamaForCausalLM"]
    second.open_weights()
    second.open_weights()
    assert len(opened) == 2


def test_what_was_written_before_a_fault_is_kept(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def failing(of: Any, prompts: list[str], system: str, most: int) -> list[str]:
        asked.extend(prompts)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return ["text"] * len(prompts)

    monkeypatch.setattr(network, "write", failing)
    with pytest.raises(KeyboardInterrupt):
        writer("llama", batch_size=1).generate(PROMPTS)
    assert writer("llama", batch_size=1).generate(PROMPTS) == ["text"] * 3
    assert len(asked) == 4, "three texts and one in flight"


def test_the_chat_around_a_prompt(writer: Writer) -> None:
    tokenizer = writer("llama")._model.tokenizer
    assert render_prompt(tokenizer, "yes ?", "be brief") == (
        "<turn> system : be brief <turn> user : yes ? <turn> assistant :"
    )
    plain = writer("bloom")
    assert (
        render_prompt(plain._model.tokenizer, "yes ?", "be brief")
        == "be brief\n\nyes ?"
    )
    assert plain.facts["prompts are"].startswith("plain text")
    line = said(lambda: writer("qwen2", system="be brief").generate(PROMPTS))
    assert "refuses the prompt: got no system. Leave the option `system` out." in line
    assert writer("qwen2").generate(PROMPTS[:1])


def test_folders_that_are_no_language_model(
    writer: Writer, writer_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = copytree(writer_folder("llama"), tmp_path / "spoilt")
    (folder / "config.json").write_text(json.dumps({"model_type": "clip"}))
    line = said(lambda: writer(str(folder)))
    assert (
        "spoilt does not continue texts: expected a causal language model, got the arch"
        in line
    )
    (folder / "tokenizer.json").unlink()
    (folder / "config.json").write_bytes(
        (writer_folder("llama") / "config.json").read_bytes()
    )
    assert "transformers-llm: spoilt has no tokenizer" in said(
        lambda: writer(str(folder))
    )
    assert "transformers-llm: no model folder" in said(
        lambda: writer(str(tmp_path / "gone"))
    )


def test_the_fingerprint_follows_what_writes(
    writer: Writer, writer_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = copytree(writer_folder("llama"), tmp_path / "moved")
    plain = writer("llama").fingerprint
    assert writer(str(folder)).fingerprint == plain
    assert writer("llama", batch_size=2).fingerprint == plain
    found = {
        plain,
        writer("llama", system="be brief").fingerprint,
        writer("qwen2").fingerprint,
        writer("llama", max_new_tokens=2).fingerprint,
        writer("llama", dtype="bfloat16").fingerprint,
    }
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text().replace("assistant", "user"))
    found.add(writer(str(folder)).fingerprint)
    weights = load_file(folder / "model.safetensors")
    weights[min(weights)].view(-1)[0] += 1
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert len(found | {writer(str(folder)).fingerprint}) == 7
