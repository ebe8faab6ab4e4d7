"""Stock models by their files: read now, their weights opened when they are first needed."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import transformers
from torch import Tensor

from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.torch import Checkpoint, Pretrained, Source
from cuescope_transformers.kinds import KINDS, Kind
from cuescope_transformers.options import TransformersOptions

OWNER = "transformers"


@dataclass(frozen=True)
class ContrastiveModel:
    """A model that compares images with texts, of one of the `KINDS`.

    `tokenizer` is None for an image tower alone.
    """

    files: Pretrained
    kind: str
    image_processor: Any
    tokenizer: Any | None

    @property
    def shape(self) -> Kind:
        """What is peculiar to its kind."""
        return KINDS[self.kind]

    @property
    def takes_video(self) -> bool:
        """Whether it looks at all frames of a sample together."""
        return self.shape.takes_video

    @property
    def vision_config(self) -> Any:
        return getattr(self.files.config, "vision_config", self.files.config)

    @property
    def frames(self) -> int:
        """Frames of one input."""
        if not self.takes_video:
            return 1
        return int(self.vision_config.num_frames)

    @property
    def dim(self) -> int:
        """Size of the shared space; without a projection that of the image tower."""
        own = self.shape.width == "hidden_size"
        config = self.vision_config if own else self.files.config
        return int(getattr(config, self.shape.width))

    @property
    def logit_scale(self) -> float:
        """Factor on the cosines; 1 where no checkpoint of the kind keeps one."""
        match self.shape.scale:
            case "logit_scale":
                return float(self._scalars["logit_scale"].exp())
            case "temperature":
                return 1 / float(self._scalars["temperature"])
            case _:
                return 1.0

    @property
    def logit_bias(self) -> float:
        """What SigLIP adds to its logits, 0 elsewhere."""
        return float(self._scalars.get("logit_bias", 0.0))

    @cached_property
    def _scalars(self) -> dict[str, Tensor]:
        """Scale and bias as the network will hold them, from the files: a plan reports the scale.

        Raises UserError where the files do not have the scale.
        """
        names: list[str] = [] if self.shape.scale is None else [self.shape.scale]
        if self.shape.biased:
            names.append("logit_bias")
        scalars: dict[str, Tensor] = {}
        for file in self.files.source.weight_files():
            for key, tensor in Checkpoint.read(self.files.title, file).tensors.items():
                # a checkpoint of a model around this one has the inner model's name before it
                name = key.rpartition(".")[2]
                if name in names:
                    scalars[name] = tensor.to(self.files.dtype).float()
        # the published files of TIPSv2 lack it, and the library takes it from the configuration
        first = getattr(self.files.config, "temperature_init_value", None)
        if self.kind == "tipsv2" and first is not None:
            scalars.setdefault("temperature", torch.tensor(float(first)))
        missing = [name for name in names if name not in scalars]
        if missing:
            raise UserError(
                f"{self.files.title} lacks weights of a {self.files.network_class.__name__}",
                expected="every tensor of the model",
                got=f"no {missing[0]}",
            )
        return scalars

    def fingerprint(self, head: str, uses_text_tower: bool) -> str:
        """Digest of the weights' files, the configuration, the preprocessing, dtype and head."""
        # a table of classes reads no words
        words = self.tokenizer if uses_text_tower else None
        return self.files.fingerprint(self.kind, self.image_processor, words, head)


def find_contrastive(
    options: TransformersOptions, context: Context
) -> ContrastiveModel:
    """Find and read all but the weights; raises UserError for whatever a person can mend."""

    def builder_of(config: Any, source: Source) -> Any:
        return getattr(transformers, KINDS[kind_of(config, source)].builder)

    files = options.find(OWNER, context, builder_of)
    kind = kind_of(files.config, files.source)
    require_pooling(files)
    processor: Any = transformers.AutoImageProcessor
    if kind == "videoprism":
        processor = transformers.AutoVideoProcessor
    image_processor = files.read("image processor", processor)
    tokenizer = None if kind.endswith("_vision_model") else files.tokenizer()
    return ContrastiveModel(files, kind, image_processor, tokenizer)


def require_pooling(files: Pretrained) -> None:
    """Raises UserError for a model that gives no image embeddings."""
    vision = getattr(files.config, "vision_config", files.config)
    # the SigLIP towers of LLaVA-OneVision and PaliGemma, for example, come without one
    if getattr(vision, "vision_use_head", True) is False:
        raise UserError(
            f"{files.title} has no pooling head (vision_use_head is false)",
            expected="a model that gives image embeddings",
        )


def kind_of(config: Any, source: Source) -> str:
    """Which of `KINDS` a configuration is (or derives from); raises UserError for another."""
    if kind := known_kind(config):
        return kind
    remedy = nearest(config.model_type, KINDS)
    if type(config) in transformers.MODEL_FOR_MULTIMODAL_LM_MAPPING:
        remedy = "It answers in words: use transformers-vlm in place of transformers."
    raise UserError(
        f"{OWNER}: {source.title} is no contrastive image-text model that is known here",
        expected=", ".join(KINDS),
        got=f"the architecture '{config.model_type}'",
        remedy=remedy,
    )


def known_kind(config: Any) -> str | None:
    """The first of `KINDS` that a configuration is, or derives from; None for another."""
    for kind, shape in KINDS.items():
        if isinstance(config, transformers.CONFIG_MAPPING[kind]):
            # of BLIP there are captioners too, of the same configuration
            named = config.architectures or ()
            own = shape.builder.startswith("Auto") or config.model_type != "blip"
            return kind if own or shape.builder in named else None
    return None
