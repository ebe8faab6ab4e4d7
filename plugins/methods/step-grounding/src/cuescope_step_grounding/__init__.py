"""Step grounding (Rahman et al.): does each reasoning step rest on what was on screen?"""

from collections.abc import Iterable, Iterator, Sequence

from cuescope_sdk import (
    AnnotationNeed,
    Audit,
    Context,
    DataNeeds,
    Evidence,
    Feature,
    LabelItem,
    Metric,
    Outcome,
    Plugin,
    Requirements,
    Score,
    StoredRun,
    Trial,
    hookimpl,
)
from cuescope_sdk.grounding import CLAIM_VERIFIER
from cuescope_step_grounding.options import StepGroundingOptions

METRICS = (
    Metric(
        name="step_grounding_rate",
        title="Claims supported (SGR)",
        meaning="step grounding rate: the share of the claims in a step that the video supports, "
        "averaged over the steps of a trace, then over traces (0 to 1); of an object: the share "
        "of the traces naming it whose video shows it",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="consistency",
        title="Beliefs consistent (TCS)",
        meaning="temporal consistency: how similar successive beliefs are, counted only where the "
        "video justifies the step from one to the next (0 to 1)",
        unit="proportion",
        higher_is_better=True,
    ),
    Metric(
        name="hallucination",
        title="Steps with a false claim (HR)",
        meaning="hallucination rate: of the steps with a claim that could be checked, the share "
        "with at least one unsupported claim",
        unit="proportion",
    ),
    Metric(
        name="reliance",
        title="Visual reliance (VRS)",
        meaning="visual reliance: support lost when objects move or hide or frames are reordered, "
        "divided by support lost when only the background changes, each per amount of change "
        "(0 to 10)",
        higher_is_better=True,
    ),
    Metric(
        name="accuracy",
        title="Right answers",
        meaning="share of right answers",
        unit="proportion",
        higher_is_better=True,
    ),
)


class StepGrounding(Plugin):
    """Checks every claim of a reasoning trace against the frames that it speaks of."""

    Options = StepGroundingOptions
    title = "Step grounding: does the reasoning rest on what is on screen?"
    reads_recorded = True  # its checks that need another answer are left out then
    requires = Requirements(
        outputs=frozenset({"text"}),
        may_use=frozenset({"claim-verifier", "sentence-encoder", "text-generator"}),
        roles=(CLAIM_VERIFIER,),
        labels=0,
    )
    finds = "Reasoning steps that speak of what is not on screen."
    data_needs = DataNeeds(
        each="data set",
        enough=20,
        enough_for="a verdict that holds beyond these samples",
        clips=True,
        annotation=AnnotationNeed(
            key="scene",
            name="a description of what each frame shows",
            how="Take data that has it, such as shape-world or star",
            tool="claim-verifier",
        ),
    )
    metrics = METRICS
    options: StepGroundingOptions

    def __init__(self, options: StepGroundingOptions, context: Context) -> None:
        """Raises UserError without spaCy's model, before the weights of any model load."""
        super().__init__(options, context)
        # extract=llm works without a model of English: the parser is only its second choice
        if options.extract == "parser":
            from cuescope_step_grounding.claims import require_model

            require_model(options.parser)

    @staticmethod
    def label_items(run: StoredRun, each: int) -> Iterator[LabelItem]:
        """For `cuescope label`: do the frames support what was claimed of them?"""
        from cuescope_step_grounding.verification.labelling import label_items

        return label_items(run, each)

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The reasoning, its parts, and the objects named most: the traces are asked for here."""
        from cuescope_sdk.data import require_data, warn_of_weak_data
        from cuescope_step_grounding import report, trials
        from cuescope_step_grounding.verification import judging, summaries

        require_data(audit, self.data_needs, "step-grounding")
        # What cannot work is refused before the model is asked anything.
        trials.claim_parser(audit)
        audit.once(judging.other_verifiers, audit)
        if judging.has_no_evidence(audit):
            warn_of_weak_data(
                audit,
                "step-grounding: the data has no annotated scenes and there is no verifier, so no "
                f"claim can be checked. Add {summaries.ADD_VERIFIER}",
            )
        audit.note("questions", trials.describe_plan(audit))
        audit.expect_more(trials.most_variants(audit))
        traces = audit.once(trials.baseline_traces, audit)
        yield from report.features(audit, traces)

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterable[Trial]:
        """The same samples changed, in other styles, and with another video."""
        from cuescope_step_grounding.trials import variant_requests
        from cuescope_step_grounding.verification.blind import blind_requests

        requests = [
            *audit.once(variant_requests, audit),
            *audit.once(blind_requests, audit),
        ]
        return [request.trial for request in requests]

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterable[Score]:
        """Every claim of every trace, judged in one call."""
        from cuescope_step_grounding import report
        from cuescope_step_grounding.analysis import results_of
        from cuescope_step_grounding.figures import attach_figures
        from cuescope_step_grounding.rows.keys import REASONING
        from cuescope_step_grounding.verification import judging, labelling

        judged = audit.once(judging.judge_traces, audit)
        for trace in judged.baselines:
            # nothing in the trace could be checked: 0 would say that it is false
            if trace.grounding is not None:
                audit.record(
                    trace.reasoning.sample,
                    REASONING,
                    self.metrics[0].name,
                    trace.grounding,
                )
        labelling.record_claims(audit, judged)
        costs = audit.once(judging.change_costs, judged)
        reliance = audit.once(judging.reliance_of, audit, costs)
        results = results_of(audit, judged, reliance)
        report.write_notes(audit, judged, reliance, results[0])
        attach_figures(audit, judged, results[0], costs)
        found = report.finding(audit, features, judged, results)
        if found is not None:
            audit.attach(found)
        return list(report.ranked_scores(audit, judged, results))

    @hookimpl
    def verify(
        self,
        audit: Audit,
        features: Sequence[Feature],
        scores: Sequence[Score],
    ) -> Iterator[Evidence]:
        """Counterfactual and random claims, other verifiers, people, noise."""
        from cuescope_sdk.data import independent_samples
        from cuescope_step_grounding.verify import evidence

        # With --verify-with the audit is another method's, which has no traces to check.
        if audit.options is self.options:
            yield from independent_samples(audit)
            yield from evidence(audit)


__all__ = ["StepGrounding", "StepGroundingOptions"]
