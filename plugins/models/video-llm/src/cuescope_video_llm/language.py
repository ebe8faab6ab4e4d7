"""The language model: found now, opened late, and asked with a video between its words."""

from collections.abc import Sequence
from typing import Any

import torch
import transformers
from jaxtyping import Float
from torch import Tensor

from cuescope_sdk.torch import quiet

VideoTokens = Float[Tensor, "1 token dim"]

TURN = "###"  # between the turns of a conversation
BEFORE = "<Video>"  # the marks of a video
AFTER = "</Video>"
LAST = 8  # tokens in which the mark of a turn is looked for


class _NextTurn(transformers.StoppingCriteria):
    """Ends where a text goes on to the next turn; the mark may be tokenized in several ways."""

    def __init__(self, tokenizer: Any, mark: str) -> None:
        self._tokenizer = tokenizer
        self._mark = mark

    def __call__(self, input_ids: Tensor, scores: Tensor, **_: Any) -> Tensor:
        # the tail alone: all of it would be decoded again at each step
        tails = self._tokenizer.batch_decode(input_ids[:, -LAST:])
        ends = [self._mark in tail for tail in tails]
        return torch.tensor(ends, device=input_ids.device)


@torch.inference_mode()
def continue_prompt(
    language_model: Any,
    tokenizer: Any,
    parts: Sequence[str | VideoTokens],
    most: int,
    stop: str | None,
) -> str:
    """The most likely text after words and embedded videos, up to where a next turn begins.

    The first words begin with the tokenizer's special token, as the authors have it.
    """
    embed = language_model.get_input_embeddings()
    rows = []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            tokens = tokenizer(part, add_special_tokens=index == 0, return_tensors="pt")
            # long: no words are no tokens, and these come as floats
            rows.append(embed(tokens.input_ids.long().to(language_model.device)))
        else:
            rows.append(part.to(language_model.device, language_model.dtype))
    spoken = [row for row in rows if row.shape[1]]
    inputs = torch.cat(spoken, dim=1)
    # one row: nothing is padded
    shape = inputs.shape[:2]
    mask = torch.ones(shape, dtype=torch.long, device=inputs.device)
    criteria = [_NextTurn(tokenizer, stop)] if stop else []
    padding = tokenizer.pad_token_id
    with quiet():
        tokens = language_model.generate(
            inputs_embeds=inputs,
            attention_mask=mask,
            # a model's own generation_config may sample
            do_sample=False,
            num_beams=1,
            max_new_tokens=most,
            # any will do: one row pads nothing
            pad_token_id=0 if padding is None else padding,
            stopping_criteria=transformers.StoppingCriteriaList(criteria),
        )
    # of embeddings `generate` gives no prompt back
    text = str(tokenizer.decode(tokens[0], skip_special_tokens=True))
    if stop:
        # the token of the mark may bring the first words of the next turn
        text, _, _ = text.partition(stop)
    return text.strip()
