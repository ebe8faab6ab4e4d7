"""The options of both editors."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from cuescope_sdk import Names, Options, RunsCode, Words
from cuescope_sdk.models import RepositoryName

MODEL = "a folder that save_pretrained wrote, or a hub id"
Dtype = Literal["float32", "float16", "bfloat16"]


class EditorOptions(Options):
    """Where the pipeline is, and how it is asked; the part after `NAME:` is `model`."""

    argument = "model"

    model: str = Field(description=MODEL)
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )
    prompt: Annotated[str, Words()] = Field(
        "{instruction}", description="what the pipeline reads"
    )
    negative_prompt: Annotated[str | None, Words()] = Field(
        None, description="what the image shall not show"
    )
    steps: PositiveInt = Field(30, description="denoising steps (COVAR, A.6: 30)")
    guidance: float | None = Field(
        None,
        ge=0,
        description="classifier-free guidance; default: the pipeline's own (SD: 7.5)",
    )
    size: PositiveInt | None = Field(
        None,
        description="the network works on as many pixels as a square of this side has; "
        "default: what it was trained at",
    )
    feather: NonNegativeInt = Field(
        4, description="pixels of the seam within the mask; 0: a hard edge"
    )
    images: PositiveInt = Field(
        1, description="images that the pipeline is given at once"
    )
    dtype: Dtype | None = Field(
        None, description="of the weights; default: that of the command"
    )
    trust_remote_code: Annotated[bool, RunsCode()] = Field(
        False, description="run code of the pipeline's own; read it first"
    )

    @field_validator("prompt")
    @classmethod
    def _has_instruction(cls, prompt: str) -> str:
        if "{instruction}" not in prompt:
            raise ValueError("expected {instruction} in it")
        return prompt


class InpaintOptions(EditorOptions):
    """Options of `inpaint`; the default is the paper's kind of model."""

    model: RepositoryName = Field(
        "stable-diffusion-v1-5/stable-diffusion-inpainting", description=MODEL
    )
    strength: float = Field(
        1.0,
        gt=0,
        le=1,
        description="1: nothing of what lay under the mask is left; less starts from it",
    )
    controlnet: Annotated[str | None, Names.repository()] = Field(
        None, description="a ControlNet beside the pipeline: a folder, or a hub id"
    )
    controlnet_revision: Annotated[str | None, Names.repository()] = Field(
        None, description="as revision, of the ControlNet"
    )
    control: Literal["inpaint", "image"] = Field(
        "inpaint",
        description="what the ControlNet sees: the image with its masked pixels marked as such, "
        "or the image as it is",
    )


class InstructOptions(EditorOptions):
    """Options of `instruct`."""

    model: RepositoryName = Field("Qwen/Qwen-Image-Edit", description=MODEL)
    image_guidance: float | None = Field(
        None,
        ge=0,
        description="InstructPix2Pix: how closely the result follows the image; default: 1.5",
    )
