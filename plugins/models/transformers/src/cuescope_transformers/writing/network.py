"""A causal language model with its tokenizer: files now, weights when it first writes."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cuescope_sdk import Context
from cuescope_sdk.torch import Pretrained, causal_builder, quiet, render_chat
from cuescope_transformers.options import WriterOptions

OWNER = "transformers-llm"


@dataclass(frozen=True)
class WriterModel:
    """A language model that continues texts; `files.network` opens its weights."""

    files: Pretrained
    tokenizer: Any

    @property
    def takes_padding(self) -> bool:
        """Whether prompts of different lengths may go together: positions do not count padding."""
        signature = inspect.signature(self.files.network.forward)
        return "position_ids" in signature.parameters

    @property
    def facts(self) -> dict[str, str]:
        chat = (
            "a chat"
            if self.tokenizer.chat_template
            else "plain text: it has no chat template"
        )
        return {**self.files.facts, "prompts are": chat}

    def fingerprint(self, *more: object) -> str:
        """Digest of weights, configuration, words, chat template, dtype and whatever is added."""
        chat = str(self.tokenizer.chat_template)
        return self.files.fingerprint(self.tokenizer, chat, *more)


def find_writer(options: WriterOptions, context: Context) -> WriterModel:
    """Find and read all but the weights; raises UserError for whatever a person can mend."""
    files = options.find(OWNER, context, causal_builder)
    # padding goes before a prompt: what is written must follow its last word
    tokenizer = files.tokenizer(padding_side="left")
    # padding is masked: any token will do
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return WriterModel(files, tokenizer)


@torch.inference_mode()
def write(
    model: WriterModel,
    prompts: Sequence[str],
    system: str,
    most: int,
) -> list[str]:
    """The most likely text after each prompt, of `most` tokens at most, without special tokens."""
    tokenizer = model.tokenizer
    texts = [render_prompt(tokenizer, prompt, system) for prompt in prompts]
    with quiet():
        inputs = tokenizer(
            texts,
            padding=True,
            return_tensors="pt",
            # a causal model takes none, and `generate` refuses what it does not know
            return_token_type_ids=False,
            add_special_tokens=not tokenizer.chat_template,  # a template writes them itself
        ).to(model.files.device)
        tokens = model.files.network.generate(
            **inputs,
            # a model's own generation_config may sample
            do_sample=False,
            num_beams=1,
            max_new_tokens=most,
            pad_token_id=tokenizer.pad_token_id,
        )
    # padding is at the left: all prompts end together
    new = tokens[:, inputs["input_ids"].shape[1] :]
    answers = tokenizer.batch_decode(new, skip_special_tokens=True)
    return [answer.strip() for answer in answers]


def render_prompt(tokenizer: Any, prompt: str, system: str) -> str:
    """The prompt in the model's chat template, or as it stands where there is none.

    Templates that offer reasoning first are asked to leave it out.
    """
    if not tokenizer.chat_template:
        return f"{system}\n\n{prompt}" if system else prompt
    chat = [{"role": "user", "content": prompt}]
    if system:
        chat.insert(0, {"role": "system", "content": system})
    remedy = "Leave the option `system` out." if system else None
    return render_chat(OWNER, tokenizer, chat, remedy, enable_thinking=False)
