"""Step grounding (Rahman et al.): does each reasoning step rest on what was on screen?"""

from collections.abc import Iterable, Iterator, Sequence

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
from cuescope_sdk.grounding import CLAIM_VERIFIER
from cuescope_step_grounding.options import StepGroundingOptions

METRICS = (
    Metric(
        name="step_grounding_rate",
        title="SGR",
        meaning="step grounding rate: the share of the claims in a step that the video supports, "
        "averaged over the steps of a trace, then over traces (0 to 1); of an object: the share "
        "of the traces naming it whose video shows it",
    ),
    Metric(
        name="consistency",
        title="TCS",
        meaning="temporal consistency: how similar successive beliefs are, counted only where the "
        "video justifies the step from one to the next (0 to 1)",
    ),
    Metric(
        name="hallucination",
        title="HR",
        meaning="hallucination rate: share of the steps with at least one unsupported claim",
    ),
    Metric(
        name="reliance",
        title="VRS",
        meaning="visual reliance: support lost when objects move or hide or frames are reordered, "
        "divided by support lost when only the background changes, each per amount of change "
        "(0 to 10)",
    ),
    Metric(name="accuracy", title="Acc", meaning="share of right answers"),
)


class StepGrounding(Plugin):
    """Checks every claim of a reasoning trace against the frames that it speaks of."""

    Options = StepGroundingOptions
    title = "Step grounding: does the reasoning rest on what is on screen?"
    requires = Requirements(
        outputs=frozenset({"text"}),
        may_use=frozenset({"claim-verifier", "sentence-encoder", "text-generator"}),
        roles=(CLAIM_VERIFIER,),
        labels=0,
    )
    metrics = METRICS

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The reasoning, its parts, and the objects named most: the traces are asked for here."""
        from cuescope_step_grounding import report, trials
        from cuescope_step_grounding.verification import judging

        # What cannot work is refused before the model is asked anything.
        trials.claim_parser(audit)
        audit.once(judging.other_verifiers, audit)
        judging.require_matching_evidence(audit)
        audit.note("questions", trials.describe_plan(audit))
        yield from report.features(audit, audit.once(trials.baseline_traces, audit))

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterable[Trial]:
        """The same samples changed, and in other styles."""
        from cuescope_step_grounding.trials import variant_requests

        return [request.trial for request in audit.once(variant_requests, audit)]

    @hookimpl
    def compute_scores(
        self, audit: Audit, features: Sequence[Feature], outcomes: Sequence[Outcome]
    ) -> Iterable[Score]:
        """Every claim of every trace, judged in one call."""
        from cuescope_step_grounding import report
        from cuescope_step_grounding.figures import attach_figures
        from cuescope_step_grounding.verification import judging

        judged = audit.once(judging.judge_traces, audit)
        costs = audit.once(judging.change_costs, judged)
        reliance = audit.once(judging.reliance_of, audit, costs)
        rows = report.rows_of(audit, judged, reliance)
        report.write_notes(audit, judged, reliance, rows[0])
        attach_figures(audit, judged, rows[0], costs)
        return report.ranked_scores(audit, rows)

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterable[Evidence]:
        """Counterfactual and random traces, other verifiers, noise."""
        from cuescope_step_grounding.verify import evidence

        # With --verify-with the audit is another method's, which has no traces to check.
        return evidence(audit) if audit.options is self.options else ()


__all__ = ["StepGrounding", "StepGroundingOptions"]
