"""A small CLIP that is trained here, and then runs as any other model of open_clip."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial
from cuescope_sdk.models import ZeroShotModel, ZeroShotOptions


class ToyCLIPOptions(ZeroShotOptions):
    """Options of `toy-clip`; the part after `toy-clip:` is `data`."""

    argument: ClassVar[str | None] = "data"

    data: str | None = Field(
        default=None,
        description="SPEC of the data set to train on (its split train); default: the audited one",
    )
    data_options: dict[str, Any] = Field(
        default={}, description="options of `data`, as {train: 2000, noise: 0}"
    )
    tower: Literal["vit", "resnet"] = Field(
        default="vit",
        description="image tower; vit has patches to hide, resnet learns small shapes sooner",
    )
    learning_rate: PositiveFloat = Field(default=1e-3, description="of AdamW, at its highest")
    weight_decay: NonNegativeFloat = Field(default=0.05, description="of AdamW, on matrices")
    batch_size: PositiveInt = Field(default=32, ge=2, description="pictures in a training batch")
    epochs: PositiveInt = Field(default=14, description="most passes over the training split")
    enough: float = Field(
        default=0.975, gt=0, le=1, description="share of right labels after which one pass follows"
    )
    caption_weight: NonNegativeFloat = Field(
        default=0.3, description="of the captions' loss beside that of the label prompts"
    )
    seed: int | None = Field(
        default=None, ge=0, description="of weights and batches; default: the audit's"
    )


class ToyCLIP(Plugin):
    """Image and text towers trained from nothing on a data set's pictures and captions.

    Trains as it is built, unless the cache or the package holds the weights of an equal training.
    They are unpacked to a folder as open_clip saves models, and the plugin `open-clip` answers;
    whatever that model is able to do beyond `respond`, this one is, by the same methods.
    """

    Options: ClassVar[type[Options]] = ToyCLIPOptions
    options: ToyCLIPOptions
    capabilities: ClassVar[Capabilities] = ZeroShotModel.capabilities
    fingerprint: str
    facts: Mapping[str, str]
    embed_texts: Callable[[Sequence[str]], Float[np.ndarray, "text dim"]]

    def __init__(self, options: ToyCLIPOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import resolve_device, resolve_dtype
        from cuescope_toy.clip.folder import unpack
        from cuescope_toy.clip.training import trained

        resolve_device(context.device)  # a typo is told before the training
        resolve_dtype(context.dtype)
        weights, facts, key = trained(options, context)
        folder = unpack(weights, options.tower, context.cache / "toy-clip" / key)
        asked = {name: getattr(options, name) for name in ZeroShotOptions.model_fields}
        self._clip = context.build("model", f"open-clip:{folder}", asked)
        self.facts = {**self._clip.facts, **facts}
        for name in dir(self._clip):
            if not name.startswith("_") and not hasattr(self, name):
                setattr(self, name, getattr(self._clip, name))

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """As open-clip answers."""
        answers: list[Response] = self._clip.respond(trials)
        return answers


__all__ = ["ToyCLIP", "ToyCLIPOptions"]
