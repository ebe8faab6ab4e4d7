"""The options of the data set `moving-shapes`."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cuescope_moving_shapes.motion import DIRECTIONS
from cuescope_sdk import DrawnOptions, UserError


class ShapesOptions(DrawnOptions):
    """What to generate."""

    argument = "cue"

    cue: Literal["background", "object", "attribute", "none"] = Field(
        "background",
        description="what correlates with 'moving south'; none plants nothing",
    )
    length: Literal[2, 3, 5, 10] = Field(
        5, description="frames of a sequence, or of each action in it"
    )
    actions: int = Field(
        1,
        ge=1,
        le=len(DIRECTIONS) - 1,
        description="movements one after another, with rests; 2 or 3 are without label and cue",
    )
    cue_frames: int | None = Field(
        None,
        ge=1,
        description="contiguous frames that show the cue; three fifths if not given",
    )
    cramers_v: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="association of the cue with 'moving south'",
    )
    questions: Literal["none", "text", "video", "both"] = Field(
        "none",
        description="ask for a direction; what the answer takes: words, video, both",
    )
    train: int = Field(2000, ge=4, description="sequences for training")
    val: int = Field(4000, ge=4, description="sequences for validation and audit")
    test: int = Field(2000, ge=4, description="sequences held out")

    @property
    def window(self) -> int:
        """Frames that show the cue in a sequence that bears it."""
        # negated twice, for // rounds down and a part of a frame needs a whole one
        return self.cue_frames or -(-3 * self.length // 5)

    @model_validator(mode="before")
    @classmethod
    def _no_cue_goes_with_several_actions(cls, given: Any) -> Any:
        # The default cue is for sequences of one movement; only a cue that is asked for is refused.
        several = isinstance(given, dict) and str(given.get("actions", 1)) != "1"
        return {"cue": "none", **given} if several else given

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        for option in ("cue", "questions"):
            if self.actions > 1 and getattr(self, option) != "none":
                raise UserError(
                    f"moving-shapes: {option}",
                    expected=f"none with actions={self.actions}",
                    got=getattr(self, option),
                )
        if self.window > self.length:
            raise UserError(
                "moving-shapes: cue_frames",
                expected=f"at most length={self.length}",
                got=str(self.cue_frames),
            )
        return self
