"""Many questions of one image: the tokens up to its last one go through the network once.

A causal decoder's keys and values of these tokens do not depend on the words behind them. Each
question goes on with a copy of them, as in transformers' own prefix caching.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import torch
from transformers import DynamicCache

from cuescope_sdk import Sample
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative.inputs import (
    Batch,
    network_inputs,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.prompts import Tokens


@dataclass(frozen=True)
class Prefix:
    """What stands before the words, and the keys and values of it."""

    tokens: Tokens
    cache: DynamicCache

    def batch(self, model: GenerativeModel, tails: Sequence[Tokens]) -> Batch:
        """A row for each tail, padded between the two: the prefix is the same for all."""
        longest = max(map(len, tails))
        pad = model.tokenizer.pad_token_id
        start = len(self.tokens)
        tokens = torch.full(
            (len(tails), start + longest),
            pad,
            device=model.files.device,
        )
        tokens[:, :start] = torch.tensor(self.tokens)
        seen = torch.ones_like(tokens)
        for number, tail in enumerate(tails):
            end = start + longest - len(tail)
            tokens[number, end:] = torch.tensor(tail)
            seen[number, start:end] = 0
        cache = deepcopy(self.cache)  # `generate` goes on with it
        cache.batch_repeat_interleave(len(tails))
        inputs = {"input_ids": tokens, "attention_mask": seen, "past_key_values": cache}
        return with_modalities(model, inputs)


def split_prompt(model: GenerativeModel, prompt: str) -> tuple[Tokens, Tokens]:
    """The prompt's own tokens up to its last placeholder, () where it has none, and the rest."""
    bos = model.tokenizer.bos_token
    # as the processor is told, or the tokens would differ
    special = not (bos and prompt.startswith(bos))
    tokens = tuple(model.tokenizer(prompt, add_special_tokens=special)["input_ids"])
    end = len(tokens)
    while end and tokens[end - 1] not in model.visual:
        end -= 1
    return tokens[:end], tokens[end:]


@torch.inference_mode()
def read_prefix(model: GenerativeModel, sample: Sample, prompt: str) -> Prefix | None:
    """Shows the frames of a sample; None where what follows could not be put behind them."""
    inputs = network_inputs(model, [sample], [prompt])
    if "video_grid_thw" in inputs:
        return None  # Qwen's positions of a video may be later than those of the words behind it
    tokens = tuple(inputs["input_ids"][0].tolist())
    _, tail = split_prompt(model, prompt)
    # the processor repeats placeholders, so only what follows them can be compared
    end = len(tokens) - len(tail)
    # behind any other token words might melt into it
    if (
        not tail
        or tokens[end:] != tail
        or tokens[end - 1] not in model.special | model.visual
    ):
        return None
    shape = inputs["input_ids"].shape
    # what is given for each token is cut with them
    for name, value in inputs.items():
        if value.shape[:2] == shape:
            inputs[name] = value[:, :end]
    cache = DynamicCache()
    with quiet():  # by `generate`, which sets the positions for what follows
        model.network.generate(
            **inputs,
            past_key_values=cache,
            use_cache=True,
            do_sample=False,
            # the least that there is: the new token itself is never fed
            max_new_tokens=1,
        )
    return Prefix(tokens[:end], cache)
