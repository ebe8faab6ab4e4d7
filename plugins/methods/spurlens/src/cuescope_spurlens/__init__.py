"""SpurLens: what goes with the objects that a multimodal LLM sees, or imagines."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cuescope_sdk import (
    Audit,
    Capabilities,
    Context,
    DataNeeds,
    Detector,
    Evidence,
    Feature,
    LabelItem,
    Metric,
    Outcome,
    Plugin,
    Proposer,
    Requirements,
    Score,
    StoredRun,
    Trial,
    UserError,
    hookimpl,
)
from cuescope_spurlens.options import SpurLensOptions

METRICS = (
    Metric(
        name="spurious_gap",
        title="Gap",
        meaning="how much more often the model says yes to the object in the images that show the "
        "cue most than in the images that show it least (-1 to 1)",
        unit="proportion",
        accuracy_cost=True,
    ),
    Metric(
        name="perception_with",
        title="Seen with",
        meaning="share of images with the object and the cue in which the model says yes (PA, "
        "perception accuracy)",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="perception_without",
        title="Seen without",
        meaning="the same in images with the object that show the cue least",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="hallucination_with",
        title="Imagined with",
        meaning="share of images with the cue, but without the object, in which the model says yes "
        "(HR, hallucination rate)",
        unit="proportion",
    ),
    Metric(
        name="hallucination_without",
        title="Imagined without",
        meaning="the same in images without the object that show the cue least",
        unit="proportion",
    ),
)


class SpurLens(Plugin):
    """Asks for an object in images that show a cue, and in images that do not."""

    title = (
        "SpurLens: what correlates with the objects that the model sees, or imagines"
    )
    requires = Requirements(
        # text or logits: `answer_output` takes what the model has
        outputs=frozenset(),
        tools=frozenset({"proposer", "detector"}),
        may_use=frozenset({"text-generator", "segmenter", "sentence-encoder"}),
    )
    finds = "Objects beside a thing that make a multimodal LLM see it, miss it or imagine it."
    data_needs = DataNeeds(
        each="object",
        least=6,
        enough=100,
        enough_for="a cue that moves 34 of 100 answers (K = 50)",
    )
    no_effect = 0.0
    metrics = METRICS
    Options = SpurLensOptions
    options: SpurLensOptions
    labels_option = "labels"

    def __init__(self, options: SpurLensOptions, context: Context) -> None:
        from cuescope_spurlens.checks.human_labels import read_labels

        super().__init__(options, context)
        # Built now, though `verify` is the first to use them: a typo must not cost an audit.
        self.second_detector = self._build(options.second_detector, Detector)
        self.second_proposer = self._build(options.second_proposer, Proposer)
        self.human_labels = read_labels(options.labels) if options.labels else {}

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterable[Feature]:
        """The cues of each class, where the detector finds them."""
        from cuescope_sdk.data import require_data
        from cuescope_spurlens.checks.human_labels import check_keys
        from cuescope_spurlens.questions import most_later_trials
        from cuescope_spurlens.report import note_cost
        from cuescope_spurlens.trials import build_study, features, find_candidates

        require_data(audit, self.data_needs, "spurlens")
        check_keys(audit, self.human_labels)
        # The cost is noted before the detector starts: a plan ends where its weights are needed.
        note_cost(audit, audit.once(find_candidates, audit))
        study = audit.once(build_study, audit)
        cases = ((case.units, case.k, not case.is_changed) for case in study.cases)
        audit.expect_more(most_later_trials(audit, cases))
        return features(study)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterable[Trial]:
        """Each question about each image once, whatever cues need it."""
        from cuescope_spurlens.questions import distinct_trials
        from cuescope_spurlens.trials import build_study

        return distinct_trials(audit.once(build_study, audit).trials())

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterable[Score]:
        """The gap of each cue."""
        from cuescope_spurlens.analysis import score_study
        from cuescope_spurlens.figures import attach_samples, name_headline_answers
        from cuescope_spurlens.report import findings, note_results, score_rows
        from cuescope_spurlens.tables import attach_tables

        results = audit.once(score_study, audit)
        note_results(audit, results)
        for found in findings(results):
            audit.attach(found)
        attach_tables(audit, results)
        attach_samples(audit, results)
        name_headline_answers(audit, results)
        return score_rows(results)

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Other images, another detector, people's labels, the answer sheet."""
        from cuescope_sdk.data import independent_samples
        from cuescope_spurlens.trials import build_study
        from cuescope_spurlens.verify import check_results

        # As an extra verifier of another method's audit there is no study whose findings to check.
        if audit.options is self.options:
            study = audit.once(build_study, audit)
            yield from independent_samples(audit, study.look_alikes)
            tools = self.second_detector, self.second_proposer
            yield from check_results(audit, *tools, self.human_labels)

    @staticmethod
    def label_items(run: StoredRun, each: int) -> Iterator[LabelItem]:
        """For `cuescope label`: is the cue in the images that show it most, and least?"""
        from cuescope_spurlens.checks.human_labels import label_items

        return label_items(run, each)

    @staticmethod
    def refuses(capabilities: Capabilities) -> str | None:
        """Why a model with all that is required cannot be asked; None where it can."""
        from cuescope_spurlens.questions import why_unanswerable

        return why_unanswerable(capabilities)

    def _build(self, spec: str | None, protocol: type) -> Any:
        """A tool of this protocol; None where none is named."""
        if spec is None:
            return None
        tool = self.context.build("tool", spec)
        if not isinstance(tool, protocol):
            role = protocol.__name__.lower()
            raise UserError(f"spurlens: tool {spec} is no {role}", expected=f"a {role}")
        return tool
