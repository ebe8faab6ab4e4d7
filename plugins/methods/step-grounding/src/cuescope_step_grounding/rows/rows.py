"""The lines of the report, each with its figures and the test behind its sentence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from cuescope_sdk import Audit, Sample
from cuescope_sdk.grounding import KINDS
from cuescope_sdk.report import percent
from cuescope_sdk.statistics import (
    Groups,
    change_interval,
    change_p_value,
    design_effect,
    exceeds_rate_p_value,
    mean_interval,
)
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.rows.keys import (
    ACC,
    ANSWERS,
    HR,
    NAMED,
    OF_KIND,
    OF_STAGE,
    REASONING,
    SGR,
    TCS,
    VIDEO,
    VRS,
)
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
from cuescope_step_grounding.trials import Reasoning
from cuescope_step_grounding.verification import judging, summaries
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces
from cuescope_step_grounding.verification.verdict import BETTER, NEAR_OPEN, NO_BETTER, OPEN, Verdict

TO_LOSE = 0.25  # SGR below which a changed video has little to take away
TOLERATED = 0.1  # share of a detector's own errors: 2 to 8 % in the paper (section 6)


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
        rows.video(reliance, verdict.figures.get(SGR)) if reliance else None,
        *rows.stages(),
        *rows.kinds(),
        *rows.things(names),
    ]
    return [verdict, *(row for row in parts if row is not None)]


# How the sentence of the verdict begins, after the feature's name.
OPENINGS = {
    BETTER: "is better than random: it fits its own video better than other videos",
    NO_BETTER: "is no better than random: it fits other videos as well as its own",
    OPEN: "is open: these samples do not show whether it is better than random",
    NEAR_OPEN: "fits its own video, but these samples do not show that it fits",
}


class Interval(Protocol):
    """A mean's interval of the statistics room."""

    def __call__(
        self, values: np.ndarray, groups: Groups, /, *, confidence: float
    ) -> tuple[float | None, float | None]: ...


