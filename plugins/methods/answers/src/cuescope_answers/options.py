"""What a user can set."""

from pydantic import Field, PositiveInt

from cuescope_sdk import FindingOptions


class AnswersOptions(FindingOptions):
    """docs/logs.md argues the defaults."""

    min_points: float = Field(
        0.05,
        ge=0,
        le=1,
        description="a finding is worth more than this: of accuracy, or of how often it is chosen",
    )
    words: int = Field(
        200,
        ge=0,
        description="words and pairs of words of the questions that are tried at most",
    )
    min_samples: PositiveInt = Field(
        20,
        description="samples with a word, value or cluster, and without it, at least",
    )
    clusters: int = Field(
        20,
        ge=0,
        description="groups of samples that look alike, and half as many, and so on; where the "
        "model gives embeddings, or a tool (--tool embedder=SPEC); 0: none",
    )
