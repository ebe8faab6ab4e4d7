"""Checks that what was measured is grounding, and no accident of the verifier (section 7.3)."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Evidence, generator
from cuescope_sdk.grounding import Case, ClaimVerifier, Judgement, negate
from cuescope_sdk.maths import exchange_p_value
from cuescope_sdk.report import percent
from cuescope_step_grounding.claims.contents import all_claims
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.report import REASONING
from cuescope_step_grounding.scores import RELEVANT, ChangeCost, known, mean
from cuescope_step_grounding.verification import judging
from cuescope_step_grounding.verification.controls import opposite_words
from cuescope_step_grounding.verification.judging import ALL, JudgedTraces

LOST = 0.25  # of SGR that counterfactual traces should lose at least (paper: 0.26)
RANDOM = 0.25  # SGR that random traces should not reach (paper: 0.18)
APART = 0.08  # by which verifiers differ in the paper (section 3.2)
ABLE = 0.5  # SGR from which so much can be lost; false claims turned round may become true
STYLES = 0.1  # SGR by which styles may differ
FEWEST = 5  # samples from which random reasoning can be refuted


def evidence(audit: Audit) -> Iterator[Evidence]:
    """All checks that this audit allows."""
    judged = audit.once(judging.judge_traces, audit)
    if not judged.answered:
        return
    sgr = mean(trace.grounding for trace in judged.baselines) or 0.0
    yield from counterfactual_traces(judged, sgr)
    yield from random_reasoning(audit, judged, sgr)
    yield from noise(audit, judged, sgr)
    yield from pictures_against_words(audit.options, audit.once(judging.change_costs, judged))
    yield from styles(audit.options, judged, sgr)
    for spec, verifier in audit.once(judging.other_verifiers, audit).items():
        yield another_verifier(judged, spec, verifier, sgr)


def counterfactual_traces(judged: JudgedTraces, sgr: float) -> Iterator[Evidence]:
    """Traces made wrong lose their support; else the verifier likes anything grammatical."""
    drops = {
        change: _mean_loss(judged, rates) for change, rates in judged.counterfactual_rates.items()
    }
    lost = {change: drop for change, drop in drops.items() if drop is not None}
    if ALL not in lost:
        return
    parts = ", ".join(f"{name} {percent(drop)}" for name, drop in lost.items() if name != ALL)
    steps = [step for trace in judged.baselines for step in trace.reasoning.trace.steps]
    example = next((step for step in steps if opposite_words(step) != step), "")
    quote = f'; for example "{opposite_words(example)}"' if example else ""
    # From a low SGR little can be lost, so a small loss refutes only where there was enough.
    failed = "refuted" if sgr >= ABLE else "inconclusive"
    yield Evidence(
        check="counterfactual traces",
        feature=REASONING,
        value=lost[ALL],
        threshold=LOST,
        n=len(judged.answered),
        verdict="supported" if lost[ALL] >= LOST else failed,
        detail=f"{percent(lost[ALL])} of support is lost when relations, things and times are "
        f"reversed (each alone: {parts}){quote}",
    )


def _mean_loss(judged: JudgedTraces, rates: Sequence[float | None]) -> float | None:
    return mean(
        trace.grounding - rate
        for trace, rate in zip(judged.baselines, rates, strict=True)
        if trace.grounding is not None and rate is not None
    )


def random_reasoning(audit: Audit, judged: JudgedTraces, sgr: float) -> Iterator[Evidence]:
    """Sampled claims hold by luck alone, and the model's hold more often."""
    own, random = judged.against_random()
    if not len(own):
        return
    p_value = exchange_p_value(own, random, audit.rng("against random"))
    share, spread = float(random.mean()), float(random.mean(axis=0).std())
    above = p_value <= audit.options.level
    failed = "inconclusive" if above or len(own) < FEWEST else "refuted"
    yield Evidence(
        check="random reasoning",
        feature=REASONING,
        value=share,
        threshold=RANDOM,
        n=len(own),
        verdict="supported" if above and share < RANDOM else failed,
        detail=f"the video supports {percent(share)} (\N{PLUS-MINUS SIGN} {100 * spread:.1f}) of "
        f"claims drawn from the words of the data set, and {percent(sgr)} of the model's claims "
        f"(p = {p_value:.2g})",
    )


