"""What a user can set."""

from pydantic import Field, NonNegativeInt

from cuescope_sdk import Options


class LookingOptions(Options):
    """Of the method `looking`."""

    turns: NonNegativeInt = Field(
        1,
        description="how often the options are turned by one place; 0 leaves it out",
    )
    min_gain: float = Field(
        0.02, ge=0, le=1, description="a finding is this far from guessing at least"
    )
    fdr: float = Field(
        0.05, gt=0, le=1, description="false discovery rate over all ways to ask"
    )
