"""What a user can set: where the paper and its published code differ, there is an option."""

from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from cuescope_sdk import Options, Words

MOST_CLUSTERS = (
    1_000  # for each label: a larger number would take all memory before it is refused
)


class TRoVeOptions(Options):
    """docs/trove.md argues the defaults."""

    paper: bool = Field(
        False,
        description="the paper's candidates and ranking: clusters, their number chosen by "
        "silhouette, each measured as it was counted, and frames ranked by their clusters",
    )
    # 2 to 6 times the labels is the paper's Kinetics setting; its code ends at 5
    k_min: PositiveInt = Field(
        2, le=MOST_CLUSTERS, description="fewest clusters tried, times the labels"
    )
    k_max: PositiveInt = Field(
        6, le=MOST_CLUSTERS, description="most clusters tried, times the labels"
    )
    step: PositiveInt | None = Field(
        None, description="clusters from one try to the next; none: as many as labels"
    )
    top_k: PositiveInt = Field(
        1, description="an answer is right if the label is among this many best"
    )
    # The score is per label, and another label's errors say nothing of it: hence the code's way.
    static_bias: Literal["label", "cluster"] = Field(
        "label",
        description="which wrong answers eq. 2 counts: of the label (published code), or of the "
        "whole cluster (paper)",
    )
    # 0.1 and above chance: what the published code keeps (appendix C)
    min_error_contribution: float = Field(
        0.1,
        ge=-1,
        le=1,
        description="a finding costs more accuracy than this",
    )
    above_chance: bool = Field(
        True, description="a finding's static bias exceeds 1 / number of labels"
    )
    # The published code's bounds would exclude a cue that is rare in the label it harms, which is
    # where most cues do their harm: the model learned them from other labels.
    min_frequency: float = Field(
        0.0,
        ge=0,
        le=1,
        description="in at least this share of the label's sequences (code: 0.15)",
    )
    max_frequency: float = Field(
        1.0,
        ge=0,
        le=1,
        description="in at most this share of the label's sequences (code: 0.85)",
    )
    fdr: float = Field(
        0.05,
        gt=0,
        le=1,
        description="false discovery rate over all that is tested",
    )
    control: Annotated[str | None, Words()] = Field(
        None,
        description="annotation that may also explain errors: a finding must hold among samples "
        "that are alike in it too; 'detected-size' asks for a detector, which measures the size",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
    null_shuffles: NonNegativeInt = Field(
        20, description="shuffles of the null check; 0 leaves it out"
    )
    feature_name: Annotated[str | None, Words()] = Field(
        None, description="what the detector looks for, in words: 'tree'"
    )
    threshold: float = Field(
        0.3,
        ge=0,
        le=1,
        description="detector score from which the feature counts as present",
    )

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        for low, high in (("k_min", "k_max"), ("min_frequency", "max_frequency")):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{low} no greater than {high}")
        return self
