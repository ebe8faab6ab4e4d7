"""The report: what is measured, the order of its rows, and the facts at its head."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cuescope_sdk import Audit, Feature, Finding, Impact, Row, Score
from cuescope_sdk.grounding import ClaimKind
from cuescope_sdk.report import shares_row
from cuescope_step_grounding.analysis import (
    Result,
    named_by_several,
    occurrences_of,
    rank,
)
from cuescope_step_grounding.beliefs import TAU
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.rows.keys import (
    ANSWERS,
    NAMED,
    OF_KIND,
    OF_STAGE,
    REASONING,
    SGR,
    VIDEO,
)
from cuescope_step_grounding.rows.rows import statement_of
from cuescope_step_grounding.scores import CLIP, STAGES, Reliance
from cuescope_step_grounding.trials import Reasoning, claim_parser, is_recorded
from cuescope_step_grounding.verification import judging, summaries
from cuescope_step_grounding.verification.judged import JudgedTraces
from cuescope_step_grounding.verification.verdict import BETTER, NO_BETTER, least_found

# -------------------------------------------------------------------------------------- features


def features(audit: Audit, traces: Sequence[Reasoning]) -> Iterator[Feature]:
    """What is measured, then what is named most often."""
    options: StepGroundingOptions = audit.options
    yield Feature(key=REASONING, kind="reasoning", name="Reasoning")
    yield Feature(key=ANSWERS, kind="answers", name="Before correct answers")
    # a recording cannot be asked about changed videos
    if not is_recorded(audit) and options.perturbations:
        yield Feature(key=VIDEO, kind="reliance", name="Traces of changed videos")
    for kind in ClaimKind.declared.values():
        yield Feature(key=OF_KIND + kind.name, kind="claims", name=kind.title)
    for stage in STAGES:
        yield Feature(key=OF_STAGE + stage, kind="steps", name=f"{stage.title()} steps")
    for name in named_by_several(traces):
        yield Feature(
            key=NAMED + name,
            kind="thing",
            name=f"'{name}'",
            occurrences=occurrences_of(traces, name),
        )


# ---------------------------------------------------------------------------------------- scores


def ranked_scores(
    audit: Audit,
    judged: JudgedTraces,
    results: Sequence[Result],
) -> Iterator[Score]:
    """The verdict, the findings, then the rest by rising support.

    The verdict is told whatever it is: where it is open, its sentence says so.
    """
    whole, *parts = results
    word = whole.verdict and whole.verdict.word
    # reasoning that looks, and whose every step holds, is no problem
    is_problem = word == NO_BETTER or (word == BETTER and judged.counts.unsupported > 0)
    ranked = [(whole, whole.p_value, is_problem), *rank(parts, audit.options.level)]
    for result, q_value, finding in ranked:
        always = result is whole
        tested: dict[str, Any] = {
            "p_value": result.p_value,
            "q_value": q_value,
            "finding": finding,
        }
        if finding or always or SGR not in result.figures:
            tested["statement"] = statement_of(audit, judged, result)
            tested["always_reported"] = always
        # SGR in any case: the test and the sentence are told with it
        for metric in dict.fromkeys((SGR, *result.figures)):
            figure = result.figures.get(metric)
            values: dict[str, Any] = figure._asdict() if figure else {"value": None}
            if metric == SGR:
                values |= tested
            yield Score(
                feature=result.feature,
                label=None,
                metric=metric,
                n=result.n,
                **values,
            )


def finding(
    audit: Audit,
    features: Sequence[Feature],
    judged: JudgedTraces,
    results: Sequence[Result],
) -> Finding | None:
    """What share of the reasoning the video does not support; None where it is nothing."""
    counts = judged.counts
    checked = counts.supported + counts.unsupported
    if not counts.unsupported:
        return None
    whole, *parts = results
    names = {feature.key: feature.name or feature.key for feature in features}
    rows = [_row_of(names, whole)]
    rows += [
        _row_of(names, part)
        for part, _, is_found in rank(parts, audit.options.level)
        if is_found and SGR in part.figures
    ]
    share = counts.unsupported / checked
    # a rounded 0% would say that there is none
    percent = f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"
    return Finding(
        feature=whole.feature,
        claim=f"{percent} OF THE REASONING is not supported by the video",
        measure="claims",
        columns=("supported", "not"),
        rows=tuple(rows),
        impact=Impact(
            count=counts.unsupported,
            total=checked,
            of="claims",
            detail="the video does not support these",
        ),
        status="unsupported",
    )


def _row_of(names: Mapping[str, str], result: Result) -> Row:
    """The share of claims in a step that the video supports."""
    support = result.figures[SGR]
    return shares_row(
        names[result.feature],
        support.value,
        1 - support.value,
        None,
        n=result.n,
    ).model_copy(update={"feature": result.feature})


# ----------------------------------------------------------------------------------------- notes


def write_notes(
    audit: Audit,
    judged: JudgedTraces,
    reliance: Reliance | None,
    whole: Result,
) -> None:
    """The facts at the head of the report."""
    if judging.has_no_evidence(audit):
        audit.note(
            "nothing to see",
            f"no verifier and no annotated scenes: add {summaries.ADD_VERIFIER}",
        )
    if whole.verdict is not None:
        audit.note("verdict", whole.verdict.word)
        if whole.verdict.word == BETTER and not judged.counts.unsupported:
            audit.note(
                "result",
                f"No finding: the video supports all {judged.counts.supported:,} claims that could "
                "be checked.",
            )
        if missed := least_found(judged.swaps, audit.rng("least found")):
            audit.note("power", missed)
    audit.note("traces", summaries.describe_traces(judged))
    if claims := summaries.describe_claims(judged):
        audit.note("claims", claims)
    if reasons := summaries.unverifiable_reasons(judged):
        audit.note("why unverifiable", ", ".join(reasons))
    audit.note("claims parsed by", claim_parser(audit).title)
    verifier = audit.tool_specs.get("claim-verifier", judging.SCENES)
    audit.note(
        "claims held against", "nothing" if judging.has_no_evidence(audit) else verifier
    )
    if audit.options.paper and "sentence-encoder" not in audit.tools:
        audit.note(
            "beliefs",
            f"compared as bags of words; tau {TAU:g} is for all-MiniLM-L6-v2 (section 3.3): add "
            "--tool sentence-encoder=sentence-transformers",
        )
    audit.note("changed videos", _describe_changes(audit, reliance))


def _describe_changes(audit: Audit, reliance: Reliance | None) -> str:
    options: StepGroundingOptions = audit.options
    if is_recorded(audit):
        return (
            "none: a recording cannot look at a changed video, so VRS is not measured"
        )
    if reliance is None or reliance.score is None:
        return "VRS is not measured: it needs supported claims, and relevant and irrelevant changes"
    text = (
        f"{', '.join(options.perturbations)}; {options.instances} each, traces held against "
        "the original video"
    )
    if reliance.interval is None:
        text += f"; VRS is {CLIP:g} or more: the irrelevant change cost nothing"
    return text
