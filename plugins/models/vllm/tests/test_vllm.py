"""A stand-in with vLLM's documented signatures: what is asked of it, and what is made of that."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

import cuescope_vllm
from cuescope_sdk import Context, PlanStopped, Trial, UserError
from cuescope_testing import ModelContract
from cuescope_vllm import VLLM, VLLMOptions

DIGITS = 97


class Logprob(NamedTuple):
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


class CompletionOutput(NamedTuple):
    text: str


class RequestOutput(NamedTuple):
    prompt_token_ids: list[int]
    prompt_logprobs: list[dict[int, Logprob] | None] | None
    outputs: list[CompletionOutput]


class SamplingParams:
    def __init__(
        self,
        *,
        temperature: float = 1.0,
        max_tokens: int | None = 16,
        prompt_logprobs: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.temperature, self.max_tokens = temperature, max_tokens
        self.prompt_logprobs, self.seed = prompt_logprobs, seed


class LLM:
    """A token a letter, an image one by its mean; the next letter is likelier where it follows."""

    calls: list[int] = []
    given: dict[str, Any] = {}

    def __init__(
        self, model: str, *, dtype: str = "auto", seed: int | None = None, **rest: Any
    ):
        LLM.given = {"model": model, "dtype": dtype, "seed": seed, **rest}
        if rest["gpu_memory_utilization"] < 0.1:
            raise ValueError(
                "No available memory for the cache blocks.\nTry to increase it"
            )

    def chat(
        self,
        messages: list[list[dict[str, Any]]],
        sampling_params: SamplingParams | None = None,
        use_tqdm: bool = True,
        *,
        add_generation_prompt: bool = True,
        continue_final_message: bool = False,
    ) -> list[RequestOutput]:
        assert sampling_params is not None
        assert sampling_params.temperature == 0
        assert not use_tqdm
        assert add_generation_prompt != continue_final_message
        LLM.calls.append(len(messages))
        return [self._answer(each, sampling_params) for each in messages]

    def _answer(
        self, messages: list[dict[str, Any]], sampling: SamplingParams
    ) -> RequestOutput:
        tokens = [1]
        (user, *answer) = messages
        for part in user["content"]:
            if part["type"] == "image_pil":
                assert isinstance(part["image_pil"], Image.Image)
                tokens.append(
                    1000 + int(np.asarray(part["image_pil"], np.int64).sum()) % DIGITS
                )
            else:
                tokens += map(ord, part["text"])
        tokens.append(2)
        tokens += map(ord, answer[0]["content"] if answer else "")
        told: list[dict[int, Logprob] | None] = [None]
        for place in range(1, len(tokens)):
            value = (
                -float(sum(tokens[:place]) % DIGITS) / DIGITS - 0.01 * tokens[place] % 1
            )
            told.append({tokens[place]: Logprob(value), 3: Logprob(-0.1)})
        logprobs = told if sampling.prompt_logprobs else None
        text = f" {sum(tokens) % 7} "[: sampling.max_tokens]
        return RequestOutput(tokens, logprobs, [CompletionOutput(text)])


@pytest.fixture(autouse=True, scope="module")
def stand_in() -> Iterator[None]:
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "vllm", module)
        patch.setattr(cuescope_vllm, "version", lambda name: "0.99")
        yield


def write_model(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen2_vl"}))
    save_file({"w": torch.zeros(3)}, folder / "model.safetensors")
    return folder


class TestContract(ModelContract):
    plugin = VLLM

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _folder(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        cls.options = {"model": str(write_model(tmp_path_factory.mktemp("vllm")))}
        cls.other_options = {**cls.options, "prompt": "Look. {question}"}


def test_choices_are_scored_by_all_their_tokens(
    tmp_path: Path, trials: Sequence[Trial]
) -> None:
    options = VLLMOptions(model=str(write_model(tmp_path)), gpus=2)
    model = VLLM(options, Context(device="cpu", dtype="bfloat16"))
    LLM.calls.clear()
    first, second = model.respond(trials)
    assert LLM.calls == [1, 2, 5]  # texts; what stands before answers; choices of both
    assert LLM.given["tensor_parallel_size"] == 2
    assert LLM.given["dtype"] == "bfloat16"
    assert LLM.given["limit_mm_per_prompt"] == {"image": 16}
    assert (len(first.logits), len(second.logits), second.text) == (2, 3, None)
    # by hand, of the choice "no": what the stand-in says of "n" and "o" after the prompt
    sample = trials[0].sample
    pixels = int(np.asarray(sample.frames[0].load(), np.int64).sum()) % DIGITS
    before = [1, 1000 + pixels, *map(ord, sample.question or ""), 2]
    assert first.text == str(sum(before) % 7)
    total = 0.0
    for letter in map(ord, "no"):
        total += -float(sum(before) % DIGITS) / DIGITS - 0.01 * letter % 1
        before.append(letter)
    assert first.logits[1] == pytest.approx(total, abs=1e-6)


@pytest.fixture
def trials() -> list[Trial]:
    from cuescope_sdk import Frame, Sample

    frame = Frame.from_array(np.full((4, 4, 3), 9, np.uint8))
    asked = Sample(
        key="a", frames=(frame,), question="is it red", choices=("yes", "no")
    )
    other = Sample(
        key="b", frames=(frame,), question="what is it", choices=("cup", "cat", "dog")
    )
    both = frozenset({"logits", "text"})
    return [Trial(sample=asked, outputs=both), Trial(sample=other)]  # type: ignore[arg-type]


def test_what_cannot_be_is_told_in_one_line(
    tmp_path: Path, trials: Sequence[Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(write_model(tmp_path))
    model = VLLM(VLLMOptions(model=folder, memory=0.05), Context(device="cpu"))
    with pytest.raises(UserError) as caught:
        model.open_weights()
    assert "ValueError: No available memory for the cache blocks. Try" in str(
        caught.value
    )
    plan = VLLM(VLLMOptions(model=folder), Context(device="cpu", planning=True))
    with pytest.raises(PlanStopped):
        plan.open_weights()
    monkeypatch.undo()

    def absent(name: str) -> str:
        raise cuescope_vllm.PackageNotFoundError(name)

    monkeypatch.setattr(cuescope_vllm, "version", absent)
    with pytest.raises(UserError, match="pip install vllm"):
        VLLM(VLLMOptions(model=folder), Context(device="cpu"))
