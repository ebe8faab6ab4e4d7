"""Options of every detector and segmenter."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, field_validator

from cuescope_sdk import Names, Options
from cuescope_sdk.models import PromptWords, RepositoryName
from cuescope_sdk.tools import DetectionOptions

IMAGES_AT_ONCE = 4  # so that they fit into memory, whatever the model's batch is
MODEL = "a folder that save_pretrained wrote, or a hub id"


class PretrainedOptions(Options):
    """Where a model's files are; the part after `NAME:` is `model`, with a default a tool."""

    argument = "model"

    model: str = Field(description=MODEL)
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )


class OpenVocabularyOptions(DetectionOptions, PretrainedOptions):
    """Options of every detector that takes any name."""


class OwlOptions(OpenVocabularyOptions):
    """Options of `owl`; the default is SpurLens's detector."""

    model: RepositoryName = Field(
        "google/owlv2-base-patch16-ensemble", description=MODEL
    )
    prompt: PromptWords = Field(
        "{name}", description="what is searched for, as in 'a photo of a {name}'"
    )

    @field_validator("prompt")
    @classmethod
    def _has_name(cls, prompt: str) -> str:
        if "{name}" not in prompt:
            raise ValueError("expected {name} in it")
        return prompt


class GroundingDinoOptions(OpenVocabularyOptions):
    """Options of `grounding-dino`."""

    model: RepositoryName = Field(
        "IDEA-Research/grounding-dino-base", description=MODEL
    )


class CocoOptions(PretrainedOptions):
    """Options of `coco-detector`."""

    model: RepositoryName = Field(
        "facebook/detr-resnet-50",
        description="DETR, RT-DETR, YOLOS ...: a folder that save_pretrained wrote, or a hub id; "
        "or a file of torchvision's Faster R-CNN weights (.pth, .safetensors)",
    )
    backbone: Literal["resnet18", "resnet34", "resnet50", "resnet101"] = Field(
        "resnet50", description="Faster R-CNN: the backbone that the weights are for"
    )
    side: PositiveInt = Field(
        800,
        description="Faster R-CNN: an image is resized to this many pixels at its shorter side",
    )
    threshold: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="boxes must score more than this",
    )


class GroundedSamOptions(PretrainedOptions):
    """Options of `sam`."""

    model: RepositoryName = Field("facebook/sam-vit-base", description=MODEL)
    detector: Annotated[str, Names.plugin()] = Field(
        "owl",
        description="SPEC of the tool that finds the boxes: owl:MODEL, annotations ...",
    )
    detector_options: Annotated[Mapping[str, Any], Names.plugin()] = Field(
        {}, description="options of that tool"
    )
    threshold: float = Field(
        0.3,
        ge=0,
        lt=1,
        description="boxes must score more than this to be outlined",
    )
