"""What a user can set."""

from typing import Annotated

from pydantic import Field, NonNegativeInt

from cuescope_sdk import Options, Words

NEUTRAL = "Which option is right?"


class LookingOptions(Options):
    """Of the method `looking`."""

    turns: NonNegativeInt = Field(
        1,
        description="how often the options are turned by one place; 0 leaves it out",
    )
    neutral: Annotated[str, Words()] = Field(
        NEUTRAL, description="what is asked in place of the question"
    )
    min_gain: float = Field(
        0.02, ge=0, le=1, description="a finding is this far from guessing at least"
    )
    fdr: float = Field(
        0.05, gt=0, le=1, description="false discovery rate over all ways to ask"
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
