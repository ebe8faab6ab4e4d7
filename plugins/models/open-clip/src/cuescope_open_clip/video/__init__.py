"""ViCLIP and VideoCLIP-XL, CLIP models that see all frames of a clip together."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from cuescope_sdk import Context, Names
from cuescope_sdk.models import RepositoryName, ZeroShotModel, ZeroShotOptions
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_sdk.torch import ImageTower


class VideoCLIPOptions(ZeroShotOptions):
    """Options of `video-clip`; the part after `video-clip:` is `model`."""

    argument = "model"

    model: RepositoryName = Field(
        description="a checkpoint of the authors, a folder that holds one, or a hub id: "
        "OpenGVLab/ViCLIP-L-14-hf, OpenGVLab/ViCLIP-B-16-hf, alibaba-pai/VideoCLIP-XL, "
        "OWNER/NAME/FILE"
    )
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )


class VideoCLIP(ZeroShotModel):
    """ViCLIP (Wang et al., 2023) and VideoCLIP-XL (Wang et al., 2024), by the names of the tensors.

    Every patch of every frame attends to all others. Cosines are multiplied by 100, as in the
    authors' inference.
    """

    Options = VideoCLIPOptions
    options: VideoCLIPOptions
    answers_version = 1
    owner = "video-clip"

    def __init__(self, options: VideoCLIPOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_open_clip.video.loading import find_video_model

        model = find_video_model(options.model, options.revision, context)
        self._model = model
        head = self.choose_head(
            model.name, str(model.device), model.text_tower(), model.shape.dim
        )
        self.fingerprint = model.fingerprint(head.fingerprint)
        self.facts = {
            "architecture": model.family.title,
            "weights": model.title,
            **head.facts,
            "sequence": f"{count_of(model.shape.frames, 'frames')} together",
        }

    def open_image_tower(self) -> "ImageTower":
        return self._model.image_tower()


__all__ = ["VideoCLIP", "VideoCLIPOptions"]
