"""The options of both editors."""

from typing import Annotated

from pydantic import Field, PositiveInt

from cuescope_sdk import Names, Options
from cuescope_sdk.models import RepositoryName

MODEL = "a folder that save_pretrained wrote, or a hub id"


class EditorOptions(Options):
    """Where the pipeline is, and how it is asked; the part after `NAME:` is `model`."""

    argument = "model"

    model: str = Field(description=MODEL)
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )
    steps: PositiveInt = Field(30, description="denoising steps (COVAR, A.6: 30)")
    size: PositiveInt | None = Field(
        None,
        description="the network works on as many pixels as a square of this side has; "
        "default: what it was trained at",
    )


class InpaintOptions(EditorOptions):
    """Options of `inpaint`; the default is the paper's kind of model."""

    model: RepositoryName = Field(
        "stable-diffusion-v1-5/stable-diffusion-inpainting", description=MODEL
    )


class InstructOptions(EditorOptions):
    """Options of `instruct`."""

    model: RepositoryName = Field("Qwen/Qwen-Image-Edit", description=MODEL)
