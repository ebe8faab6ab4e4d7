"""The report: its rows with what they prove, their order, and the facts at its head."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Feature, Occurrence, Score
from cuescope_sdk.grounding import ClaimKind
from cuescope_sdk.language import BagOfWords
from cuescope_sdk.maths import (
    benjamini_hochberg,
    bootstrap_mean_interval,
    exceeds_rate_p_value,
    exchange_p_value,
    sign_flip_p_value,
    wilson_interval,
)
from cuescope_sdk.report import percent
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.scores import (
    RELEVANT,
    STAGES,
    Figure,
    Reliance,
    Stage,
    known,
    points,
    rates_of_stage,
    ratio,
    share,
)
from cuescope_step_grounding.trials import Reasoning, claim_parser, is_recorded
from cuescope_step_grounding.verification import judging, summaries
from cuescope_step_grounding.verification.judging import JudgedTrace, JudgedTraces

SGR, TCS, HR = "step_grounding_rate", "consistency", "hallucination"
VRS, ACC = "reliance", "accuracy"
REASONING, ANSWERS, VIDEO = "reasoning", "answers", "video"
OF_KIND, OF_STAGE, NAMED = "claims: ", "steps: ", "named: "  # how the keys of the parts begin
KINDS: dict[ClaimKind, str] = {
    "entity": "What is on screen",
    "attribute": "How things look",
    "action": "What happens",
    "relation": "Where things are",
    "temporal": "In which order",
    "ego-motion": "How the camera moves",
}
BETTER, NO_BETTER, OPEN = "better than random", "no better than random", "open"  # verdicts
TOLERATED = 0.1  # share of a detector's own errors: 2 to 8 % in the paper (section 6)
POLICIES = {"exclude": "do not count", "penalise": "count as unsupported", "neutral": "count half"}

# -------------------------------------------------------------------------------------- features


def features(audit: Audit, traces: Sequence[Reasoning]) -> Iterator[Feature]:
    """What is measured, then what is named most often."""
    options: StepGroundingOptions = audit.options
    yield Feature(key=REASONING, kind="reasoning", name="Reasoning")
    yield Feature(key=ANSWERS, kind="answers", name="Rightly answered")
    if not is_recorded(audit) and options.perturbations:
        yield Feature(key=VIDEO, kind="reliance", name="Traces of changed videos")
    for kind, name in KINDS.items():
        yield Feature(key=OF_KIND + kind, kind="claims", name=name)
    for stage in STAGES:
        yield Feature(key=OF_STAGE + stage, kind="steps", name=f"{stage.title()} steps")
    for name in most_named_things(traces, options.things):
        occurrences = _occurrences(traces, name)
        yield Feature(key=NAMED + name, kind="thing", name=f"'{name}'", occurrences=occurrences)


def most_named_things(traces: Sequence[Reasoning], most: int) -> list[str]:
    """The things that several traces name, the commonest first."""
    count = Counter(name for trace in traces for name in judging.named_things(trace.claims))
    several = [name for name, n in count.items() if n > 1]
    return sorted(several, key=lambda name: (-count[name], name))[:most]


def _occurrences(traces: Sequence[Reasoning], name: str) -> tuple[Occurrence, ...]:
    """Where traces name a thing, each trace once."""
    occurrences = []
    for trace in traces:
        claims = [claim for step in trace.claims for claim in step]
        own = [claim for claim in claims if claim.kind == "entity" and claim.subject == name]
        if own:
            frame = next((claim.frames[0] for claim in own if claim.frames), None)
            occurrences.append(Occurrence(sample=trace.sample.key, frame=frame))
    return tuple(occurrences)


# ------------------------------------------------------------------------------------------ rows


@dataclass(frozen=True)
class Row:
    """One line. `p_value` is of the test behind `statement`, which is told where it is `large`.

    `verdict` is that on the reasoning as a whole, which is told whatever it is.
    """

    feature: str
    n: int
    figures: dict[str, Figure] = field(default_factory=dict)
    statement: str | None = None
    p_value: float | None = None
    large: bool = False
    verdict: str | None = None


def rows_of(audit: Audit, judged: JudgedTraces, reliance: Reliance | None) -> list[Row]:
    """The verdict first, then the parts."""
    rows = _Rows(audit, judged)
    verdict = rows.reasoning(reliance)
    names = most_named_things([trace.reasoning for trace in judged.baselines], audit.options.things)
    parts = [
        rows.answers(),
        rows.video(reliance, verdict.verdict == BETTER) if reliance else None,
        *rows.stages(),
        *rows.kinds(),
        *rows.things(names),
    ]
    return [verdict, *(row for row in parts if row is not None)]


class _Rows:
    """The lines of one audit, each drawn from its own generator."""

    def __init__(self, audit: Audit, judged: JudgedTraces) -> None:
        self.audit, self.judged = audit, judged
        self.options: StepGroundingOptions = audit.options

    def figure(self, values: Iterable[float | None], *names: str) -> Figure | None:
        """The mean of what is known, over samples; None where nothing is."""
        numbers = known(values)
        if not numbers:
            return None
        low, high = bootstrap_mean_interval(
            np.array(numbers, dtype=np.float64),
            self.audit.rng("interval", *names),
            confidence=self.options.confidence,
            resamples=self.options.resamples,
        )
        return Figure(float(np.mean(numbers)), low, high)

    def figures(self, traces: Sequence[JudgedTrace], feature: str) -> dict[str, Figure]:
        return _present(
            {
                SGR: self.figure((trace.grounding for trace in traces), feature, SGR),
                HR: self.figure((trace.hallucination for trace in traces), feature, HR),
            }
        )

    def reasoning(self, reliance: Reliance | None) -> Row:
        """All steps together, against random ones."""
        baselines, answered = self.judged.baselines, self.judged.answered
        figures = self.figures(answered, REASONING) | _present(
            {
                TCS: self.figure((trace.consistency for trace in baselines), TCS),
                ACC: self.figure((trace.accuracy for trace in baselines), ACC),
                VRS: _reliance_figure(reliance),
            }
        )
        if SGR not in figures:
            why = summaries.why_unmeasured(self.audit, self.judged)
            return Row(REASONING, 0, figures, f"{{feature}}: {why}.")
        own, random = self.judged.against_random()
        support = f"on average the video supports {share(figures[SGR])} of the claims in a step"
        if not len(own):
            statement = f"{{feature}}: {support}."
            return Row(REASONING, len(answered), figures, statement, verdict=OPEN)
        better = exchange_p_value(own, random, self.audit.rng("against random"))
        # "No better" has to be shown as well: that the excess is below the margin is tested, for a
        # large p-value of the first test would only say that there are few samples.
        beyond = own - random.mean(axis=1)
        same = sign_flip_p_value(self.options.margin - beyond, self.audit.rng("as random"))
        support += f", and {percent(random.mean())} in random steps"
        verdict, p_value = OPEN, better
        unsure = "these samples do not show whether it is better than random"
        statement = f"{{feature}}: {unsure}; {support}."
        if better <= self.options.level:
            flawed = f"{share(figures[HR])} of the steps make at least one unsupported claim"
            verdict, statement = BETTER, f"{{feature}} is better than random: {support}; {flawed}."
        elif same <= self.options.level:
            verdict, p_value = NO_BETTER, same
            statement = f"{{feature}} is no better than random: {support}."
        return Row(REASONING, len(answered), figures, statement, p_value, verdict=verdict)

    def kinds(self) -> Iterator[Row]:
        """The claims of each kind that is made."""
        for kind in KINDS:
            traces = [
                judging.claims_of_kind(trace, kind, self.judged.judgements)
                for trace in self.judged.baselines
            ]
            answered = [trace for trace in traces if trace.grounding is not None]
            if answered:
                yield Row(OF_KIND + kind, len(answered), self.figures(answered, kind))

    def stages(self) -> Iterator[Row]:
        """Early, middle and late steps; what is lost on the way is told of the late ones."""
        rates = {
            stage: [
                rates_of_stage(trace.steps, stage, self.options.unverifiable)
                for trace in self.judged.baselines
            ]
            for stage in STAGES
        }
        for stage, pairs in rates.items():
            sgr = self.figure((rate for rate, _ in pairs), stage, SGR)
            hr = self.figure((rate for _, rate in pairs), stage, HR)
            if sgr is None or hr is None:
                continue
            n = len(known(rate for rate, _ in pairs))
            decay = self._decay(rates) if stage == "late" else ()
            yield Row(OF_STAGE + stage, n, {SGR: sgr, HR: hr}, *decay)

    def _decay(
        self, rates: Mapping[Stage, Sequence[tuple[float | None, float | None]]]
    ) -> tuple[str, float, bool] | tuple[()]:
        """What is lost on the way, in words; its p-value; whether it is large."""
        pairs = [
            (early, late)
            for (early, _), (late, _) in zip(rates["early"], rates["late"], strict=True)
            if early is not None and late is not None
        ]
        losses = np.array([early - late for early, late in pairs])
        loss = self.figure(losses.tolist(), "decay")
        if loss is None:
            return ()
        early, late = (float(np.mean(side)) for side in zip(*pairs, strict=True))
        statement = (
            f"{{feature}}: support falls by {points(loss)}, from {percent(early)} of the claims in "
            f"the first quarter of the steps to {percent(late)} in the last quarter."
        )
        p_value = sign_flip_p_value(losses, self.audit.rng("decay"))
        return statement, p_value, loss.value > self.options.margin

    def answers(self) -> Row | None:
        """Right answers, and what the steps before them are worth; None where none is known."""
        answered = [trace for trace in self.judged.answered if trace.accuracy is not None]
        right = [trace for trace in answered if trace.accuracy]
        figures = self.figures(right, ANSWERS)
        accuracy = self.figure((trace.accuracy for trace in answered), ANSWERS, ACC)
        if SGR not in figures or accuracy is None:
            return None
        gap = np.array([(trace.accuracy or 0.0) - (trace.grounding or 0.0) for trace in answered])
        statement = (
            f"{{feature}}: {share(accuracy)} of the answers are right, but the video does not "
            f"support {percent(1 - figures[SGR].value)} of the claims in the steps before a right "
            "answer."
        )
        p_value = sign_flip_p_value(gap, self.audit.rng("answers"))
        large = float(gap.mean()) > self.options.margin
        return Row(ANSWERS, len(right), figures | {ACC: accuracy}, statement, p_value, large)

    def video(self, reliance: Reliance, grounded: bool) -> Row | None:
        """What changed videos cost; told where it is nothing, and there was something to lose."""
        losses = reliance.drops[:, 0]
        loss = self.figure(losses.tolist(), VIDEO)
        score = _reliance_figure(reliance)
        if loss is None or score is None:
            return None
        changed = [
            trace for trace in self.judged.variants if trace.reasoning.request.change in RELEVANT
        ]
        sgr = self.figure((trace.grounding for trace in changed), VIDEO, SGR)
        statement = (
            "{feature}: the reasoning does not change when the video does. When things are moved "
            f"or hidden, or the frames are reordered, support changes by only {points(loss)} "
            f"(VRS {ratio(score)})."
        )
        p_value = sign_flip_p_value(self.options.margin - losses, self.audit.rng(VIDEO))
        figures = _present({VRS: score, SGR: sgr})
        return Row(VIDEO, len(losses), figures, statement, p_value, grounded and score.value < 1)

    def things(self, names: Sequence[str]) -> Iterator[Row]:
        """What is named, by how many of the traces that name it do so of a video without it."""
        for name in names:
            verdicts = [
                self.judged.judgements.of(trace.sample, judging.existence(name)).verdict
                for trace in self.judged.baselines
                if name in judging.named_things(trace.reasoning.claims)
            ]
            never = verdicts.count("unsupported")
            n = len(verdicts) - verdicts.count("unverifiable")
            if not n:
                continue
            low, high = wilson_interval(n - never, n, confidence=self.options.confidence)
            figures = {SGR: Figure((n - never) / n, low, high)}
            flaw = f"in {never} of them the video never shows it"
            statement = f"{{feature}}: {n} traces name it, and {flaw}."
            # A detector misses things too: only what exceeds its own errors is the model's.
            p_value, large = exceeds_rate_p_value(never, n, TOLERATED), never / n > TOLERATED
            yield Row(NAMED + name, n, figures, statement, p_value, large)


def _present(figures: dict[str, Figure | None]) -> dict[str, Figure]:
    return {name: figure for name, figure in figures.items() if figure is not None}


def _reliance_figure(reliance: Reliance | None) -> Figure | None:
    if reliance is None or reliance.score is None:
        return None
    return Figure(reliance.score, *(reliance.interval or (None, None)))


# ---------------------------------------------------------------------------------------- scores


def ranked_scores(audit: Audit, rows: Sequence[Row]) -> Iterator[Score]:
    """The verdict, the findings, then the rest by rising support.

    Tests beside the verdict's are corrected for their number. The verdict is told whatever it is:
    where it is open, its sentence says so.
    """
    verdict, *parts = rows
    q_values = benjamini_hochberg([row.p_value for row in parts])
    level = audit.options.level
    findings = [
        row.large and q_value is not None and q_value <= level
        for row, q_value in zip(parts, q_values, strict=True)
    ]
    decided = SGR in verdict.figures and verdict.verdict != OPEN
    yield from _scores(verdict, verdict.p_value, decided, always_reported=True)
    for row, q_value, finding in sorted(zip(parts, q_values, findings, strict=True), key=_rank):
        yield from _scores(row, q_value, finding)


def _rank(part: tuple[Row, float | None, bool]) -> tuple[bool, bool, float]:
    """Findings first; single things come after what is said of the whole."""
    row, _, finding = part
    sgr = row.figures.get(SGR)
    return not finding, row.feature.startswith(NAMED), sgr.value if sgr else 1.0


def _scores(
    row: Row, q_value: float | None, finding: bool, always_reported: bool = False
) -> Iterator[Score]:
    tested: dict[str, Any] = {"p_value": row.p_value, "q_value": q_value, "finding": finding}
    if finding or always_reported or SGR not in row.figures:
        tested |= {"statement": row.statement, "always_reported": always_reported}
    for metric in dict.fromkeys((SGR, *row.figures)):
        figure = row.figures.get(metric)
        values: dict[str, Any] = asdict(figure) if figure else {"value": None}
        values |= tested if metric == SGR else {}
        yield Score(feature=row.feature, label=None, metric=metric, n=row.n, **values)


# ----------------------------------------------------------------------------------------- notes


def write_notes(
    audit: Audit, judged: JudgedTraces, reliance: Reliance | None, verdict: Row
) -> None:
    """The facts at the head of the report."""
    options: StepGroundingOptions = audit.options
    if judging.has_no_evidence(audit):
        audit.note(
            "nothing to see", f"no verifier and no annotated scenes: add {summaries.ADD_VERIFIER}"
        )
    if verdict.verdict is not None:
        audit.note("verdict", verdict.verdict)
    audit.note("traces", summaries.describe_traces([trace.reasoning for trace in judged.baselines]))
    if claims := summaries.describe_claims(judged):
        audit.note("claims", claims)
    if reasons := summaries.unverifiable_reasons(judged):
        audit.note("why unverifiable", ", ".join(reasons))
    audit.note("unverifiable claims", POLICIES[options.unverifiable])
    audit.note("claims parsed by", claim_parser(audit).title)
    verifier = audit.tool_specs.get("claim-verifier", judging.SCENES)
    audit.note("claims held against", "nothing" if judging.has_no_evidence(audit) else verifier)
    encoder = audit.tool_specs.get("sentence-encoder", BagOfWords.title)
    tau = f", tau {judging.threshold(audit):g}" if options.belief == "step" else ""
    audit.note("beliefs compared by", f"{encoder}{tau}")
    audit.note("changed videos", _describe_changes(audit, reliance))
    least = percent(options.margin)
    audit.note("a finding", f"at least {least} of support, q at most {options.level:g}")


def _describe_changes(audit: Audit, reliance: Reliance | None) -> str:
    options: StepGroundingOptions = audit.options
    if is_recorded(audit):
        return "none: a recording cannot look at a changed video, so VRS is not measured"
    if reliance is None or reliance.score is None:
        return "VRS is not measured: it needs supported claims, and relevant and irrelevant changes"
    kinds = ", ".join(options.perturbations)
    against = "the original" if options.evidence == "original" else "the changed"
    text = f"{kinds}; {options.instances} each, traces held against {against} video"
    if reliance.interval is None:
        text += f"; VRS is {options.clip:g} or more: the irrelevant change cost nothing"
    return text
