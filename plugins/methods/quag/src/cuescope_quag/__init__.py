"""QUAG (Rawal et al., 2024): does a video-question model fuse its modalities?"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from cuescope_sdk import (
    Audit,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk import Options as BaseOptions

METRICS = (
    Metric(
        name="points_lost",
        title="Points lost",
        meaning="percentage points of accuracy that are lost when this is averaged away or left "
        "out (-100 to 100); of balanced accuracy where the head of the report has that; the row "
        "of the verdict has the loss that decides it",
    ),
    Metric(
        name="points_lost_otherwise",
        title="Other measure",
        meaning="the same of the other measure, balanced accuracy or else accuracy; only where "
        "all questions have the same answers to choose from",
    ),
)
ShortCircuit = Literal["unimodal", "crossmodal", "video", "text"]
Averaged = Literal["video", "text", "video-text"]


class QUAG(Plugin):
    """Averages quadrants of the fusion attention, and asks what that costs the answers."""

    title = "QUAG: does the model fuse video and text?"
    requires = Requirements(outputs=frozenset(), edits=frozenset({"average-attention"}), labels=0)
    metrics = METRICS

    class Options(BaseOptions):
        """docs/quag.md argues the defaults."""

        short_circuits: tuple[ShortCircuit, ...] = Field(
            ("unimodal", "crossmodal", "video", "text"),
            description="sets of attention quadrants that are averaged (section 2.3)",
        )
        quadrants: tuple[str, ...] = Field(
            (), description="more such sets: 'VV+TV' averages what any token sees of the video"
        )
        layers: str = Field(
            "all", description="fusion layers that are changed, from 0: all, 0-3, or 4,5"
        )
        quag_attention: tuple[Averaged, ...] = Field(
            ("video", "text", "video-text"),
            description="modalities whose tokens become one before keys and values (section 2.4)",
        )
        size_term: Literal["add", "multiply"] = Field(
            "add",
            description="the logit of a token that stands for n: log n is added (the paper's "
            "equation), or multiplies it (its listing)",
        )
        measure: Literal["auto", "accuracy", "balanced"] = Field(
            "auto",
            description="what is lost: accuracy or balanced accuracy; auto takes the balanced one "
            "where all questions have the same two answers",
        )
        drop: float = Field(
            2.0, ge=0, le=100, description="points from which a loss counts (paper: 2)"
        )
        margin: float = Field(
            0.1, gt=0, lt=1,
            description="share of the accuracy above chance that must be lost for the verdict, "
            "though never less than `drop`",
        )  # fmt: skip
        fdr: float = Field(
            0.05, gt=0, le=1, description="false discovery rate over all that is tried"
        )
        confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
        resamples: PositiveInt = Field(2000, description="bootstrap draws of videos")
        beside: Literal["FrozenBiLM", "JustAsk", "All-in-one+"] = Field(
            "FrozenBiLM", description="whose figures of the paper stand beside, on its data sets"
        )
        captures: NonNegativeInt = Field(
            3, description="samples whose attention is checked against the theory; 0: none"
        )
        pairs: NonNegativeInt = Field(
            20,
            description="complement pairs, right and wrong ones of each kind, whose attention is "
            "compared; 0: none",
        )
        longest: PositiveInt = Field(
            512, description="tokens up to which attention matrices are looked at"
        )

        @field_validator("quadrants")
        @classmethod
        def _are_quadrants(cls, given: tuple[str, ...]) -> tuple[str, ...]:
            from cuescope_quag.conditions import quadrants_of

            for word in given:
                quadrants_of(word)
            return given

        @field_validator("layers")
        @classmethod
        def _are_layers(cls, given: str) -> str:
            from cuescope_quag.conditions import layers_of

            layers_of(given)
            return given

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The verdict, then all that may be averaged or left out."""
        from cuescope_quag.conditions import features

        yield from features(audit, self.options)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Every question as it is, then under each condition."""
        from cuescope_quag.conditions import trials

        return trials(audit, self.options)

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """The verdict, then what each condition costs."""
        from cuescope_quag.reporting import scores

        return scores(audit, self.options, outcomes)

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Theorem 2.1, lemma 2.2, and how far complements are apart."""
        from cuescope_quag.verify import evidence

        yield from evidence(audit, self.options)


__all__ = ["QUAG"]
