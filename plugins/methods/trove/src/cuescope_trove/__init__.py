"""TRoVe (Varma et al., 2025): static cues that make a temporal model err."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

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
        name="trove_score",
        title="TRoVe score",
        meaning="error contribution + static bias, from -1 to 2: how strongly something seen in "
        "single frames makes the model err on this label",
    ),
    Metric(
        name="error_contribution",
        title="Error contribution",
        meaning="accuracy on this label when the cue is never on screen, minus accuracy when it "
        "is (-1 to 1)",
    ),
    Metric(
        name="static_bias",
        title="Static bias",
        meaning="calibrated probability that one frame with the cue, held still, gets the same "
        "wrong answer as its whole sequence (0 to 1); chance is 1 / number of labels",
    ),
)


class TRoVe(Plugin):
    """Clusters still clips, and asks which clusters cost a label its accuracy."""

    title = "TRoVe: static cues that make the model err"
    requires = Requirements(
        outputs=frozenset({"logits", "embedding"}), may_use=frozenset({"detector"}), labels=2
    )
    metrics = METRICS

    class Options(BaseOptions):
        """Where the paper and its published code differ, the difference is an option."""

        k_min: PositiveInt = Field(2, description="fewest clusters tried, times the labels")
        k_max: PositiveInt = Field(6, description="most clusters tried, times the labels")
        step: PositiveInt | None = Field(
            None, description="clusters from one try to the next; none: as many as labels"
        )
        top_k: PositiveInt = Field(
            1, description="an answer is right if the label is among this many best"
        )
        static_bias: Literal["label", "cluster"] = Field(
            "label",
            description="eq. 2 over the cluster's misclassified frames of the label (published "
            "code) or of every label (paper)",
        )
        min_error_contribution: float = Field(
            0.1, ge=-1, le=1, description="a finding costs more accuracy than this"
        )
        above_chance: bool = Field(
            True, description="a finding's static bias exceeds 1 / number of labels"
        )
        min_frequency: float = Field(
            0.0, ge=0, le=1,
            description="a finding shows in at least this share of the label's sequences "
            "(published code: 0.15)",
        )  # fmt: skip
        max_frequency: float = Field(
            1.0, ge=0, le=1,
            description="a finding shows in at most this share of the label's sequences "
            "(published code: 0.85)",
        )  # fmt: skip
        fdr: float = Field(
            0.05, gt=0, le=1, description="false discovery rate over all pairs tried"
        )
        confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
        null_shuffles: NonNegativeInt = Field(
            20, description="shuffles of the null check; 0 leaves it out"
        )
        feature_name: str | None = Field(
            None, description="what the detector looks for, in words: 'tree'"
        )
        threshold: float = Field(
            0.3, ge=0, le=1, description="detector score from which the feature counts as seen"
        )

        @model_validator(mode="after")
        def _bounds_in_order(self) -> Self:
            for low, high in (("k_min", "k_max"), ("min_frequency", "max_frequency")):
                if getattr(self, low) > getattr(self, high):
                    raise ValueError(f"{low} no greater than {high}")
            return self

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Clusters of still clips."""
        from cuescope_trove.proposing import propose

        yield from propose(audit, self.options)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """The sequences, then each frame of each cluster held still."""
        from cuescope_trove.observing import trials

        return trials(audit, features)

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """Error contribution, static bias and their sum for each (cluster, label)."""
        from cuescope_trove.reporting import scores

        return scores(audit, self.options, features, outcomes)

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Annotated cues, a detector's pseudo-labels, and the null."""
        from cuescope_trove.verify import evidence

        yield from evidence(audit, self.options, features, scores)
