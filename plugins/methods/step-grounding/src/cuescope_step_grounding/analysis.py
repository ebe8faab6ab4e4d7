"""Results: what is measured of each part, the test behind its sentence, and which are findings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from operator import attrgetter

import numpy as np

from cuescope_sdk import Audit, Occurrence, Sample
from cuescope_sdk.grounding import ClaimKind
from cuescope_sdk.statistics import (
    Groups,
    benjamini_hochberg,
    change_interval,
    change_p_value,
    exceeds_rate_p_value,
    mean_interval,
)
from cuescope_step_grounding.rows.keys import (
    ACC,
    ANSWERS,
    HR,
    LATE,
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
    rates_of_stage,
)
from cuescope_step_grounding.trials import Reasoning
from cuescope_step_grounding.verification import judging
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces
from cuescope_step_grounding.verification.verdict import Verdict

TOLERATED = 0.1  # share of a detector's own errors: 2 to 8 % in the paper (section 6)


@dataclass(frozen=True)
class Result:
    """What is measured of one part: a row of the report.

    `p_value` is of the test behind its sentence, which is told where the effect is `large`; `told`
    are figures that the sentence names beside the others. `verdict` is that on the reasoning as a
    whole, which is told whatever it is.
    """

    feature: str
    n: int
    figures: Mapping[str, Figure]
    p_value: float | None = None
    large: bool = False
    told: Mapping[str, Figure] = field(default_factory=dict)
    verdict: Verdict | None = None


def results_of(
    audit: Audit,
    judged: JudgedTraces,
    reliance: Reliance | None,
) -> list[Result]:
    """The verdict first, then the parts."""
    analysis = _Analysis(audit, judged)
    whole = analysis.reasoning(reliance)
    results = [whole, *analysis.answers()]
    if reliance is not None:
        results += analysis.video(reliance, whole.figures.get(SGR))
    return [*results, *analysis.stages(), *analysis.kinds(), *analysis.things()]


@dataclass(frozen=True)
class _Analysis:
    """What is measured of one audit, each test with its own generator."""

    audit: Audit
    judged: JudgedTraces

    def figure(
        self,
        samples: Sequence[Sample],
        values: Iterable[float | None],
        interval: Callable[..., tuple[float | None, float | None]] = mean_interval,
    ) -> Figure | None:
        """The mean of what is known, over samples, with the interval of whole groups."""
        # as floats, for which a missing value is NaN
        numbers = np.array(list(values), float)
        measured = ~np.isnan(numbers)
        if not measured.any():
            return None
        ends = interval(
            numbers[measured],
            Groups.of(list(compress(samples, measured))),
        )
        return Figure(float(numbers[measured].mean()), *ends)

    def rate(self, traces: Sequence[JudgedTrace], name: str) -> Figure | None:
        """A figure of each trace, over traces."""
        samples = [trace.sample for trace in traces]
        return self.figure(samples, map(attrgetter(name), traces))

    def figures(self, traces: Sequence[JudgedTrace]) -> dict[str, Figure]:
        return _present(
            {
                SGR: self.rate(traces, "grounding"),
                HR: self.rate(traces, "hallucination"),
            }
        )

    def p_value(self, values: np.ndarray, groups: Groups, name: str) -> float:
        """Of a mean above 0, by the interval of whole groups."""
        return change_p_value(
            values,
            groups,
            self.audit.rng(name),
            alternative="greater",
        )

    def reasoning(self, reliance: Reliance | None) -> Result:
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
            return Result(REASONING, 0, figures)
        verdict = self.audit.once(judging.verdict_of, self.audit, self.judged)
        return Result(
            REASONING,
            len(answered),
            figures,
            verdict.p_value,
            verdict=verdict,
        )

    def kinds(self) -> Iterator[Result]:
        """The claims of each kind that is made."""
        for kind in ClaimKind.declared:
            traces = []
            for trace in self.judged.baselines:
                of_kind = judging.claims_of_kind(trace, kind, self.judged.judgements)
                if of_kind.grounding is not None:
                    traces.append(of_kind)
            if traces:
                yield Result(OF_KIND + kind, len(traces), self.figures(traces))

    def stages(self) -> Iterator[Result]:
        """Early, middle and late steps; what is lost on the way is told of the late ones."""
        options = self.audit.options
        samples = self.judged.samples
        early = np.array([])
        for stage in STAGES:
            rates = []
            for trace in self.judged.baselines:
                of_stage = rates_of_stage(
                    trace.steps,
                    stage,
                    options.unverifiable,
                    over_all=options.paper,
                )
                rates.append(of_stage)
            supported, false = np.array(rates, float).reshape(-1, 2).T
            if stage == "early":
                early = supported
            sgr = self.figure(samples, supported)
            hr = self.figure(samples, false)
            if sgr is None or hr is None:
                continue
            result = Result(
                OF_STAGE + stage,
                int(np.isfinite(supported).sum()),
                {SGR: sgr, HR: hr},
            )
            if result.feature == LATE:
                result = self._with_decay(result, early, supported)
            yield result

    def _with_decay(
        self,
        result: Result,
        early: np.ndarray,
        late: np.ndarray,
    ) -> Result:
        """With what is lost on the way."""
        # a loss needs both ends of a trace
        measured = np.isfinite(early - late)
        samples = list(compress(self.judged.samples, measured))
        losses = (early - late)[measured]
        loss = self.figure(samples, losses, change_interval)
        if loss is None:
            return result
        told = {
            "loss": loss,
            "early": Figure(float(early[measured].mean())),
            "late": Figure(float(late[measured].mean())),
        }
        return replace(
            result,
            p_value=self.p_value(losses, Groups.of(samples), "decay"),
            large=loss.value > self.audit.options.margin,
            told=told,
        )

    def answers(self) -> Iterator[Result]:
        """Right answers, and what the steps before them are worth; none where none is known."""
        marked = [trace for trace in self.judged.answered if trace.accuracy is not None]
        right = [trace for trace in marked if trace.accuracy]
        figures = self.figures(right)
        accuracy = self.rate(marked, "accuracy")
        if SGR not in figures or accuracy is None:
            return
        rates = list(map(attrgetter("accuracy", "grounding"), marked))
        gap = -np.diff(np.array(rates, float))[:, 0]
        groups = Groups.of([trace.sample for trace in marked])
        yield Result(
            ANSWERS,
            len(right),
            figures | {ACC: accuracy},
            self.p_value(gap, groups, "answers"),
            large=float(gap.mean()) > self.audit.options.margin,
        )

    def video(self, reliance: Reliance, support: Figure | None) -> Iterator[Result]:
        """What changed videos cost; told where it is nothing, and there was something to lose."""
        # its lower end: of few samples the mean may be high by luck
        margin = self.audit.options.margin
        to_lose = support is not None and (support.low or 0.0) > margin
        losses = reliance.drops
        score = _reliance_figure(reliance)
        if not len(losses) or score is None:
            return
        groups = reliance.groups
        ends = change_interval(losses, groups)
        variants = self.judged.variants
        changed = [t for t in variants if t.reasoning.request.change in RELEVANT]
        yield Result(
            VIDEO,
            len(losses),
            _present({VRS: score, SGR: self.rate(changed, "grounding")}),
            # turned round, for what has to be shown is that less than the margin is lost
            self.p_value(margin - losses, groups, VIDEO),
            large=to_lose and score.value < 1,
            told={"loss": Figure(float(losses.mean()), *ends)},
        )

    def things(self) -> Iterator[Result]:
        """What is named, by how many of the traces that name it do so of a video without it."""
        traces = list(map(attrgetter("reasoning"), self.judged.baselines))
        for name in named_by_several(traces):
            samples = []
            shown = []
            for sample, verdict in judging.verdicts_on_thing(self.judged, name):
                # what could not be checked is neither shown nor missing
                if verdict != "unverifiable":
                    samples.append(sample)
                    shown.append(float(verdict == "supported"))
            sgr = self.figure(samples, shown)
            if sgr is None:
                continue
            n = len(shown)
            never = shown.count(0.0)
            # A detector misses things too: only what exceeds its own errors is the model's. Traces
            # of one group count as fewer.
            effect = Groups.of(samples).design_effect(np.array(shown))
            yield Result(
                NAMED + name,
                n,
                {SGR: sgr},
                exceeds_rate_p_value(
                    round(never / effect),
                    max(round(n / effect), 1),
                    TOLERATED,
                ),
                large=never / n > TOLERATED,
                told={"never": Figure(never)},
            )


def _present(figures: dict[str, Figure | None]) -> dict[str, Figure]:
    return {name: figure for name, figure in figures.items() if figure is not None}


def _reliance_figure(reliance: Reliance | None) -> Figure | None:
    if reliance is None or reliance.score is None:
        return None
    return Figure(reliance.score, *(reliance.interval or (None, None)))


def rank(
    results: Sequence[Result], level: float
) -> list[tuple[Result, float | None, bool]]:
    """Each result with its q-value and whether it is a finding; findings first, then by support.

    The tests are corrected for their number (Benjamini and Hochberg). Single things come after
    what is said of the whole.
    """
    ranked = []
    q_values = benjamini_hochberg(list(map(attrgetter("p_value"), results)))
    for result, q_value in zip(results, q_values, strict=True):
        finding = result.large and q_value is not None and q_value <= level
        ranked.append((result, q_value, finding))

    def order(part: tuple[Result, float | None, bool]) -> tuple[bool, bool, float]:
        result, _, finding = part
        # without a rate there is nothing to worry about: last
        sgr = result.figures.get(SGR, Figure(1.0))
        return not finding, result.feature.startswith(NAMED), sgr.value

    return sorted(ranked, key=order)


def named_by_several(traces: Sequence[Reasoning]) -> list[str]:
    """The things that several traces name, the commonest first."""
    count: Counter[str] = Counter()
    for trace in traces:
        # each trace once, however often it names a thing
        count.update(judging.named_things(trace.claims))
    several = [name for name, n in count.items() if n > 1]
    # by name too, so that things named equally often keep one order
    return sorted(several, key=lambda name: (-count[name], name))


def occurrences_of(traces: Sequence[Reasoning], name: str) -> tuple[Occurrence, ...]:
    """Where traces name a thing, each trace once."""
    occurrences = []
    for trace in traces:
        claims = chain.from_iterable(trace.claims)
        said = [c for c in claims if (c.kind, c.subject) == ("entity", name)]
        if said:
            # () means frames that the video does not have, so there is nothing to show
            frame = next((claim.frames[0] for claim in said if claim.frames), None)
            occurrences.append(Occurrence(sample=trace.sample.key, frame=frame))
    return tuple(occurrences)
