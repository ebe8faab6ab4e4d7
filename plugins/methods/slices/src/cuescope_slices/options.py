"""What a user can set; defaults are those of the authors' published code where it has any."""

from typing import Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import FindingOptions


class SlicesOptions(FindingOptions):
    """Of every method here."""

    min_loss: float = Field(
        0.1,
        ge=-1,
        le=1,
        description="a finding costs more accuracy than this",
    )


class UnitOptions(SlicesOptions):
    """Of methods that were made for single pictures."""

    unit: Literal["sequence", "frame"] = Field(
        "sequence",
        description="rank sequences, and their frames in temporal order (TRoVe, section 4.2), or "
        "rank the frames themselves, each held still",
    )
    most: PositiveInt = Field(
        1000,
        description="points of a label that are fitted at most, at random; all are ranked",
    )


class ErrorOptions(UnitOptions):
    """Of methods that look at the errors to make their slices."""

    # on by default: slices that are made of errors show errors, whatever their cause
    discover: float = Field(
        0.5,
        ge=0,
        lt=1,
        description="share of the groups in which slices are looked for; the others measure them; "
        "0: all are ranked as the paper does, and nothing is tested",
    )


class DominoOptions(ErrorOptions):
    """The mixture of Domino."""

    start: Literal["confusion", "k-means"] = Field(
        "confusion",
        description="where the mixture starts: cells of label and prediction (its first release), "
        "or k-means (its present code)",
    )

    @property
    def weight(self) -> float:
        """Weight of the log likelihoods of label and prediction."""
        # 10 in Domino's first release, and 1 in its present code
        return 10.0 if self.start == "confusion" else 1.0


class GeorgeOptions(UnitOptions):
    """The clusters of George."""

    clusters: int = Field(
        10,
        ge=2,
        description="clusters of a class at most, from 2 on",
    )


class DistillingFailuresOptions(ErrorOptions):
    """The support vector machines of Distilling Failures."""

    folds: int = Field(
        2,
        ge=2,
        description="folds of whole groups that choose the penalty",
    )


class RandomOptions(SlicesOptions):
    """Of the random order."""


class ConfidenceOptions(SlicesOptions):
    """Of the order by confidence."""
