"""What a user can set."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import Names, Options, Words

# regions of equal size that no map claims
ELSEWHERE = "elsewhere"
LIKELY_PLACE = "likely place"
OTHER_ANSWER = "other answer"
CONTROLS = (ELSEWHERE, LIKELY_PLACE, OTHER_ANSWER)
# all of the standard ones that leave nothing of a region, with what they put in its place
WAYS = (
    "heal",
    "blank:mean",
    "blank:grey",
    "blank:black",
    "blank:white",
    "swap",
    "transplant",
)


class MapsOptions(Options):
    """The explainers, the answer that they explain, and the proof of their regions."""

    explainers: Annotated[tuple[str, ...], Names.plugin()] = Field(
        ("greedy",),
        min_length=1,
        description="SPECs of the explainers that draw the maps",
    )
    answer: Literal["predicted", "label"] = Field(
        "predicted", description="which answer to each sample is explained"
    )
    word: Annotated[str | None, Words()] = Field(
        None,
        description="explain this word of answers that are written freely; none: the whole answer",
    )
    samples: PositiveInt = Field(
        24, description="how many samples are explained at most, evenly spread by key"
    )
    parts: PositiveInt = Field(
        49,
        description="parts of a sample that are hidden by turns: cells of a grid, in all frames",
    )
    budget: PositiveInt = Field(
        200, description="answers that an explainer asks for one sample, at most"
    )
    interventions: Annotated[tuple[str, ...], Names.plugin()] = Field(
        WAYS, min_length=2, description="SPECs of the interventions that prove a region"
    )
    margin: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="a region causes the answer if it moves its probability by more, beyond what "
        "equal regions elsewhere do",
    )
    confidence: float = Field(
        0.95,
        gt=0.5,
        lt=1,
        description="of all regions that are called causes at most 1 less this are expected to be "
        "none",
    )
