"""Step grounding (Rahman et al.): does each reasoning step rest on what was on screen?"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import (
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from cuescope_sdk import (
    Audit,
    Context,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    Trial,
    UserError,
    hookimpl,
)
from cuescope_sdk import Options as BaseOptions
from cuescope_sdk.grounding import CLAIM_VERIFIER
from cuescope_step_grounding.naming import Belief, Perturbation, Policy, Style

if TYPE_CHECKING:
    from cuescope_step_grounding.study import Study

METRICS = (
    Metric(
        name="step_grounding_rate",
        title="SGR",
        meaning="step grounding rate: the share of what a step claims that the video supports, "
        "over the steps of a trace and then over traces (0 to 1); of a thing that is named, the "
        "share of the traces naming it whose video shows it",
    ),
    Metric(
        name="consistency",
        title="TCS",
        meaning="temporal consistency: how alike successive beliefs are, where keeping or "
        "revising them is justified by what is on screen then (0 to 1)",
    ),
    Metric(
        name="hallucination",
        title="HR",
        meaning="hallucination rate: share of the steps with a claim that has no support",
    ),
    Metric(
        name="reliance",
        title="VRS",
        meaning="visual reliance: support lost when things move, hide or change order, over "
        "support lost when only the background changes, each per amount of change (0 to 10)",
    ),
    Metric(name="accuracy", title="Acc", meaning="share of right answers"),
)


class StepGrounding(Plugin):
    """Holds every claim of a reasoning trace against the frames that it speaks of."""

    title = "Step grounding: does the reasoning rest on what is on screen?"
    requires = Requirements(
        outputs=frozenset({"text"}),
        may_use=frozenset({"claim-verifier", "sentence-encoder", "text-generator"}),
        roles=(CLAIM_VERIFIER,),
        labels=0,
    )
    metrics = METRICS

    class Options(BaseOptions):
        """docs/step-grounding.md argues the defaults."""

        style: Style = Field("neutral", description="how reasoning is asked for; natural: not")
        steps: str = Field("6 to 8", description="reasoning steps that are asked for: 6, 6 to 8")
        also: tuple[Style, ...] = Field((), description="other styles to compare: lite,natural")
        most_steps: PositiveInt = Field(64, description="steps of a trace that are looked at")
        parser: str = Field(
            "en_core_web_sm", description="spaCy's model for claims: a name or a folder"
        )
        unverifiable: Policy = Field(
            "exclude", description="claims of which nothing can be said (section 3.2)"
        )
        belief: Belief = Field(
            "state", description="what a step claims with what it leaves standing; step: that alone"
        )
        tau: float | None = Field(
            None, ge=-1, le=1,
            description="similarity above which the belief of a step is the same; default: the "
            "paper's 0.8 with a sentence encoder, 0.62 with the bag of words",
        )  # fmt: skip
        perturbations: tuple[Perturbation, ...] = Field(
            ("position", "temporal", "visibility", "irrelevant", "paraphrase"),
            description="changes of the video, and of the question's words (section 3.5)",
        )
        instances: PositiveInt = Field(1, description="changes of each kind (paper: 5)")
        evidence: Literal["original", "shown"] = Field(
            "original", description="what traces of changed videos are held against"
        )
        epsilon: PositiveFloat = Field(0.01, description="smoothing of VRS")
        clip: PositiveFloat = Field(10.0, description="largest VRS")
        draws: PositiveInt = Field(5, description="random traces a sample")
        things: NonNegativeInt = Field(
            20, description="things, of those named most, that are ranked"
        )
        other_verifiers: tuple[str, ...] = Field(
            (), description="SPECs of claim verifiers to compare with"
        )
        noise: float = Field(0.1, ge=0, le=0.5, description="judgements turned round in a check")
        shown: NonNegativeInt = Field(3, description="traces that are shown with their frames")
        margin: float = Field(0.05, ge=0, le=1, description="share of support that counts")
        level: float = Field(0.05, gt=0, lt=1, description="a finding's q-value is at most this")
        confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")
        resamples: PositiveInt = Field(2000, description="bootstrap draws of samples")

        @field_validator("steps", mode="before")
        @classmethod
        def _steps_are_numbers(cls, steps: object) -> str:
            low, _, high = str(steps).replace("-", " to ").partition(" to ")
            numbers = [number.strip() for number in (low, high or low)]
            if not all(map(str.isdecimal, numbers)) or not 0 < int(numbers[0]) <= int(numbers[1]):
                raise UserError(
                    "step-grounding: steps", expected="a number or a range, as 6 or 6 to 8",
                    got=f"'{steps}'",
                )  # fmt: skip
            return " to ".join(dict.fromkeys(numbers))

        @model_validator(mode="after")
        def _tau_is_used(self) -> Self:
            if self.tau is not None and self.belief != "step":
                raise UserError(
                    "step-grounding: tau", expected="belief=step, which compares by it",
                    got=f"belief={self.belief}",
                )  # fmt: skip
            return self

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._study: Study | None = None

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The whole, its parts, and the things that are named most: the traces are asked for."""
        from cuescope_step_grounding.reporting import features
        from cuescope_step_grounding.study import Study

        self._study = Study(audit, self.options)
        yield from features(audit, self.options, self._study.traces)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterable[Trial]:
        """The same samples changed, and in other styles."""
        return () if self._study is None else [one.trial for one in self._study.variants]

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """Everything that was claimed, judged in one call."""
        return () if self._study is None else self._study.scores(outcomes)

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterable[Evidence]:
        """Wrong and random traces, other verifiers, noise."""
        return () if self._study is None else self._study.evidence()


__all__ = ["StepGrounding"]
