"""A stock model with its processor: files now, weights when they are first needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import transformers

from cuescope_detectors.open_vocabulary import PretrainedOptions
from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.torch import (
    Pretrained,
    Source,
    config_content,
    find_pretrained,
    tokenizer_content,
)


@dataclass(frozen=True)
class Loaded:
    """A model that can look; `model` opens its weights."""

    files: Pretrained
    processor: Any

    @cached_property
    def model(self) -> Any:
        """The network."""
        return self.files.opened()

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.files.device

    @property
    def dtype(self) -> torch.dtype:
        """That of the weights."""
        return self.files.dtype

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        return self.files.facts

    def fingerprint(self, *said: object) -> str:
        """Digest of weights, configuration, preprocessing, words, dtype and what else is said."""
        tokenizer = getattr(self.processor, "tokenizer", None)
        words = None if tokenizer is None else tokenizer_content(tokenizer)
        return self.files.fingerprint(config_content(self.processor.image_processor), words, *said)


def load(
    owner: str,
    builders: Mapping[str, str],
    options: PretrainedOptions,
    context: Context,
    takes_text: bool,
) -> Loaded:
    """Find the files and read all but the weights; `builders` are classes by `model_type`.

    Raises UserError for whatever a person can mend.
    """

    def builder_of(config: Any, source: Source) -> Any:
        kind = config.model_type
        if kind in builders:
            return getattr(transformers, builders[kind])
        raise UserError(
            f"{owner}: {source.title} is no model that is known here",
            expected=", ".join(builders),
            got=f"the architecture '{kind}'",
            remedy=nearest(kind, builders),
        )

    files = find_pretrained(owner, options.model, options.revision, context, builder_of)
    return Loaded(files, files.processor(takes_text))
