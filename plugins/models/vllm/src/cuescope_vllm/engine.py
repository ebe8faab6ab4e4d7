"""What is asked of vLLM's `LLM.chat`, and what its outputs say.

https://docs.vllm.ai/en/latest/api/vllm/entrypoints/llm
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from PIL import Image

from cuescope_sdk import Response, Sample, Trial, UserError
from cuescope_vllm.options import VLLMOptions

Message = dict[str, Any]


def open_engine(title: str, **arguments: Any) -> Any:
    """An `LLM`; raises UserError with vLLM's own words where it cannot be opened."""
    try:
        import vllm

        return vllm.LLM(**arguments)
    except Exception as error:  # it checks GPUs, memory, architecture, and raises what it likes
        raise UserError(
            f"{title} cannot be opened by vLLM",
            got=" ".join(f"{type(error).__name__}: {error}".split())[:240],
            remedy="Less memory: -M max_model_len=4096, -M memory=0.8, or more -M gpus",
        ) from error


def respond(engine: Any, trials: Sequence[Trial], options: VLLMOptions) -> list[Response]:
    """The responses in order; all questions of a kind go to vLLM in one call."""
    frames: dict[str, Image.Image] = {}
    asked = [user_message(trial.sample, options, frames) for trial in trials]
    texts: dict[int, str] = {}
    wanted = [i for i, trial in enumerate(trials) if "text" in trial.outputs]
    if wanted:
        conversations = [[asked[index]] for index in wanted]
        outputs = _chat(engine, conversations, max_tokens=options.max_new_tokens)
        texts = {i: out.outputs[0].text.strip() for i, out in zip(wanted, outputs, strict=True)}
    logits = _choice_logits(engine, trials, asked)
    return [Response(logits=logits.get(i), text=texts.get(i)) for i in range(len(trials))]


def user_message(sample: Sample, options: VLLMOptions, frames: dict[str, Image.Image]) -> Message:
    """The images of a sample, each loaded once into `frames`, then the words."""
    content: list[dict[str, Any]] = []
    for frame in sample.frames:
        if frame.key not in frames:
            frames[frame.key] = frame.load()
        content.append({"type": "image_pil", "image_pil": frames[frame.key]})
    words = options.prompt.replace("{question}", sample.question or options.question).strip()
    if words or not content:
        content.append({"type": "text", "text": words})
    return {"role": "user", "content": content}


def _choice_logits(
    engine: Any, trials: Sequence[Trial], asked: Sequence[Message]
) -> dict[int, np.ndarray]:
    """By trial, the log-probability of each choice as the whole of the answer so far."""
    scored = [i for i, trial in enumerate(trials) if "logits" in trial.outputs]
    if not scored:
        return {}
    pairs = [(i, choice) for i in scored for choice in trials[i].sample.choices]
    with_answers = [[asked[i], {"role": "assistant", "content": choice}] for i, choice in pairs]
    # what stands before an answer: its tokens are those that all choices share with it
    bare = _chat(engine, [[asked[i]] for i in scored], max_tokens=1)
    answered = _chat(
        engine,
        with_answers,
        max_tokens=1,
        prompt_logprobs=1,
        add_generation_prompt=False,
        continue_final_message=True,
    )
    outputs = iter(answered)
    logits = {}
    for i, before in zip(scored, bare, strict=True):
        own = [next(outputs) for _ in trials[i].sample.choices]
        prompts = [list(output.prompt_token_ids) for output in own]
        start = min(_shared(list(before.prompt_token_ids), prompt) for prompt in prompts)
        values = [_log_probability(output, start) for output in own]
        logits[i] = np.array(values, np.float32)
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
        temperature=0.0, max_tokens=max_tokens, prompt_logprobs=prompt_logprobs
    )
    outputs: list[Any] = engine.chat(
        [list(messages) for messages in conversations], sampling, use_tqdm=False, **template
    )
    return outputs


def _shared(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens both begin with."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _log_probability(output: Any, start: int) -> float:
    """The sum over the prompt's tokens from `start` on; of each vLLM tells its own, at least."""
    tokens, told = output.prompt_token_ids, output.prompt_logprobs
    return float(sum(told[place][tokens[place]].logprob for place in range(start, len(tokens))))
