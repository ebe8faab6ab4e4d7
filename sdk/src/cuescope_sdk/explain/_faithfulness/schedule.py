"""How many pixels change at each step, and what they change into."""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field, PositiveInt, model_validator

from cuescope.types import Options

Direction = Literal["deletion", "insertion"]
Fill = Literal["noise", "blur", "black", "grey", "white"]
DIRECTIONS: tuple[Direction, ...] = ("deletion", "insertion")
WHOLE = {"paper": 0.5, "rise": 1.0}
ROUNDING = 1e-9


class Schedule(Options):
    """Pixels change by falling importance, the same share of the image at each step.

    "paper" (CCI, section 3.1: about 0.5% of pixels over 100 steps, about half of the image):
    deletion puts seeded random noise in their place, insertion reveals them on a blank canvas.
    "rise" (Petsiuk et al., 2018): deletion blanks them, insertion reveals them in the blurred
    image, until all have changed; their published code takes one row's length of pixels a step,
    which is 224 steps, and blanks after normalisation, which is nearest to "grey".
    """

    protocol: Literal["paper", "rise"] = Field(
        "paper", description="paper: half of the pixels, noise and blank; rise: all, blank and blur"
    )
    steps: PositiveInt = Field(100, description="how often pixels change")
    share: float | None = Field(
        None,
        gt=0,
        le=1,
        description="share of the pixels a step; default: half (paper) or all (rise) of them "
        "over the steps",
    )
    blank: Literal["black", "grey", "white"] = Field("black", description="what a blank pixel is")

    @model_validator(mode="after")
    def _within_the_image(self) -> "Schedule":
        if self.steps * self.per_step > 1 + ROUNDING:
            raise ValueError(
                f"{self.steps} steps of {self.per_step:g} change more pixels than there are: "
                f"at most {int((1 + ROUNDING) / self.per_step)} steps"
            )
        return self

    @property
    def per_step(self) -> float:
        """Share of the image's pixels that change at a step."""
        return WHOLE[self.protocol] / self.steps if self.share is None else self.share

    @property
    def changed(self) -> Float[np.ndarray, " step"]:
        """Share of the pixels that has changed after each step, from 0 before the first."""
        return np.asarray(np.minimum(np.arange(self.steps + 1) * self.per_step, 1.0))

    def counts(self, pixels: int) -> Int[np.ndarray, " step"]:
        """How many of `pixels` have changed after each step, rounded to whole ones."""
        return np.asarray(np.rint(self.changed * pixels).astype(np.int64))

    def fill(self, direction: Direction) -> Fill:
        """What stands where the image does not show."""
        if direction == "deletion":
            return "noise" if self.protocol == "paper" else self.blank
        return self.blank if self.protocol == "paper" else "blur"
