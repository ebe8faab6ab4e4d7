"""What a user can set."""

from pydantic import Field, NonNegativeInt

from cuescope_sdk import LevelOptions


class BlindOptions(LevelOptions):
    """Of the method `blind`."""

    min_gain: float = Field(
        0.02,
        ge=0,
        le=1,
        description="a finding is this far above chance at least",
    )
    folds: int = Field(
        5,
        ge=2,
        description="parts of the videos; one is answered from the others",
    )
    # 19 and the data are 20: none as good as the data is p = 0.05
    redraws: NonNegativeInt = Field(
        19, description="times that answers are redrawn for the check; 0 leaves it out"
    )
