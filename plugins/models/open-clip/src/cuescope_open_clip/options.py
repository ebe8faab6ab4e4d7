"""Options of `open-clip`."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from cuescope_sdk.models import ZeroShotOptions


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
