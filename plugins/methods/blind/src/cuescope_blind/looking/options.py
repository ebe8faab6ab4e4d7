"""What a user can set."""

from pydantic import Field

from cuescope_sdk import LevelOptions


class LookingOptions(LevelOptions):
    """Of the method `looking`."""

    min_gain: float = Field(
        0.02, ge=0, le=1, description="a finding is this far from guessing at least"
    )
