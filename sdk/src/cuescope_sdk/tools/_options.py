"""Options that every detector has."""

from pydantic import Field, PositiveInt

from cuescope_sdk import Options


class DetectionOptions(Options):
    """Which boxes a detector keeps, and how many images it is shown at once."""

    threshold: float = Field(
        0.05,
        ge=0,
        lt=1,
        description="boxes must score more than this (SpurLens: 0.05)",
    )
    overlap: float = Field(
        0.5,
        ge=0,
        le=1,
        description="boxes of a name that overlap a better one by more (intersection over union) "
        "are dropped; 1 keeps them",
    )
    images: PositiveInt = Field(
        4, description="images that the network is shown at once"
    )
