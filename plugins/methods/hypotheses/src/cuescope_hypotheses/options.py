"""Options of `hypotheses`."""

from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_sdk.association import AssociationOptions


class HypothesesOptions(AssociationOptions):
    """How much is named and tested."""

    most: PositiveInt = Field(
        60, description="things that are tested at most, in all rounds together"
    )
    rounds: PositiveInt = Field(
        3,
        description="how often the proposer names things; from the second time on it is told what "
        "became of the others, if it takes that",
    )
    concepts: NonNegativeInt = Field(
        0,
        description="so many concepts of a sparse dictionary of the data's own embeddings are "
        "tested too",
    )