class _Rows:
    """The lines of one audit, each drawn from its own generator."""

    def __init__(self, audit: Audit, judged: JudgedTraces) -> None:
        self.audit, self.judged = audit, judged
        self.options: StepGroundingOptions = audit.options

    def figure(self, samples: Sequence[Sample], values: Iterable[float | None]) -> Figure | None:
        """The mean of what is known, over samples, with the interval of whole groups."""
        return self._mean(samples, values, mean_interval)

    def change(self, samples: Sequence[Sample], values: Iterable[float | None]) -> Figure | None:
        """The same of differences, from -1 to 1."""
        return self._mean(samples, values, change_interval)

    def _mean(
        self, samples: Sequence[Sample], values: Iterable[float | None], interval: Interval
    ) -> Figure | None:
        pairs = [(s, v) for s, v in zip(samples, values, strict=True) if v is not None]
        if not pairs:
            return None
        numbers = np.array([value for _, value in pairs], dtype=np.float64)
        groups = Groups.of([sample for sample, _ in pairs])
        return Figure(
            float(numbers.mean()), *interval(numbers, groups, confidence=self.options.confidence)
        )

    def p_value(self, samples: Sequence[Sample], values: np.ndarray, *names: str) -> float:
        """One-sided, of a mean above 0; whole groups change their sign."""
        rng = self.audit.rng(*names)
        return change_p_value(values, Groups.of(samples), rng, alternative="greater")

    def figures(self, traces: Sequence[JudgedTrace]) -> dict[str, Figure]:
        samples = [trace.sample for trace in traces]
        return _present(
            {
                SGR: self.figure(samples, (trace.grounding for trace in traces)),
                HR: self.figure(samples, (trace.hallucination for trace in traces)),
            }
        )

    def reasoning(self, reliance: Reliance | None) -> Row:
        """All steps together, beside the same claims in other videos."""
        baselines, answered = self.judged.baselines, self.judged.answered
        samples = [trace.sample for trace in baselines]
        figures = self.figures(answered) | _present(
            {
                TCS: self.figure(samples, (trace.consistency for trace in baselines)),
                ACC: self.figure(samples, (trace.accuracy for trace in baselines)),
                VRS: _reliance_figure(reliance),
            }
        )
        if SGR not in figures:
            why = summaries.why_unmeasured(self.audit, self.judged)
            return Row(REASONING, 0, figures, f"{{feature}}: {why}.")
        verdict = self.audit.once(judging.verdict_of, self.audit, self.judged)
        statement = f"{{feature}} {OPENINGS[verdict.word]}{_because(verdict)}. " + " ".join(
            self._support(verdict, figures)
        )
        p_value = verdict.p_value
        return Row(REASONING, len(answered), figures, statement, p_value, verdict=verdict.word)

    def _support(self, verdict: Verdict, figures: Mapping[str, Figure]) -> Iterator[str]:
        """The figures behind the verdict, a sentence each."""
        yield f"{summaries.claim_shares(self.judged)}."
        support = f"On average the video supports {share(figures[SGR])} of the claims in a step"
        if verdict.elsewhere is not None:
            support += f"; of the same claims in other videos {percent(verdict.elsewhere)} hold"
        yield f"{support}."
        if verdict.share is not None:
            own = Figure(verdict.share.value, verdict.share.low, verdict.share.high)
            yield f"Beyond chance {share(own)} of the claims go with their own video."
        if HR in figures:
            yield f"{share(figures[HR])} of the steps make at least one unsupported claim."
        groups = self.judged.groups
        if groups.few:
            yield f"These are few samples: {summaries.count_groups(groups)}."

    def kinds(self) -> Iterator[Row]:
        """The claims of each kind that is made."""
        for kind in KINDS:
            traces = [
                judging.claims_of_kind(trace, kind, self.judged.judgements)
                for trace in self.judged.baselines
            ]
            answered = [trace for trace in traces if trace.grounding is not None]
            if answered:
                yield Row(OF_KIND + kind, len(answered), self.figures(answered))

    def stages(self) -> Iterator[Row]:
        """Early, middle and late steps; what is lost on the way is told of the late ones."""
        rates = {
            stage: [
                rates_of_stage(
                    trace.steps, stage, self.options.unverifiable, self.options.hallucination_over
                )
                for trace in self.judged.baselines
            ]
            for stage in STAGES
        }
        samples = [trace.sample for trace in self.judged.baselines]
        for stage, pairs in rates.items():
            sgr = self.figure(samples, (rate for rate, _ in pairs))
            hr = self.figure(samples, (rate for _, rate in pairs))
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
            (trace.sample, early, late)
            for trace, (early, _), (late, _) in zip(
                self.judged.baselines, rates["early"], rates["late"], strict=True
            )
            if early is not None and late is not None
        ]
        samples = [sample for sample, _, _ in pairs]
        losses = np.array([early - late for _, early, late in pairs])
        loss = self.change(samples, losses.tolist())
        if loss is None:
            return ()
        early, late = (float(np.mean([pair[side] for pair in pairs])) for side in (1, 2))
        statement = (
            f"{{feature}}: support falls by {points(loss)}, from {percent(early)} of the claims in "
            f"the first quarter of the steps to {percent(late)} in the last quarter."
        )
        p_value = self.p_value(samples, losses, "decay")
        return statement, p_value, loss.value > self.options.margin

    def answers(self) -> Row | None:
        """Right answers, and what the steps before them are worth; None where none is known."""
        answered = [trace for trace in self.judged.answered if trace.accuracy is not None]
        right = [trace for trace in answered if trace.accuracy]
        samples = [trace.sample for trace in answered]
        figures = self.figures(right)
        accuracy = self.figure(samples, (trace.accuracy for trace in answered))
        if SGR not in figures or accuracy is None:
            return None
        gap = np.array([(trace.accuracy or 0.0) - (trace.grounding or 0.0) for trace in answered])
        statement = (
            f"{{feature}}: {share(accuracy)} of the answers are right, but the video does not "
            f"support {percent(1 - figures[SGR].value)} of the claims in the steps before a right "
            "answer."
        )
        p_value = self.p_value(samples, gap, "answers")
        large = float(gap.mean()) > self.options.margin
        return Row(ANSWERS, len(right), figures | {ACC: accuracy}, statement, p_value, large)

    def video(self, reliance: Reliance, support: Figure | None) -> Row | None:
        """What changed videos cost; told where it is nothing, and there was something to lose."""
        to_lose = support is not None and (support.low or 0.0) >= TO_LOSE
        losses = reliance.drops[:, 0]
        score = _reliance_figure(reliance)
        if not len(losses) or score is None:
            return None
        ends = change_interval(losses, reliance.groups, confidence=self.options.confidence)
        loss = Figure(float(losses.mean()), *ends)
        changed = [
            trace for trace in self.judged.variants if trace.reasoning.request.change in RELEVANT
        ]
        sgr = self.figure([t.sample for t in changed], (trace.grounding for trace in changed))
        statement = (
            "{feature}: the reasoning does not change when the video does. When things are moved "
            f"or hidden, or the frames are reordered, support changes by only {points(loss)} "
            f"(visual reliance, VRS: {ratio(score)})."
        )
        p_value = change_p_value(
            self.options.margin - losses,
            reliance.groups,
            self.audit.rng(VIDEO),
            alternative="greater",
        )
        figures = _present({VRS: score, SGR: sgr})
        return Row(VIDEO, len(losses), figures, statement, p_value, to_lose and score.value < 1)

    def things(self, names: Sequence[str]) -> Iterator[Row]:
        """What is named, by how many of the traces that name it do so of a video without it."""
        for name in names:
            named = [
                (trace.sample, judging.existence(name))
                for trace in self.judged.baselines
                if name in judging.named_things(trace.reasoning.claims)
            ]
            verdicts = [(s, self.judged.judgements.of(s, claim).verdict) for s, claim in named]
            known = [(s, verdict) for s, verdict in verdicts if verdict != "unverifiable"]
            if not known:
                continue
            samples = [sample for sample, _ in known]
            shown = [float(verdict == "supported") for _, verdict in known]
            n, never = len(shown), shown.count(0.0)
            figures = _present({SGR: self.figure(samples, shown)})
            flaw = f"in {never} of them the video never shows it"
            statement = f"{{feature}}: {n} traces name it, and {flaw}."
            # A detector misses things too: only what exceeds its own errors is the model's. Traces
            # of one group count as fewer.
            effect = max(design_effect(np.array(shown), Groups.of(samples)), 1.0)
            counted = round(never / effect), max(round(n / effect), 1)
            p_value, large = exceeds_rate_p_value(*counted, TOLERATED), never / n > TOLERATED
            yield Row(NAMED + name, n, figures, statement, p_value, large)


def _because(verdict: Verdict) -> str:
    """What is left open, as the end of a sentence."""
    if verdict.missing is None:
        return ""
    # The nearer deals name what is not shown; all others why nothing is.
    return f" {verdict.missing}" if verdict.word == NEAR_OPEN else f": {verdict.missing}"


def _present(figures: dict[str, Figure | None]) -> dict[str, Figure]:
    return {name: figure for name, figure in figures.items() if figure is not None}


def _reliance_figure(reliance: Reliance | None) -> Figure | None:
    if reliance is None or reliance.score is None:
        return None
    return Figure(reliance.score, *(reliance.interval or (None, None)))


def most_named_things(traces: Sequence[Reasoning], most: int) -> list[str]:
    """The things that several traces name, the commonest first."""
    count = Counter(name for trace in traces for name in judging.named_things(trace.claims))
    several = [name for name, n in count.items() if n > 1]
    return sorted(several, key=lambda name: (-count[name], name))[:most]
