"""Options that every detector has."""

from pydantic import Field

from cuescope_sdk import Options


class DetectionOptions(Options):
    """Boxes that a detector keeps."""

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
