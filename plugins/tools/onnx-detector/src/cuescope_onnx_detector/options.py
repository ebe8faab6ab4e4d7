"""The options of the detector."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, PositiveInt

from cuescope_sdk import Options

OWNER = "onnx-detector"


class OnnxOptions(Options):
    """Options of `onnx-detector`; the part after `onnx-detector:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: Path = Field(description="the .onnx file of a YOLO")
    names: Path | None = Field(
        None, description="a text file with a class a line; default: the names in the .onnx file"
    )
    side: PositiveInt | None = Field(
        None, description="pixels of the square that images are fitted into; default: as exported"
    )
    threshold: float = Field(
        0.05, ge=0, lt=1, description="boxes must score more than this (SpurLens: 0.05)"
    )
    overlap: float = Field(
        0.5,
        ge=0,
        le=1,
        description="boxes of a name that overlap a better one by more (intersection over union) "
        "are dropped; 1 keeps them",
    )
    images: PositiveInt = Field(4, description="images that the network is shown at once")
