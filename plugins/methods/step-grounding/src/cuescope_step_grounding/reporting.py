"""From the lines to the report: scores in their order, and the facts at its head."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cuescope_sdk import Audit, Feature, Occurrence, Score
from cuescope_sdk.maths import benjamini_hochberg
from cuescope_step_grounding.asking import Reasoning, is_recorded
from cuescope_step_grounding.measuring import Findings, named
from cuescope_step_grounding.metrics import STAGES
from cuescope_step_grounding.reliance import Reliance
from cuescope_step_grounding.rows import (
    ANSWERS,
    BETTER,
    KINDS,
    OPEN,
    REASONING,
    SGR,
    VIDEO,
    Row,
    Rows,
    kind_key,
    stage_key,
    thing_key,
    total,
)
from cuescope_step_grounding.saying import (
    ADD,
    percent,
    traces_in_words,
    unseen,
    unverifiable_reasons,
)

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding

POLICIES = {
    "exclude": "do not count", "penalise": "count as unsupported", "neutral": "count half",
}  # fmt: skip


def features(
    audit: Audit, options: "StepGrounding.Options", traces: Sequence[Reasoning]
) -> Iterator[Feature]:
    """What is measured, then what is named most often."""
    yield Feature(key=REASONING, kind="reasoning", name="Reasoning")
    yield Feature(key=ANSWERS, kind="answers", name="Rightly answered")
    if not is_recorded(audit) and options.perturbations:
        yield Feature(key=VIDEO, kind="reliance", name="Traces of changed videos")
    for kind, name in KINDS.items():
        yield Feature(key=kind_key(kind), kind="claims", name=name)
    for stage in STAGES:
        yield Feature(key=stage_key(stage), kind="steps", name=f"{stage.title()} steps")
    for name in most_named(traces, options.things):
        yield Feature(
            key=thing_key(name), kind="thing", name=f"'{name}'", occurrences=_places(traces, name)
        )


def most_named(traces: Sequence[Reasoning], most: int) -> list[str]:
    """The things that several traces name, the commonest first."""
    count: dict[str, int] = {}
    for one in traces:
        for name in named(one.claims):
            count[name] = count.get(name, 0) + 1
    often = sorted(
        (name for name, n in count.items() if n > 1), key=lambda name: (-count[name], name)
    )
    return often[:most]


def _places(traces: Sequence[Reasoning], name: str) -> tuple[Occurrence, ...]:
    """Where traces name a thing, each trace once."""
    places = []
    for one in traces:
        own = [c for step in one.claims for c in step if c.kind == "entity" and c.subject == name]
        if own:
            frame = next((c.frames[0] for c in own if c.frames), None)
            places.append(Occurrence(sample=one.sample.key, frame=frame))
    return tuple(places)


# ----------------------------------------------------------------------------------- the rows


def rows(
    audit: Audit, options: "StepGrounding.Options", found: Findings, reliance: Reliance | None
) -> list[Row]:
    """The verdict first, then the parts."""
    make = Rows(audit, options, found)
    verdict = make.reasoning(reliance)
    names = most_named([one.reasoning for one in found.plain], options.things)
    parts = [
        make.answers(),
        make.video(reliance, verdict.verdict == BETTER) if reliance else None,
        *make.stages(), *make.kinds(), *make.things(names),
    ]  # fmt: skip
    return [verdict, *(row for row in parts if row is not None)]


def scores(options: "StepGrounding.Options", listed: Sequence[Row]) -> Iterator[Score]:
    """The verdict, the findings, then the rest by rising support.

    Tests beside the verdict's are corrected for their number. The verdict is told whatever it is:
    where it is open, its sentence says so.
    """
    verdict, *parts = listed
    q_values = benjamini_hochberg([row.p_value for row in parts])
    found = [
        row.large and q is not None and q <= options.level
        for row, q in zip(parts, q_values, strict=True)
    ]
    judged = sorted(zip(parts, q_values, found, strict=True), key=_rank)
    decided = SGR in verdict.figures and verdict.verdict != OPEN
    yield from _scores(verdict, verdict.p_value, decided, told=True)
    for row, q_value, finding in judged:
        yield from _scores(row, q_value, finding)


def _rank(judged: tuple[Row, float | None, bool]) -> tuple[bool, bool, float]:
    """Single things come after what is said of the whole."""
    row, _, finding = judged
    sgr = row.figures.get(SGR)
    return not finding, row.is_thing, sgr.value if sgr else 1.0


def _scores(row: Row, q_value: float | None, finding: bool, told: bool = False) -> Iterator[Score]:
    first = row.figures.get(SGR)
    yield Score(
        feature=row.feature, label=None, metric=SGR, n=row.n,
        value=first.value if first else None, low=first.low if first else None,
        high=first.high if first else None, p_value=row.p_value, q_value=q_value,
        finding=finding, told=told,
        statement=row.statement if finding or told or first is None else None,
    )  # fmt: skip
    for metric, of in row.figures.items():
        if metric != SGR:
            yield Score(
                feature=row.feature, label=None, metric=metric, n=row.n, value=of.value,
                low=of.low, high=of.high,
            )  # fmt: skip


# ----------------------------------------------------------------------------------- the notes


def note(
    audit: Audit,
    options: "StepGrounding.Options",
    found: Findings,
    reliance: Reliance | None,
    verdict: Row,
    titles: dict[str, str],
) -> None:
    """The facts at the head; `titles` say what parsed, judged and compared."""
    if unseen(audit):
        audit.note("nothing to see", f"no verifier and no annotated scenes: add {ADD}")
    if verdict.verdict is not None:
        audit.note("verdict", verdict.verdict)
    audit.note("traces", traces_in_words([one.reasoning for one in found.plain]))
    step = total(step for one in found.plain for step in one.steps)
    outside = sum(
        c.frames == () for one in found.plain for claims in one.reasoning.claims for c in claims
    )
    if step.claims:
        parts = {"supported": step.supported, "unsupported": step.unsupported,
                 "unverifiable": step.unverifiable}  # fmt: skip
        shares = ", ".join(f"{name} {percent(n / step.claims)}" for name, n in parts.items())
        beyond = f"; {outside} about a moment outside the video" if outside else ""
        if torn := sum(one.reasoning.contradictory for one in found.plain):
            beyond += f"; {torn} steps contradict themselves about the time"
        audit.note("claims", f"{step.claims}: {shares}{beyond}")
    if reasons := unverifiable_reasons(found):
        audit.note("why unverifiable", ", ".join(reasons))
    audit.note("unverifiable claims", POLICIES[options.unverifiable])
    for key, title in titles.items():
        audit.note(key, title)
    audit.note("changed videos", _changes_in_words(audit, options, reliance))
    audit.note(
        "a finding", f"at least {percent(options.margin)} of support, q at most {options.level:g}"
    )


def _changes_in_words(
    audit: Audit, options: "StepGrounding.Options", reliance: Reliance | None
) -> str:
    if is_recorded(audit):
        return "none, for recorded traces cannot look again: VRS is not measured"
    if reliance is None or reliance.score is None:
        return "VRS is not measured: it needs supported claims, and relevant and irrelevant changes"
    kinds = ", ".join(options.perturbations)
    against = "the original" if options.evidence == "original" else "the changed"
    said = f"{kinds}; {options.instances} each, traces held against {against} video"
    if reliance.interval is None:
        said += f"; VRS is {options.clip:g} or more: the irrelevant change cost nothing"
    return said
