"""Options of the verifiers."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, NonNegativeInt

from cuescope_sdk import Names, Options, Words
from cuescope_sdk.models import RepositoryName
from cuescope_verifiers.phrases import WORDS

Revision = Annotated[
    str | None,
    Names.repository(),
    Field(description="branch, tag or commit of a hub id; default: main"),
]
Spec = Annotated[str, Names.plugin()]
SpecOptions = Annotated[Mapping[str, Any], Names.plugin()]


class BoxOptions(Options):
    """Options of every verifier that looks through a detector."""

    argument = "detector"

    detector: Spec = Field(
        "owl", description="SPEC of the tool that finds boxes: owl:MODEL ..."
    )
    detector_options: SpecOptions = Field({}, description="options of that tool")
    threshold: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="boxes must score more than this to be evidence",
    )
    step: float = Field(
        0.01,
        ge=0,
        lt=1,
        description="what moves goes further than this from frame to frame, in widths of the "
        "picture",
    )


class TrackOptions(BoxOptions):
    lost: NonNegativeInt = Field(
        2, description="frames for which a thing may be missing"
    )
    overlap: float = Field(
        -0.4,
        ge=-1,
        lt=1,
        description="generalised intersection over union of a thing's boxes in successive frames; "
        "-0.4 lets it go two of its widths",
    )
    start: float = Field(
        0.3,
        ge=0,
        le=1,
        description="score of a box that starts a track; weaker ones continue one",
    )


class DepthOptions(BoxOptions):
    argument = "model"

    model: RepositoryName = Field(
        "depth-anything/Depth-Anything-V2-Metric-Indoor-Small-hf",
        description="Depth Anything, DPT, ZoeDepth ...: a folder that save_pretrained wrote, or a "
        "hub id; only metric ones tell whether the camera goes ahead",
    )
    revision: Revision = None
    nearer: float = Field(
        0.05,
        ge=0,
        lt=1,
        description="share of the picture's depths by which the nearer of two things is nearer",
    )
    step_ahead: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="share of its depth by which what is ahead comes nearer in a step",
    )


class ImageTextOptions(Options):
    argument = "model"

    model: Spec = Field(
        "open-clip:ViT-B-16/openai",
        description="SPEC of a model with an image and a text tower",
    )
    model_options: SpecOptions = Field({}, description="options of that model")
    margin: float = Field(
        0.01,
        ge=0,
        le=2,
        description="cosine by which a claim must beat its opposites, or they it; less is open",
    )


class ActionOptions(Options):
    argument = "model"

    model: RepositoryName = Field(
        "microsoft/xclip-base-patch32",
        description="X-CLIP: a folder that save_pretrained wrote, or a hub id",
    )
    revision: Revision = None
    alternatives: Annotated[tuple[str, ...], Words()] = Field(
        tuple(WORDS["alternatives"]),
        min_length=1,
        description="sentences that a claim competes with; those of its verb are left out",
    )


class CameraOptions(Options):
    turn: float = Field(
        0.02,
        gt=0,
        lt=0.5,
        description="frames: the picture shifts by more than this share of its side in a turn",
    )
    peak: float = Field(
        1.5,
        ge=0,
        description="frames: nothing is said where a shift is no clearer than so many times chance",
    )


class CombinedOptions(Options):
    argument = "verifiers"

    verifiers: Annotated[tuple[str, ...], Names.plugin()] = Field(
        ("scene-graph", "camera"),
        min_length=1,
        description="SPECs in order: scene-graph,tracks:owl,image-text:open-clip:ViT-B-16/openai",
    )
    options: Annotated[Mapping[str, Mapping[str, Any]], Names.plugin()] = Field(
        {}, description="options of each, under its SPEC"
    )
