"""Any stock open_clip model as a cuescope model: zero-shot over images and frame sequences."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_sdk import Context, Options
from cuescope_sdk.models import ZeroShotModel, ZeroShotOptions


class OpenCLIPOptions(ZeroShotOptions):
    """Options of `open-clip`; the part after `open-clip:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="ARCHITECTURE/TAG (ViT-B-16/openai), ARCHITECTURE with checkpoint=, "
        "hf-hub:OWNER/NAME, or a folder with open_clip_config.json"
    )
    checkpoint: Path | None = Field(
        default=None,
        description="local weights (.safetensors, .pt): the full model or its image tower alone",
    )


class OpenCLIP(ZeroShotModel):
    """open_clip's own forward, with the edits and readings of its image tower.

    One built from an image tower alone has no `embed_texts`, and scores by `class_embeddings`.
    """

    Options: ClassVar[type[Options]] = OpenCLIPOptions
    options: OpenCLIPOptions
    owner = "open-clip"

    def __init__(self, options: OpenCLIPOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_open_clip.loading import load
        from cuescope_open_clip.towers import image_tower, text_tower
        from cuescope_sdk.torch import resolve_device

        loaded = load(
            options.model, options.checkpoint, resolve_device(context.device), context.dtype
        )
        texts = text_tower(loaded) if loaded.has_text_tower else None
        head = self.use(image_tower(loaded), texts, loaded.dim)
        self.fingerprint = loaded.fingerprint(head.fingerprint, head.uses_text_tower)
        self.facts = {**loaded.facts, **head.facts, "sequence": "mean of frame embeddings"}

    def more_templates(self) -> Mapping[str, Sequence[str]]:
        """The 80 prompts of Radford et al. (2021) for ImageNet, as open_clip carries them."""
        if self.options.templates != "openai80":
            return {"openai80": ()}
        from open_clip import OPENAI_IMAGENET_TEMPLATES

        return {"openai80": [template("{label}") for template in OPENAI_IMAGENET_TEMPLATES]}


__all__ = ["OpenCLIP", "OpenCLIPOptions"]
