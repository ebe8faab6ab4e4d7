"""What a user can set; docs/step-grounding.md argues the defaults."""

from typing import Annotated, Literal, get_args

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator

from cuescope_sdk import Names, Options, UserError, Words

# How reasoning is asked for; `lite` for belief states alone, `natural` not at all.
Style = Literal["minimal", "neutral", "verbose", "natural", "lite"]
# What is changed of a sample (section 3.5); a paraphrase leaves the video as it is.
Perturbation = Literal["position", "temporal", "visibility", "irrelevant", "paraphrase"]
# What becomes of claims of which nothing can be said: they do not count, count as unsupported, or
# count half (section 3.2, "Handling Unverifiable Steps").
Policy = Literal["exclude", "penalise", "neutral"]
# What the retention of scripted reasoners follows (section 5.2).
DrivenBy = Literal["grounding", "accuracy", "nothing"]


class StepGroundingOptions(Options):
    style: Style = Field(
        "neutral", description="how to ask for reasoning; natural: do not ask"
    )
    steps: Annotated[str, Words()] = Field(
        "6 to 8", description="number of reasoning steps to ask for: 6, or 6 to 8"
    )
    also: tuple[Style, ...] = Field(
        (), description="other styles to compare with: lite,natural"
    )
    parser: Annotated[str, Names.repository()] = Field(
        "en_core_web_sm",
        description="reader of claims: a spaCy model of English, or its folder",
    )
    extract: Literal["parser", "llm"] = Field(
        "parser",
        description="who takes steps apart: the parser, or a text-generator (llm)",
    )
    unverifiable: Policy = Field(
        "exclude",
        description="claims that cannot be verified: ignored, unsupported, or half",
    )
    paper: bool = Field(
        False,
        description="as printed: HR over all steps (eq. 3), a belief is what one step claims",
    )
    perturbations: tuple[Perturbation, ...] = Field(
        get_args(Perturbation),
        description="changes of the video, and of the question's words (section 3.5)",
    )
    instances: PositiveInt = Field(
        1, description="changes of each kind for a sample (paper: 5)"
    )
    epsilon: PositiveFloat = Field(
        0.01, description="added to the denominator of VRS (eq. 4)"
    )
    partners: PositiveInt = Field(
        10,
        description="other videos, clips and moments that each claim is held against as well",
    )
    blind: bool = Field(
        True,
        description="ask each question about another video too: what the model says blindly",
    )
    other_verifiers: Annotated[tuple[str, ...], Names.plugin()] = Field(
        (), description="SPECs of verifiers to compare with"
    )
    shown: NonNegativeInt = Field(
        3, description="traces that are shown with their frames"
    )
    margin: float = Field(
        0.05,
        ge=0,
        le=1,
        description="smallest difference that is a finding",
    )
    level: float = Field(0.05, gt=0, lt=1, description="largest q-value of a finding")

    @field_validator("steps", mode="before")
    @classmethod
    def _steps_are_numbers(cls, steps: object) -> str:
        # "6-8" means the same
        low, _, high = str(steps).replace("-", " to ").partition(" to ")
        numbers = [number.strip() for number in (low, high or low)]
        if not all(map(str.isdecimal, numbers)) or not 0 < int(numbers[0]) <= int(
            numbers[1]
        ):
            raise UserError(
                "step-grounding: steps",
                expected="a number or a range, as 6 or 6 to 8",
                got=f"'{steps}'",
            )
        # "6 to 6" is "6"
        return " to ".join(dict.fromkeys(numbers))
