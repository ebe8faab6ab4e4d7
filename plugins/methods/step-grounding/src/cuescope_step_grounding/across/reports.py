"""Stored reports of this method, two a model: on data like that it knows, and on other data."""

from collections.abc import Sequence

from cuescope_sdk import Report, UserError
from cuescope_step_grounding.across.law import Measured
from cuescope_step_grounding.rows import ACC, REASONING, SGR


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
    return Measured(
        model=known.model.spec, sgr=_share(report, SGR), accuracy=_share(report, ACC),
        ood_accuracy=_share(other, ACC), group=group, benchmark=known.data.spec,
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


def _share(report: Report, metric: str) -> float:
    """A figure of the reasoning as a whole, from 0 to 1."""
    found = (s.value for s in report.scores if (s.feature, s.metric) == (REASONING, metric))
    value = next(found, None)
    if value is None:
        asked, title = report.provenance, {SGR: "SGR", ACC: "accuracy"}[metric]
        raise UserError(
            f"the run of {asked.model.spec} on {asked.data.spec} has no {title}",
            expected="traces with claims, and answers that can be right",
        )
    return value
