"""Options that several plugins have: levels of tests and intervals, and splits of drawn data."""

from typing import Literal

from pydantic import Field

from cuescope_core.types import Options


class LevelOptions(Options):
    """The level of a method's tests."""

    fdr: float = Field(
        0.05,
        gt=0,
        le=1,
        description="false discovery rate over all that is tested",
    )


class FindingOptions(LevelOptions):
    """The levels of a method's tests and intervals."""

    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")


class DrawnOptions(Options):
    """Which part of data that are drawn from a seed is shown; its sizes are fields by split."""

    split: Literal["train", "val", "test"] = Field(
        "val", description="which split to show"
    )
    seed: int = Field(0, ge=0, description="another seed, another draw")

    @property
    def size(self) -> int:
        """Samples of the chosen split."""
        return int(getattr(self, self.split))
