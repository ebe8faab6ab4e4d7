"""The options of `toy-clip`, which scores labels as any zero-shot model does."""

from pydantic import Field, PositiveInt

from cuescope_sdk.models import ZeroShotOptions
from cuescope_toy.options import TrainingOptions


class ToyCLIPOptions(TrainingOptions, ZeroShotOptions):
    """Options of `toy-clip`."""

    epochs: PositiveInt = Field(14, description="most passes over the training split")
