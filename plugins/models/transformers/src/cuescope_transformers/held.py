"""transformers models that the caller holds in memory, with their processors."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from cuescope_sdk import Context, UserError
from cuescope_sdk.report import count_of
from cuescope_sdk.torch import Pretrained, Source, network_digest, place_of
from cuescope_transformers.generative.loading import GenerativeModel, with_processor
from cuescope_transformers.loading import (
    OWNER,
    ContrastiveModel,
    kind_of,
    require_pooling,
)
from cuescope_transformers.options import TransformersOptions, VLMOptions

PARTS = "(model, processor)"


@dataclass(frozen=True)
class HeldPretrained(Pretrained):
    """A transformers model in memory, with what its files would have said."""

    held: Any = None

    @property
    def network(self) -> Any:
        """The caller's own."""
        return self.held

    @property
    def network_class(self) -> Any:
        """Its class."""
        return type(self.held)

    def weights_content(self) -> list[str]:
        """Of the network as it is now."""
        return ["held", network_digest(self.held)]


class NoFolder(Source):
    """The source of a network in memory, which has no files: none can lead out of a folder."""

    def __post_init__(self) -> None:
        """Nothing to look through."""


def hold_pretrained(network: Any, title: str, context: Context) -> HeldPretrained:
    """A transformers model of the caller; raises UserError for one in training mode."""
    # no folder: what its files would have said comes with the network
    source = NoFolder(OWNER, Path(), title)
    device, dtype = place_of(OWNER, network)
    return HeldPretrained(
        source,
        network.config,
        type(network),
        context,
        device,
        dtype,
        held=network,
    )


class HeldContrastive(ContrastiveModel):
    """The same, with scale and bias from the network itself."""

    @cached_property
    def _scalars(self) -> dict[str, Tensor]:
        parameters = dict(self.files.network.named_parameters())
        names = [name for name in ("logit_scale", "logit_bias") if name in parameters]
        return {name: parameters[name].detach().float() for name in names}


def hold_contrastive(
    item: Any,
    options: TransformersOptions,
    context: Context,
) -> HeldContrastive:
    """From `PARTS`; raises UserError where a part is missing or not fit for an audit."""
    network, processor = unpack_parts(item)
    files = hold_pretrained(network, options.model, context)
    require_pooling(files)
    kind = kind_of(files.config, files.source)
    # an image tower alone comes with its image processor
    images = getattr(processor, "image_processor", processor)
    tokenizer = getattr(processor, "tokenizer", None)
    alone = kind.endswith("_vision_model")
    # anything may be handed over: what reads images has their mean
    if not hasattr(images, "image_mean") or (tokenizer is None and not alone):
        words = "" if alone else " and texts"
        raise UserError(
            f"{OWNER}: the processor is a {type(processor).__name__}",
            expected=f"one that reads images{words}",
            remedy="processor = AutoProcessor.from_pretrained(NAME)",
        )
    # a tower alone has no use for words, whatever its processor brings
    return HeldContrastive(files, kind, images, None if alone else tokenizer)


def hold_generative(
    item: Any,
    options: VLMOptions,
    context: Context,
) -> GenerativeModel:
    """From `PARTS`; raises UserError where a part is missing or not fit for an audit."""
    network, processor = unpack_parts(item)
    if not hasattr(processor, "tokenizer"):
        raise UserError(
            f"{OWNER}: the processor is a {type(processor).__name__}",
            expected="one that reads images and texts",
            remedy="processor = AutoProcessor.from_pretrained(NAME)",
        )
    files = hold_pretrained(network, options.model, context)
    return with_processor(files, processor, options)


def unpack_parts(item: Any) -> tuple[Any, Any]:
    """The two `PARTS`; raises UserError where these are others."""
    if isinstance(item, tuple) and len(item) == 2:
        return item
    got = "the model alone, in memory"
    if isinstance(item, tuple):
        got = f"{count_of(len(item), 'parts')}"
    raise UserError(
        f"{OWNER}: a model in memory comes with its processor",
        expected=f"model={PARTS}",
        got=got,
        remedy="processor = AutoProcessor.from_pretrained(NAME)",
    )
