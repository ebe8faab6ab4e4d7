"""What a user can set."""

from pydantic import Field, PositiveInt

from cuescope_sdk import Options


class AnswersOptions(Options):
    """docs/logs.md argues the defaults."""

    min_points: float = Field(
        0.05,
        ge=0,
        le=1,
        description="a finding is worth more than this: of accuracy, or of how often it is chosen",
    )
    fdr: float = Field(
        0.05,
        gt=0,
        le=1,
        description="chance of any false finding, among preferences and among all else",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
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