def noise(audit: Audit, judged: JudgedTraces, sgr: float) -> Iterator[Evidence]:
    """Whether the steps still stand out from random ones where the verifier errs more."""
    rate = audit.options.noise
    random = mean(share for rates in judged.random_rates for share in rates)
    if not rate or random is None:
        return
    noisy = NoisyVerifier(judged.judgements, rate, audit.derive_seed("noise"))
    rates = _rates(judged, noisy)
    # Reversing judgements moves random steps towards one half too: that is the new null.
    after, luck = mean(rates) or 0.0, random * (1 - rate) + (1 - random) * rate
    yield Evidence(
        check="verifier noise",
        feature=REASONING,
        value=after,
        threshold=luck,
        n=len(known(rates)),
        verdict="supported" if after > luck else "refuted",
        detail=f"with {percent(rate)} of the judgements reversed, SGR goes from {percent(sgr)} to "
        f"{percent(after)}, and that of random steps from {percent(random)} to {percent(luck)}",
    )


class NoisyVerifier:
    """A verifier with each decided judgement reversed at this rate (0.1: one in ten).

    Whether a judgement is reversed depends on the seed, the sample and the claim's place alone.
    """

    def __init__(self, verifier: ClaimVerifier, rate: float, seed: int) -> None:
        self._verifier, self._rate, self._seed = verifier, rate, seed

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        noisy = []
        for (sample, _), judgements in zip(cases, self._verifier.judge(cases), strict=True):
            draws = generator(self._seed, "noise", sample.key).random(len(judgements))
            pairs = zip(judgements, draws < self._rate, strict=True)
            noisy.append([negate(judgement) if turn else judgement for judgement, turn in pairs])
        return noisy


def pictures_against_words(
    options: StepGroundingOptions, costs: Sequence[ChangeCost]
) -> Iterator[Evidence]:
    """The counter-causal control: other pictures cost more than other words (section 3.5)."""
    pictures = mean(cost.lost for cost in costs if cost.kind in RELEVANT)
    words = mean(cost.lost for cost in costs if cost.kind == "paraphrase")
    if pictures is None or words is None:
        return
    yield Evidence(
        check="pictures against words",
        feature=REASONING,
        value=pictures - words,
        threshold=options.margin,
        n=sum(cost.lost is not None for cost in costs),
        verdict="supported" if pictures - words > options.margin else "refuted",
        detail=f"{percent(pictures)} of support is lost when the video changes, {percent(words)} "
        "when the question is paraphrased (paper: 18.2 and 3.1)",
    )


def styles(options: StepGroundingOptions, judged: JudgedTraces, sgr: float) -> Iterator[Evidence]:
    """Whether another way of asking finds another support."""
    for style in dict.fromkeys(options.also):
        rates = known(trace.grounding for trace in judged.in_style(style))
        if rates:
            yield _comparison(f"asked in the style {style}", rates, sgr, STYLES)


def another_verifier(
    judged: JudgedTraces, spec: str, verifier: ClaimVerifier, sgr: float
) -> Evidence:
    rates = known(_rates(judged, verifier))
    if rates:
        return _comparison(f"verifier {spec}", rates, sgr, APART)
    return Evidence(
        check=f"verifier {spec}",
        feature=REASONING,
        verdict="inconclusive",
        detail="it could verify no claim",
    )


def _comparison(check: str, rates: Sequence[float], sgr: float, threshold: float) -> Evidence:
    other = float(np.mean(rates))
    return Evidence(
        check=check,
        feature=REASONING,
        value=abs(other - sgr),
        threshold=threshold,
        n=len(rates),
        verdict="supported" if abs(other - sgr) <= threshold else "refuted",
        detail=f"SGR {other:.1%} instead of {sgr:.1%}",
    )


def _rates(judged: JudgedTraces, verifier: ClaimVerifier) -> list[float | None]:
    traces = judged.baselines
    claims = ((trace.sample, all_claims([trace.reasoning.claims])) for trace in traces)
    judgements = judging.judge_claims(verifier, claims)
    return [judgements.rate(trace.sample, trace.reasoning.claims, trace.policy) for trace in traces]
