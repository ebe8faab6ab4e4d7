"""The lines of the report, each with its figures and the test behind its sentence."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress

import numpy as np

from cuescope_sdk import Audit, Sample
from cuescope_sdk.grounding import KINDS
from cuescope_sdk.report import percent
from cuescope_sdk.statistics import (
    Groups,
    change_interval,
    change_p_value,
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
    points,
    rates_of_stage,
    ratio,
    share,
)
from cuescope_step_grounding.trials import Reasoning
from cuescope_step_grounding.verification import judging, summaries
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces
from cuescope_step_grounding.verification.verdict import (
    BETTER,
    NEAR_OPEN,
    NO_BETTER,
    OPEN,
    Verdict,
)

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
    names = most_named_things(
        [trace.reasoning for trace in judged.baselines], audit.options.things
    )
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


@dataclass(frozen=True)
class _Rows:
    """The lines of one audit, each drawn from its own generator."""

    audit: Audit
    judged: JudgedTraces

    @property
    def options(self) -> StepGroundingOptions:
        options: StepGroundingOptions = self.audit.options
        return options

    def figure(
        self,
        samples: Sequence[Sample],
        values: Iterable[float | None],
        interval: Callable[..., tuple[float | None, float | None]] = mean_interval,
    ) -> Figure | None:
        """The mean of what is known, over samples, with the interval of whole groups."""
        numbers = np.array(list(values), dtype=np.float64)
        measured = ~np.isnan(numbers)
        if not measured.any():
            return None
        groups = Groups.of(list(compress(samples, measured)))
        ends = interval(numbers[measured], groups, confidence=self.options.confidence)
        return Figure(float(numbers[measured].mean()), *ends)

    def rate(self, traces: Sequence[JudgedTrace], name: str) -> Figure | None:
        """A figure of each trace, over traces."""
        return self.figure(
            [t.sample for t in traces], [getattr(t, name) for t in traces]
        )

    def p_value(
        self, samples: Sequence[Sample], values: np.ndarray, name: str
    ) -> float:
        """One-sided, of a mean above 0; whole groups change their sign."""
        rng = self.audit.rng(name)
        return change_p_value(values, Groups.of(samples), rng, alternative="greater")

    def figures(self, traces: Sequence[JudgedTrace]) -> dict[str, Figure]:
        return _present(
            {
                SGR: self.rate(traces, "grounding"),
                HR: self.rate(traces, "hallucination"),
            }
        )

    def reasoning(self, reliance: Reliance | None) -> Row:
        """All steps together, beside the same claims in other videos."""
        baselines = self.judged.baselines
        answered = self.judged.answered
        of_all = {
            TCS: self.rate(baselines, "consistency"),
            ACC: self.rate(baselines, "accuracy"),
            VRS: _reliance_figure(reliance),
        }
        figures = self.figures(answered) | _present(of_all)
        if SGR not in figures:
            why = summaries.why_unmeasured(self.audit, self.judged)
            return Row(REASONING, 0, figures, f"{{feature}}: {why}.")
        verdict = self.audit.once(judging.verdict_of, self.audit, self.judged)
        opening = f"{{feature}} {OPENINGS[verdict.word]}{_because(verdict)}."
        statement = " ".join([opening, *self._support(verdict, figures)])
        p_value = verdict.p_value
        return Row(
            REASONING, len(answered), figures, statement, p_value, verdict=verdict.word
        )

    def _support(
        self, verdict: Verdict, figures: Mapping[str, Figure]
    ) -> Iterator[str]:
        """The figures behind the verdict, a sentence each."""
        yield f"{summaries.claim_shares(self.judged)}."
        support = f"On average the video supports {share(figures[SGR])} of the claims in a step"
        if verdict.elsewhere is not None:
            support += f"; of the same claims in other videos {percent(verdict.elsewhere)} hold"
        yield f"{support}."
        if verdict.share is not None:
            grounded = Figure(
                verdict.share.value, verdict.share.low, verdict.share.high
            )
            yield f"Beyond chance {share(grounded)} of the claims go with their own video."
        if HR in figures:
            yield f"{share(figures[HR])} of the steps make at least one unsupported claim."
        groups = self.judged.groups
        if groups.few:
            yield f"These are few samples: {summaries.count_groups(groups)}."

    def kinds(self) -> Iterator[Row]:
        """The claims of each kind that is made."""
        for kind in KINDS:
            traces = []
            for trace in self.judged.baselines:
                of_kind = judging.claims_of_kind(trace, kind, self.judged.judgements)
                if of_kind.grounding is not None:
                    traces.append(of_kind)
            if traces:
                yield Row(OF_KIND + kind, len(traces), self.figures(traces))

    def stages(self) -> Iterator[Row]:
        """Early, middle and late steps; what is lost on the way is told of the late ones."""
        samples = [trace.sample for trace in self.judged.baselines]
        rates: dict[Stage, list[float | None]] = {}
        for stage in STAGES:
            pairs = [
                self._rates_of_stage(trace, stage) for trace in self.judged.baselines
            ]
            rates[stage] = [rate for rate, _ in pairs]
            sgr = self.figure(samples, rates[stage])
            hr = self.figure(samples, [rate for _, rate in pairs])
            if sgr is not None and hr is not None:
                n = len(pairs) - rates[stage].count(None)
                decay = self._decay(samples, rates) if stage == "late" else ()
                yield Row(OF_STAGE + stage, n, {SGR: sgr, HR: hr}, *decay)

    def _rates_of_stage(
        self, trace: JudgedTrace, stage: Stage
    ) -> tuple[float | None, float | None]:
        options = self.options
        return rates_of_stage(
            trace.steps, stage, options.unverifiable, options.hallucination_over
        )

    def _decay(
        self, samples: Sequence[Sample], rates: Mapping[Stage, Sequence[float | None]]
    ) -> tuple[str, float, bool] | tuple[()]:
        """What is lost on the way, in words; its p-value; whether it is large."""
        early, late = np.array([rates["early"], rates["late"]], np.float64)
        # a loss needs both ends of a trace
        measured = ~np.isnan(early - late)
        samples = list(compress(samples, measured))
        losses = (early - late)[measured]
        loss = self.figure(samples, losses, change_interval)
        if loss is None:
            return ()
        statement = (
            f"{{feature}}: support falls by {points(loss)}, from "
            f"{percent(float(early[measured].mean()))} of the claims in the first quarter of the "
            f"steps to {percent(float(late[measured].mean()))} in the last quarter."
        )
        p_value = self.p_value(samples, losses, "decay")
        return statement, p_value, loss.value > self.options.margin

    def answers(self) -> Row | None:
        """Right answers, and what the steps before them are worth; None where none is known."""
        answered = [
            trace for trace in self.judged.answered if trace.accuracy is not None
        ]
        right = [trace for trace in answered if trace.accuracy]
        figures = self.figures(right)
        accuracy = self.rate(answered, "accuracy")
        if SGR not in figures or accuracy is None:
            return None
        gap = np.array(
            [(trace.accuracy or 0.0) - (trace.grounding or 0.0) for trace in answered]
        )
        statement = (
            f"{{feature}}: {share(accuracy)} of the answers are right, but the video does not "
            f"support {percent(1 - figures[SGR].value)} of the claims in the steps before a right "
            "answer."
        )
        p_value = self.p_value([trace.sample for trace in answered], gap, "answers")
        large = float(gap.mean()) > self.options.margin
        return Row(
            ANSWERS, len(right), figures | {ACC: accuracy}, statement, p_value, large
        )

    def video(self, reliance: Reliance, support: Figure | None) -> Row | None:
        """What changed videos cost; told where it is nothing, and there was something to lose."""
        # its lower end: of few samples the mean may be high by luck
        to_lose = support is not None and (support.low or 0.0) >= TO_LOSE
        losses = reliance.drops[:, 0]
        score = _reliance_figure(reliance)
        if not len(losses) or score is None:
            return None
        ends = change_interval(
            losses, reliance.groups, confidence=self.options.confidence
        )
        loss = Figure(float(losses.mean()), *ends)
        variants = self.judged.variants
        changed = [
            trace for trace in variants if trace.reasoning.request.change in RELEVANT
        ]
        statement = (
            "{feature}: the reasoning does not change when the video does. When things are moved "
            f"or hidden, or the frames are reordered, support changes by only {points(loss)} "
            f"(visual reliance, VRS: {ratio(score)})."
        )
        # turned round, for what has to be shown is that less than the margin is lost
        less = self.options.margin - losses
        rng = self.audit.rng(VIDEO)
        p_value = change_p_value(less, reliance.groups, rng, alternative="greater")
        figures = _present({VRS: score, SGR: self.rate(changed, "grounding")})
        return Row(
            VIDEO, len(losses), figures, statement, p_value, to_lose and score.value < 1
        )

    def things(self, names: Sequence[str]) -> Iterator[Row]:
        """What is named, by how many of the traces that name it do so of a video without it."""
        for name in names:
            samples = []
            shown = []
            for trace in self.judged.baselines:
                if name in judging.named_things(trace.reasoning.claims):
                    judgement = self.judged.judgements.of(
                        trace.sample, judging.existence(name)
                    )
                    # what could not be checked is neither shown nor missing
                    if judgement.verdict != "unverifiable":
                        samples.append(trace.sample)
                        shown.append(float(judgement.verdict == "supported"))
            if not samples:
                continue
            n = len(shown)
            never = shown.count(0.0)
            flaw = f"in {never} of them the video never shows it"
            statement = f"{{feature}}: {n} traces name it, and {flaw}."
            # A detector misses things too: only what exceeds its own errors is the model's. Traces
            # of one group count as fewer.
            effect = Groups.of(samples).design_effect(np.array(shown))
            counted = (round(never / effect), max(round(n / effect), 1))
            p_value = exceeds_rate_p_value(*counted, TOLERATED)
            figures = _present({SGR: self.figure(samples, shown)})
            yield Row(
                NAMED + name, n, figures, statement, p_value, never / n > TOLERATED
            )


def _because(verdict: Verdict) -> str:
    """What is left open, as the end of a sentence."""
    if verdict.missing is None:
        return ""
    # The nearer deals name what is not shown; all others why nothing is.
    return (
        f" {verdict.missing}" if verdict.word == NEAR_OPEN else f": {verdict.missing}"
    )


def _present(figures: dict[str, Figure | None]) -> dict[str, Figure]:
    return {name: figure for name, figure in figures.items() if figure is not None}


def _reliance_figure(reliance: Reliance | None) -> Figure | None:
    if reliance is None or reliance.score is None:
        return None
    return Figure(reliance.score, *(reliance.interval or (None, None)))


def most_named_things(traces: Sequence[Reasoning], most: int) -> list[str]:
    """The things that several traces name, the commonest first."""
    count: Counter[str] = Counter()
    for trace in traces:
        # each trace once, however often it names a thing
        count.update(judging.named_things(trace.claims))
    several = [name for name, n in count.items() if n > 1]
    # by name too, so that things named equally often keep one order
    return sorted(several, key=lambda name: (-count[name], name))[:most]
