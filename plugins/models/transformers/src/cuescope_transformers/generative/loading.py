"""Load a generative model with its processor."""

import inspect
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
import transformers

from cuescope_sdk import UserError, digest
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.torch.devices import resolve_dtype
from cuescope_sdk.torch.fingerprints import tensor_bytes
from cuescope_sdk.torch.fusion import stock_fusion
from cuescope_sdk.torch.hub_folders import Source, find_source
from cuescope_sdk.torch.quiet import quiet
from cuescope_sdk.torch.reading import (
    content,
    read_part,
    require_tensors,
    require_vocabulary,
    vocabulary,
)
from cuescope_transformers.generative.shape import fusion_shape
from cuescope_transformers.loading import BUILDERS, OWNER


@dataclass(frozen=True)
class Loaded:
    """A model ready to answer; `fusion` is None, with the reason, where its layers are closed."""

    model: Any
    processor: Any
    source: Source
    device: torch.device
    fusion: FusionShape | None
    closed: UserError | None

    @property
    def kind(self) -> str:
        """The family: `model_type` of the configuration."""
        return str(self.model.config.model_type)

    @property
    def title(self) -> str:
        """What errors call it."""
        return f"{OWNER}: {self.source.title}"

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
        return {
            "architecture": type(self.model).__name__,
            "weights": self.source.title,
            "frames are shown as": "a video" if video else "images",
        }

    def fingerprint(self) -> str:
        """Digest of weights, configuration, preprocessing, words, chat template and dtype."""
        weights = {name: tensor_bytes(part) for name, part in self.model.state_dict().items()}
        parts = [
            getattr(self.processor, name, None) for name in ("image_processor", "video_processor")
        ]
        return digest(
            weights, content(self.model.config), content(self.model.generation_config),
            content(self.processor), [content(part) for part in parts if part is not None],
            vocabulary(self.tokenizer), str(self.processor.chat_template), str(self.model.dtype),
        )  # fmt: skip


def arguments(function: Any) -> frozenset[str]:
    """The names of what it takes."""
    return frozenset(inspect.signature(function).parameters)


def load(
    model: str, revision: str | None, trust_remote_code: bool, device: torch.device, dtype: str
) -> Loaded:
    """Find and load everything; raises UserError for whatever a person can mend."""
    precision = resolve_dtype(dtype)
    source = find_source(OWNER, model, revision, trust_remote_code)
    read = partial(read_part, source, trust_remote_code)
    config = read("configuration", transformers.AutoConfig)
    builder = builder_of(config, source)
    require_vocabulary(source)
    processor = read("processor", transformers.AutoProcessor)
    if not isinstance(processor, transformers.ProcessorMixin):
        raise UserError(
            f"{OWNER}: {source.title} has no processor",
            expected="processor_config.json or preprocessor_config.json",
            remedy="Save the processor in the same folder with save_pretrained.",
        )
    network, info = read(
        "weights", builder, config=config, dtype=precision, output_loading_info=True
    )
    require_tensors(network, info, source)
    network.eval().requires_grad_(False).to(device)
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    network.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    return Loaded(network, processor, source, device, *_opened(network))


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


def _opened(model: Any) -> tuple[FusionShape | None, UserError | None]:
    """The fusion layers switched to attention that can be edited; a model without still answers."""
    try:
        with quiet():
            return fusion_shape(model, stock_fusion(model)), None
    except UserError as reason:
        return None, reason
    except (AttributeError, StopIteration) as reason:  # a model of another make
        return None, UserError(f"the sizes of its layers cannot be read ({reason})")
