"""SpurLens: objects that make a multimodal LLM see, or imagine, another."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, PositiveInt, field_validator, model_validator

from cuescope_sdk import (
    Audit,
    Context,
    Detector,
    Evidence,
    Feature,
    Metric,
    Outcome,
    Plugin,
    Proposer,
    Requirements,
    Score,
    Trial,
    UserError,
    hookimpl,
    nearest,
)
from cuescope_sdk import Options as BaseOptions
from cuescope_spurlens.asking import WORDINGS

if TYPE_CHECKING:
    from cuescope_spurlens.cases import Study
    from cuescope_spurlens.people import Labels
    from cuescope_spurlens.scoring import Heard

METRICS = (
    Metric(
        name="spurious_gap",
        title="Gap",
        meaning="how much more often the object is seen, or imagined, in the images that show "
        "the cue most than in those that show it least (-1 to 1)",
    ),
    Metric(
        name="perception_with",
        title="PA with",
        meaning="perception accuracy: yes, where the object is there, and the cue beside it",
    ),
    Metric(name="perception_without", title="PA without", meaning="the same without the cue"),
    Metric(
        name="hallucination_with",
        title="HR with",
        meaning="hallucination rate: yes, where the object is not there, but the cue is",
    ),
    Metric(name="hallucination_without", title="HR without", meaning="the same without the cue"),
)


class SpurLens(Plugin):
    """Asks for an object in images that show a cue, and in images that do not."""

    title = "SpurLens: objects that make the model see, or imagine, another"
    requires = Requirements(
        outputs=frozenset(),
        tools=frozenset({"proposer", "detector"}),
        may_use=frozenset({"text-generator", "segmenter", "sentence-encoder"}),
    )
    metrics = METRICS

    class Options(BaseOptions):
        """docs/spurlens.md argues the defaults."""

        task: Literal["recognition", "hallucination", "both"] = Field(
            "both", description="images with the object, images without it, or both"
        )
        classes: tuple[str, ...] = Field((), description="only these classes: NAME,NAME")
        k: PositiveInt | None = Field(
            None,
            description="images with the most of a cue, and with the least; none: 100 for coco, "
            "50 for others (the paper's)",
        )
        questions: tuple[str, ...] = Field(
            WORDINGS, min_length=1,
            description="yes/no questions about an image; {object} is the class with its article",
        )  # fmt: skip
        max_cues: PositiveInt = Field(32, description="cues that are tried for a class")
        negatives: Literal["auto", "supercategory", "others", "all"] = Field(
            "auto",
            description="images without the object: of its supercategory (coco), a draw of all "
            "others (imagenet), or all; auto: by supercategory where there are any",
        )
        most_negatives: PositiveInt = Field(5000, description="images that `others` draws")
        artificial: tuple[Literal["drop", "mask", "blank"], ...] = Field(
            (),
            description="images made without the object: its tokens dropped, blackened, or all "
            "black",
        )
        null: Literal["shuffled-answers", "random-rankings"] = Field(
            "shuffled-answers",
            description="what the largest gap is by chance: the same rankings with answers dealt "
            "anew, or as many random rankings (the paper's)",
        )
        draws: PositiveInt = Field(2000, description="times that chance is drawn, at least")
        correction: Literal["holm", "bh"] = Field(
            "holm",
            description="over classes and tasks: holm, no false finding at all; bh, few of the "
            "findings are false",
        )
        level: float = Field(0.05, gt=0, lt=1, description="a finding's q-value is at most this")
        confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")

        mitigation: tuple[str, ...] = Field(
            (),
            description="other ways of asking to compare: ensemble, dual, guiding, spurious-list, "
            "spurious-top",
        )
        beside: Literal["Qwen2-VL", "Llama-3.2", "LLaVA-v1.6", "GPT-4o-mini"] = Field(
            "Qwen2-VL", description="whose figures of the paper stand beside, on its data sets"
        )
        second_detector: str | None = Field(
            None, description="SPEC of another detector, by which the findings are ranked again"
        )
        second_detector_options: dict[str, Any] = Field({}, description="its options")
        second_proposer: str | None = Field(
            None,
            description="SPEC of another proposer, whose cues are compared (by the tool "
            "sentence-encoder where there is one)",
        )
        second_proposer_options: dict[str, Any] = Field({}, description="its options")
        labels: Path | None = Field(
            None, description="a CSV file of people's labels: image,cue,present (yes or no)"
        )
        adequate_cues: PositiveInt = Field(
            3, description="cues of a class that should be in K images and absent from K"
        )

        @model_validator(mode="after")
        def _options_are_of_something(self) -> Self:
            for role in ("detector", "proposer"):
                given = getattr(self, f"second_{role}_options")
                if given and getattr(self, f"second_{role}") is None:
                    raise UserError(f"spurlens: second_{role}_options={given}",
                                    expected=f"second_{role}=SPEC with it")  # fmt: skip
            return self

        @field_validator("questions")
        @classmethod
        def _name_the_object(cls, given: tuple[str, ...]) -> tuple[str, ...]:
            for question in given:
                if "{object}" not in question:
                    raise ValueError(f"{{object}} in each question, not in '{question}'")
            return given

        @field_validator("mitigation")
        @classmethod
        def _are_strategies(cls, given: tuple[str, ...]) -> tuple[str, ...]:
            from cuescope_spurlens.mitigations import STRATEGIES

            for name in given:
                if name not in STRATEGIES:
                    raise ValueError(f"{', '.join(STRATEGIES)}; {nearest(name, STRATEGIES) or ''}")
            return given

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._second = _second(context, options, "detector", Detector)
        self._proposer = _second(context, options, "proposer", Proposer)
        self._labels = _labels(options.labels) if options.labels else {}
        self._study: Study | None = None
        self._heard: Heard | None = None

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The cues of each class, where the detector sees them."""
        from cuescope_spurlens.cases import features
        from cuescope_spurlens.people import check_keys
        from cuescope_spurlens.studying import study

        check_keys(audit, self._labels)
        self._study = study(audit, self.options)
        yield from features(self._study)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterable[Trial]:
        """Each question about each image once, whatever cues need it."""
        from cuescope_spurlens.asking import unique

        return () if self._study is None else unique(self._study.trials())

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """The gap of each cue."""
        from cuescope_spurlens.reporting import note, scores
        from cuescope_spurlens.scoring import score
        from cuescope_spurlens.showing import show

        if self._study is None:
            return ()
        self._heard = score(audit, self.options, self._study, outcomes)
        note(audit, self.options, self._study, self._heard)
        show(audit, self.options, self._study, self._heard)
        return scores(self._heard)

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """Other K, another detector, people's labels, the answer sheet; nothing of others' cues."""
        from cuescope_spurlens.verify import evidence

        if self._study is not None and self._heard is not None:
            yield from evidence(
                audit, self.options, self._study, self._heard,
                second=self._second, proposer=self._proposer, labels=self._labels,
            )  # fmt: skip


def _second(context: Context, options: "SpurLens.Options", role: str, kind: type) -> Any:
    """The tool of the option `second_ROLE`, None where it is not given."""
    spec = getattr(options, f"second_{role}")
    if spec is None:
        return None
    tool = context.build("tool", spec, getattr(options, f"second_{role}_options"))
    if not isinstance(tool, kind):
        raise UserError(f"spurlens: tool {spec} is no {role}", expected=f"a {role}")
    return tool


def _labels(path: Path) -> "Labels":
    from cuescope_spurlens.people import read_labels

    return read_labels(path)


__all__ = ["SpurLens"]
