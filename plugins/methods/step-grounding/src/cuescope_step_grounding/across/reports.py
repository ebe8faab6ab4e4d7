"""Stored reports of this method, two a model: on data like that it knows, and on other data."""

from collections.abc import Sequence

from cuescope_sdk import Report, UserError
from cuescope_step_grounding.across.law import Measured
from cuescope_step_grounding.rows import REASONING

METRICS = ("supported", "accuracy")


def measured(report: Report, other: Report, group: str = "") -> Measured:
    """A model from its two reports; raises UserError for reports of two models or methods."""
    known, new = report.provenance, other.provenance
    for one in (known, new):
        if one.method.dist != "cuescope-step-grounding":
            raise UserError(
                f"a run of {one.method.spec}", expected="runs of step-grounding",
                remedy="`cuescope audit step-grounding ...` makes them",
            )  # fmt: skip
    if known.model.fingerprint != new.model.fingerprint:
        raise UserError(
            "runs of two models", expected="the same model in distribution and out of it",
            got=f"{known.model.spec} and {new.model.spec}",
            remedy="Name the runs of both lists in the same order",
        )  # fmt: skip
    sgr, accuracy = (_figure(report, metric) for metric in METRICS)
    return Measured(
        model=known.model.spec, sgr=sgr, accuracy=accuracy,
        ood_accuracy=_figure(other, "accuracy"), group=group, benchmark=known.data.spec,
    )  # fmt: skip


def all_measured(
    reports: Sequence[Report], others: Sequence[Report], groups: Sequence[str] = ()
) -> list[Measured]:
    """Models from two lists of reports in the same order; `groups` name models of one capacity."""
    if len(reports) != len(others) or (groups and len(groups) != len(reports)):
        raise UserError(
            "step-grounding: runs of models",
            expected="as many runs out of distribution as in it, and as many groups if any",
            got=f"{len(reports)}, {len(others)} and {len(groups)}",
        )  # fmt: skip
    named = groups or [""] * len(reports)
    return [measured(*three) for three in zip(reports, others, named, strict=True)]


def _figure(report: Report, metric: str) -> float:
    for score in report.scores:
        if (score.feature, score.metric) == (REASONING, metric) and score.value is not None:
            return score.value
    asked = report.provenance
    raise UserError(
        f"the run of {asked.model.spec} on {asked.data.spec} has no {metric}",
        expected="traces with claims, and answers that can be right",
    )
