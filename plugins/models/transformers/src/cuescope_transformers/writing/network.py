"""Load a causal language model with its tokenizer, and let it write."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import transformers
from jinja2 import TemplateError

from cuescope_sdk import UserError, digest
from cuescope_sdk.torch.devices import resolve_dtype
from cuescope_sdk.torch.fingerprints import tensor_bytes
from cuescope_sdk.torch.hub_folders import Source, find_source
from cuescope_sdk.torch.quiet import quiet
from cuescope_sdk.torch.reading import (
    content,
    read_part,
    require_tensors,
    require_vocabulary,
    vocabulary,
)
from cuescope_transformers.writing import OWNER


@dataclass(frozen=True)
class Network:
    """A language model ready to write."""

    model: Any
    tokenizer: Any
    source: Source
    device: torch.device

    @property
    def takes_padding(self) -> bool:
        """Whether prompts of different lengths may go together: positions do not count padding."""
        return "position_ids" in inspect.signature(self.model.forward).parameters

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        chat = "a chat" if self.tokenizer.chat_template else "plain text: it has no chat template"
        return {
            "architecture": type(self.model).__name__,
            "weights": self.source.title,
            "prompts are": chat,
        }

    def fingerprint(self) -> str:
        """Digest of weights, configuration, words, chat template and dtype."""
        weights = {name: tensor_bytes(part) for name, part in self.model.state_dict().items()}
        return digest(
            weights, content(self.model.config), content(self.model.generation_config),
            vocabulary(self.tokenizer), str(self.tokenizer.chat_template), str(self.model.dtype),
        )  # fmt: skip


def load(
    model: str, revision: str | None, trust_remote_code: bool, device: torch.device, dtype: str
) -> Network:
    """Find and load everything; raises UserError for whatever a person can mend."""
    precision = resolve_dtype(dtype)
    source = find_source(OWNER, model, revision, trust_remote_code)
    read = partial(read_part, source, trust_remote_code)
    config = read("configuration", transformers.AutoConfig)
    _require_writer(config, source)
    require_vocabulary(source)
    tokenizer = read("tokenizer", transformers.AutoTokenizer, padding_side="left")
    network, info = read(
        "weights", transformers.AutoModelForCausalLM, config=config, dtype=precision,
        output_loading_info=True,
    )  # fmt: skip
    require_tensors(network, info, source)
    network.eval().requires_grad_(False).to(device)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    network.generation_config.pad_token_id = tokenizer.pad_token_id
    return Network(network, tokenizer, source, device)


@torch.inference_mode()
def written(network: Network, prompts: Sequence[str], system: str, most: int) -> list[str]:
    """The most likely text after each prompt, of `most` tokens at most, without special tokens."""
    said = [rendered(network.tokenizer, prompt, system) for prompt in prompts]
    with quiet():
        inputs = network.tokenizer(
            said, padding=True, return_tensors="pt", return_token_type_ids=False,
            add_special_tokens=not network.tokenizer.chat_template,
        ).to(network.device)  # fmt: skip
        tokens = network.model.generate(
            **inputs, do_sample=False, num_beams=1, max_new_tokens=most
        )  # fmt: skip
    new = tokens[:, inputs["input_ids"].shape[1] :]
    texts = network.tokenizer.batch_decode(new, skip_special_tokens=True)
    return [text.strip() for text in texts]


def rendered(tokenizer: Any, prompt: str, system: str) -> str:
    """The prompt in the model's chat template, or as it stands where there is none.

    Templates that offer reasoning first are asked to leave it out.
    """
    if not tokenizer.chat_template:
        return f"{system}\n\n{prompt}" if system else prompt
    talk = [{"role": "system", "content": system}] if system else []
    talk.append({"role": "user", "content": prompt})
    try:
        said = tokenizer.apply_chat_template(
            talk, add_generation_prompt=True, tokenize=False, enable_thinking=False
        )
    except TemplateError as error:
        raise UserError(
            f"{OWNER}: the model's chat template refuses the prompt", got=str(error),
            remedy="Leave the option `system` out." if system else None,
        ) from error  # fmt: skip
    return str(said)


def _require_writer(config: Any, source: Source) -> None:
    """Raises UserError for an architecture that does not continue texts."""
    auto = getattr(config, "auto_map", None) or {}
    known = transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    if type(config) not in known and "AutoModelForCausalLM" not in auto:
        raise UserError(
            f"{OWNER}: {source.title} does not continue texts",
            expected="a causal language model", got=f"the architecture '{config.model_type}'",
        )  # fmt: skip
