"""Load a stock model with its processor, strictly and quietly."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import transformers

from cuescope_detectors.open_vocabulary import PretrainedOptions
from cuescope_sdk import Context, UserError, digest, nearest
from cuescope_sdk.torch.devices import resolve_device, resolve_dtype
from cuescope_sdk.torch.fingerprints import tensor_bytes
from cuescope_sdk.torch.hub_folders import Source, find_source
from cuescope_sdk.torch.reading import (
    content,
    read_part,
    require_tensors,
    require_vocabulary,
    vocabulary,
)


@dataclass(frozen=True)
class Loaded:
    """A model ready to look."""

    model: Any
    processor: Any
    source: Source
    device: torch.device

    @property
    def dtype(self) -> torch.dtype:
        """That of the weights."""
        return self.model.dtype  # type: ignore[no-any-return]

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        return {"architecture": type(self.model).__name__, "weights": self.source.title}

    def fingerprint(self, *said: object) -> str:
        """Digest of weights, configuration, preprocessing, words, dtype and what else is said."""
        weights = {name: tensor_bytes(part) for name, part in self.model.state_dict().items()}
        tokenizer = getattr(self.processor, "tokenizer", None)
        return digest(
            weights, content(self.model.config), content(self.processor.image_processor),
            None if tokenizer is None else vocabulary(tokenizer), str(self.dtype), *said,
        )  # fmt: skip


def load(
    owner: str,
    builders: Mapping[str, str],
    options: PretrainedOptions,
    context: Context,
    takes_text: bool,
) -> Loaded:
    """Find and load everything; `builders` are classes of transformers by `model_type`.

    Raises UserError for whatever a person can mend.
    """
    device, precision = resolve_device(context.device), resolve_dtype(context.dtype)
    source = find_source(owner, options.model, options.revision)
    read = partial(read_part, source, None)
    config = read("configuration", transformers.AutoConfig)
    kind = config.model_type
    if kind not in builders:
        raise UserError(
            f"{owner}: {source.title} is no model that is known here",
            expected=", ".join(builders),
            got=f"the architecture '{kind}'",
            remedy=nearest(kind, builders),
        )
    if takes_text:
        require_vocabulary(source)
    processor = read("processor", transformers.AutoProcessor)
    if not isinstance(processor, transformers.ProcessorMixin):
        raise UserError(
            f"{owner}: {source.title} has no processor",
            expected="processor_config.json or preprocessor_config.json",
            remedy="Save the processor in the same folder with save_pretrained.",
        )
    builder = getattr(transformers, builders[kind])
    model, info = read("weights", builder, config=config, dtype=precision, output_loading_info=True)
    require_tensors(model, info, source)
    model.eval().requires_grad_(False).to(device)
    return Loaded(model, processor, source, device)
