"""Any stock open_clip model as a cuescope model: zero-shot over images and frame sequences."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from cuescope_sdk import Context, UserError
from cuescope_sdk.models import RepositoryName, ZeroShotModel, ZeroShotOptions

if TYPE_CHECKING:
    from cuescope_open_clip.held import HeldModel
    from cuescope_sdk.torch import ImageTower


class OpenCLIPOptions(ZeroShotOptions):
    """Options of `open-clip`; the part after `open-clip:` is `model`."""

    argument = "model"

    model: RepositoryName = Field(
        description="ARCHITECTURE/TAG (ViT-B-16/openai), ARCHITECTURE with checkpoint=, "
        "hf-hub:OWNER/NAME, or a folder with open_clip_config.json"
    )
    checkpoint: Path | None = Field(
        None,
        description="local weights (.safetensors, .pt): the full model or its image tower alone",
    )


class OpenCLIP(ZeroShotModel):
    """open_clip's own forward, with the edits and readouts of its image tower.

    One built from an image tower alone has no `embed_texts`, and scores by `class_embeddings`.
    """

    Options = OpenCLIPOptions
    options: OpenCLIPOptions
    answers_version = 1
    owner = "open-clip"

    def __init__(
        self,
        options: OpenCLIPOptions,
        context: Context,
        held: "HeldModel | None" = None,
    ) -> None:
        super().__init__(options, context)
        from cuescope_open_clip.loading import find_model
        from cuescope_open_clip.towers import text_tower, why_closed

        model = held or find_model(options.model, options.checkpoint, context)
        self._model = model
        texts = text_tower(model) if model.has_text_tower else None
        head = self.choose_head(model.name, str(model.device), texts, model.dim)
        self.fingerprint = model.fingerprint(head.fingerprint)
        self.facts = {
            **model.facts,
            **head.facts,
            "sequence": "mean of frame embeddings",
        }
        reason = why_closed(model)
        if reason is not None:
            self.close_tower(reason)

    @classmethod
    def takes(cls, item: object) -> bool:
        """Whether it is an open_clip model, or a tuple that begins with one."""
        open_clip = sys.modules.get("open_clip")
        if open_clip is None:  # nobody has a model of what nobody imported
            return False
        if isinstance(item, tuple) and item:
            item = item[0]
        return isinstance(
            item, open_clip.CLIP | open_clip.CustomTextCLIP | open_clip.CoCa
        )

    @classmethod
    def from_object(cls, item: Any, options: OpenCLIPOptions, context: Context) -> Self:
        """From (model, preprocess, tokenizer); `preprocess` None is the model's own."""
        from cuescope_open_clip.held import hold

        if options.checkpoint is not None:
            raise UserError(
                "open-clip: checkpoint with a model in memory", remedy="Leave it out"
            )
        # a table names the classes, and then no tokenizer is needed
        held = hold(item, options.model, reads_texts=options.class_embeddings is None)
        return cls(options, context, held)

    def open_image_tower(self) -> "ImageTower":
        from cuescope_open_clip.towers import image_tower

        return image_tower(self._model)

    def more_templates(self) -> Mapping[str, Sequence[str]]:
        """The 80 prompts of Radford et al. (2021) for ImageNet, as open_clip carries them."""
        # open_clip imports torch: it is not imported to learn that such a set exists
        if self.options.templates != "openai80":
            return {"openai80": ()}
        from open_clip import OPENAI_IMAGENET_TEMPLATES

        return {
            "openai80": [template("{label}") for template in OPENAI_IMAGENET_TEMPLATES]
        }
