"""What is asked of vLLM's `LLM.chat`, and what its outputs say.

https://docs.vllm.ai/en/latest/api/vllm/entrypoints/llm
"""

from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any

import numpy as np
from PIL import Image

from cuescope_sdk import Output, Response, Sample, Trial, UserError
from cuescope_vllm.options import VLLMOptions

Message = dict[str, Any]


def open_engine(title: str, **arguments: Any) -> Any:
    """An `LLM`; raises UserError with vLLM's own words where it cannot be opened."""
    try:
        import vllm

        return vllm.LLM(**arguments)
    except (
        Exception
    ) as error:  # it checks GPUs, memory, architecture, and raises what it likes
        # one line of it: vLLM says it over many
        words = f"{type(error).__name__}: {error}".split()
        raise UserError(
            f"{title} cannot be opened by vLLM",
            got=" ".join(words)[:240],
            remedy="Less memory: -O model.max_model_len=4096, -O model.memory=0.8, or "
            "more -O model.gpus",
        ) from error


def respond(
    engine: Any,
    trials: Sequence[Trial],
    options: VLLMOptions,
) -> list[Response]:
    """The responses in order; all questions of a kind go to vLLM in one call."""
    frames: dict[str, Image.Image] = {}
    messages = [user_message(trial.sample, options, frames) for trial in trials]
    texts = _texts(engine, trials, messages, options.max_new_tokens)
    logits = _choice_logits(engine, trials, messages)
    return [
        Response(logits=logits.get(i), text=texts.get(i)) for i in range(len(trials))
    ]


def _wanting(trials: Sequence[Trial], output: Output) -> list[int]:
    """The trials that ask for an output, by their numbers."""
    return [number for number, trial in enumerate(trials) if output in trial.outputs]


def _texts(
    engine: Any,
    trials: Sequence[Trial],
    messages: Sequence[Message],
    most: int,
) -> dict[int, str]:
    """By trial, the answer in words."""
    numbers = _wanting(trials, "text")
    if not numbers:
        return {}
    outputs = _chat(engine, [[messages[number]] for number in numbers], max_tokens=most)
    texts = {}
    for number, output in zip(numbers, outputs, strict=True):
        texts[number] = output.outputs[0].text.strip()
    return texts


def user_message(
    sample: Sample,
    options: VLLMOptions,
    frames: dict[str, Image.Image],
) -> Message:
    """The images of a sample, each loaded once into `frames`, then the words."""
    content: list[dict[str, Any]] = []
    for frame in sample.frames:
        if frame.key not in frames:
            frames[frame.key] = frame.load()
        content.append({"type": "image_pil", "image_pil": frames[frame.key]})
    question = sample.question or options.question
    words = options.prompt.replace("{question}", question).strip()
    # an empty part would be another prompt, and a message needs one
    if words or not content:
        content.append({"type": "text", "text": words})
    return {"role": "user", "content": content}


def _choice_logits(
    engine: Any,
    trials: Sequence[Trial],
    messages: Sequence[Message],
) -> dict[int, np.ndarray]:
    """By trial, the log-probability of each choice as the whole of the answer so far."""
    numbers = _wanting(trials, "logits")
    if not numbers:
        return {}
    with_choices = []
    for number in numbers:
        for choice in trials[number].sample.choices:
            answer = {"role": "assistant", "content": choice}
            with_choices.append([messages[number], answer])
    # what stands before an answer: its tokens are those that all choices share with it
    bare = _chat(engine, [[messages[number]] for number in numbers], max_tokens=1)
    answered = _chat(
        engine,
        with_choices,
        max_tokens=1,  # the least there is
        prompt_logprobs=1,
        add_generation_prompt=False,
        # the answer stays open: no end of the turn is scored
        continue_final_message=True,
    )
    outputs = iter(answered)
    logits = {}
    for number, before in zip(numbers, bare, strict=True):
        by_choice = list(islice(outputs, len(trials[number].sample.choices)))
        tokens_of = attrgetter("prompt_token_ids")
        start = shared_length(map(tokens_of, (before, *by_choice)))
        values = [_log_probability(output, start) for output in by_choice]
        logits[number] = np.array(values, np.float32)
    return logits


def _chat(
    engine: Any,
    conversations: Sequence[Sequence[Message]],
    *,
    max_tokens: int,
    prompt_logprobs: int | None = None,
    **template: bool,
) -> list[Any]:
    import vllm

    sampling = vllm.SamplingParams(
        temperature=0.0,
        max_tokens=max_tokens,
        prompt_logprobs=prompt_logprobs,
    )
    chats = list(map(list, conversations))
    # the audit has a progress bar of its own
    outputs: list[Any] = engine.chat(chats, sampling, use_tqdm=False, **template)
    return outputs


def shared_length(prompts: Iterable[Sequence[int]]) -> int:
    """How many tokens all of them begin with."""
    positions = zip(*prompts, strict=False)  # prompts differ in length
    alike = takewhile(lambda tokens: len(set(tokens)) == 1, positions)
    return len(list(alike))


def _log_probability(output: Any, start: int) -> float:
    """The sum over the prompt's tokens from `start` on; of each vLLM tells its own, at least."""
    total = 0.0
    tokens = output.prompt_token_ids[start:]
    for token, log_probabilities in zip(
        tokens,
        output.prompt_logprobs[start:],
        strict=True,
    ):
        total += log_probabilities[token].logprob
    return total
