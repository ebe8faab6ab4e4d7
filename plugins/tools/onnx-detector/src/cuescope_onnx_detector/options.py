"""The options of the detector."""

from pathlib import Path

from pydantic import Field

from cuescope_sdk.tools import DetectionOptions

OWNER = "onnx-detector"


class OnnxOptions(DetectionOptions):
    """Options of `onnx-detector`; the part after `onnx-detector:` is `model`."""

    argument = "model"

    model: Path = Field(description="the .onnx file of a YOLO")
    names: Path | None = Field(
        None,
        description="a text file with a class a line; default: the names in the .onnx file",
    )
