"""A generative model with its processor: files now, weights when they are first needed."""

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import transformers

from cuescope_sdk import Context, UserError
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.torch import (
    Pretrained,
    Source,
    config_content,
    find_pretrained,
    quiet,
    stock_fusion,
    tokenizer_content,
)
from cuescope_transformers.generative.shape import fusion_shape
from cuescope_transformers.loading import BUILDERS, OWNER


@dataclass(frozen=True)
class Opened:
    """The network; `fusion` is None, with the reason, where its layers are closed."""

    model: Any
    fusion: FusionShape | None
    closed: UserError | None


@dataclass(frozen=True)
class Loaded:
    """A model that can answer; what asks for `opened` or `model` opens its weights."""

    files: Pretrained
    processor: Any

    @cached_property
    def opened(self) -> Opened:
        """The weights, read when first asked for."""
        network = self.files.opened()
        network.generation_config.pad_token_id = self.tokenizer.pad_token_id
        return Opened(network, *_fusing(network))

    @property
    def model(self) -> Any:
        """The network."""
        return self.opened.model

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.files.device

    @property
    def kind(self) -> str:
        """The family: `model_type` of the configuration."""
        return str(self.files.config.model_type)

    @property
    def title(self) -> str:
        """What errors call it."""
        return self.files.title

    @property
    def tokenizer(self) -> Any:
        """The processor's."""
        return self.processor.tokenizer

    @property
    def takes_padding(self) -> bool:
        """Whether rows of different lengths may go together: positions do not count padding."""
        parts = (self.model, getattr(self.model, "language_model", None))
        follows = [part for part in parts if part and "position_ids" in arguments(part.forward)]
        return bool(follows) or bool(self.model.config.is_encoder_decoder)

    @property
    def needs_image(self) -> bool:
        """Some `generate` cannot do without pixels; a model with code of its own may not tell."""
        generate = getattr(self.files.network, "generate", None)
        taken = inspect.signature(generate).parameters if generate else {}
        return "pixel_values" in taken and taken["pixel_values"].default is inspect.Parameter.empty

    @cached_property
    def special(self) -> frozenset[int]:
        """Ids of the tokens that are no words; one for unknown words stands for a word."""
        tokenizer = self.tokenizer
        added = tokenizer.added_tokens_decoder
        marked = {index for index, token in added.items() if token.special}
        ends = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
        unknown = {tokenizer.unk_token_id} - ends
        return frozenset((marked | set(tokenizer.all_special_ids)) - unknown)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of the model."""
        video = getattr(self.processor, "video_processor", None) is not None
        return {**self.files.facts, "frames are shown as": "a video" if video else "images"}

    def fingerprint(self, *said: object) -> str:
        """Digest of weights, configuration, preprocessing, words, chat template and dtype."""
        parts = [
            getattr(self.processor, name, None) for name in ("image_processor", "video_processor")
        ]
        return self.files.fingerprint(
            config_content(self.processor), [config_content(part) for part in parts if part is not None],
            tokenizer_content(self.tokenizer), str(self.processor.chat_template), *said,
        )  # fmt: skip


def arguments(function: Any) -> frozenset[str]:
    """The names of what it takes."""
    return frozenset(inspect.signature(function).parameters)


def load(model: str, revision: str | None, trust_remote_code: bool, context: Context) -> Loaded:
    """Find and read all but the weights; raises UserError for whatever a person can mend."""
    files = find_pretrained(OWNER, model, revision, context, builder_of, trust_remote_code)
    processor = files.processor()
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return Loaded(files, processor)


def builder_of(config: Any, source: Source) -> Any:
    """The Auto class for a configuration; raises UserError for one that answers no question."""
    if type(config) in transformers.MODEL_FOR_MULTIMODAL_LM_MAPPING:
        return transformers.AutoModelForMultimodalLM
    auto = getattr(config, "auto_map", None) or {}
    for name in ("AutoModelForImageTextToText", "AutoModelForMultimodalLM"):
        if name in auto:
            return getattr(transformers, name)
    contrastive = config.model_type in BUILDERS
    raise UserError(
        f"{OWNER}: {source.title} does not answer questions about images or videos",
        expected="an image- or video-text-to-text model",
        got=f"the architecture '{config.model_type}'",
        remedy="It compares images with texts: use transformers in place of transformers-vlm."
        if contrastive
        else None,
    )


def _fusing(model: Any) -> tuple[FusionShape | None, UserError | None]:
    """The fusion layers switched to attention that can be edited; a model without still answers."""
    try:
        with quiet():
            return fusion_shape(model, stock_fusion(model)), None
    except UserError as reason:
        return None, reason
    except (AttributeError, StopIteration) as reason:  # a model of another make
        return None, UserError(f"the sizes of its layers cannot be read ({reason})")
