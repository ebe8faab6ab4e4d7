"""Checks that what was measured is grounding, and no accident of the verifier (section 7.3).

Each check has a case in which it fails: a verifier that says yes to everything, or other things
than another one; a verdict that hangs on a few judgements; a model whose words change as much with
the question as with the video. A check is decided by its interval: where that holds the threshold,
it is inconclusive.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, compress

import numpy as np

from cuescope_sdk import Audit, Evidence, Sample, Verdict
from cuescope_sdk.grounding import ClaimVerifier
from cuescope_sdk.report import interval, percent
from cuescope_sdk.statistics import Groups, change_interval, mean_interval
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.rows.keys import REASONING
from cuescope_step_grounding.scores import (
    RELEVANT,
    ChangeCost,
    costs_by_sample,
    mean,
    mean_over_kinds,
)
from cuescope_step_grounding.verification import judging
from cuescope_step_grounding.verification.agreement import agreement
from cuescope_step_grounding.verification.judged import JudgedTraces, judge_claims
from cuescope_step_grounding.verification.judging import ALL
from cuescope_step_grounding.verification.swaps import noisy
from cuescope_step_grounding.verification.verdict import BETTER, SURE

Ends = tuple[float | None, float | None]
LOST = 0.25  # of SGR that counterfactual traces lose at least (section 6: 0.26 to 0.41)
RANDOM = 0.25  # SGR that random traces do not reach (section 7.3: 0.183 +- 0.021)
FEW_WORDS = 20  # distinct random claims: with fewer, a random claim is often true
AGREE = 0.6  # kappa from which agreement is substantial (Landis and Koch, 1977; paper: 0.79)
# of SGR that other pictures should cost more than other words (section 3.5: 0.151)
PICTURES = 0.1
STYLES = 0.1  # SGR by which styles may differ
NOISE = 0.1  # share of judgements that are reversed (section 6: perception noise)
NOISY = 20  # audits with noise, of which one may differ: 5% (Fisher, 1925)
KEPT = 0.95  # share of them that should keep the verdict (Fisher, 1925)


def evidence(audit: Audit) -> Iterator[Evidence]:
    """All checks that this audit allows."""
    judged = audit.once(judging.judge_traces, audit)
    if not judged.answered:
        return
    yield from counterfactual_traces(judged)
    yield from random_claims(judged)
    yield from noise(audit, judged)
    yield from pictures_against_words(audit.once(judging.change_costs, judged))
    yield from styles(audit.options, judged)
    for spec, verifier in audit.once(judging.other_verifiers, audit).items():
        yield another_verifier(audit, judged, spec, verifier)


def within(ends: Ends, low: float, high: float = np.inf) -> Verdict:
    """True of a figure that lies between two thresholds, by its interval."""
    least, most = ends
    if least is None or most is None:
        return "inconclusive"
    if low <= least and most <= high:
        return "supported"
    return "refuted" if most < low or least > high else "inconclusive"


# ------------------------------------------------------------------------------------ the verifier


def _check(
    check: str,
    value: float | None,
    threshold: float,
    n: int,
    verdict: Verdict,
    detail: str,
) -> Evidence:
    """A check of the reasoning."""
    return Evidence(
        check=check,
        feature=REASONING,
        value=value,
        threshold=threshold,
        n=n,
        verdict=verdict,
        detail=detail,
    )


def counterfactual_traces(judged: JudgedTraces) -> Iterator[Evidence]:
    """Traces made wrong lose their support.

    It catches a verifier that says yes to anything grammatical.
    """
    before = [trace.grounding for trace in judged.baselines]
    lost_by = {}
    for name, rates in judged.counterfactual_rates.items():
        samples, losses = _losses(judged.samples, before, rates)
        if len(losses):
            lost_by[name] = float(losses.mean())
    # The changes come one by one, and all together last.
    if ALL not in lost_by:
        return
    lost = lost_by.pop(ALL)
    ends = change_interval(losses, Groups.of(samples))
    verdict = within(ends, LOST)
    # from a low SGR so much cannot be lost
    if verdict == "refuted" and (mean(before) or 0.0) < LOST:
        verdict = "inconclusive"
    parts = ", ".join(f"{name} {percent(loss)}" for name, loss in lost_by.items())
    detail = (
        f"{percent(lost, *ends)} of support is lost when relations, things and times are "
        f"reversed (each alone: {parts})"
    )
    yield _check("counterfactual traces", lost, LOST, len(losses), verdict, detail)


def _losses(
    samples: Sequence[Sample],
    before: Sequence[float | None],
    after: Sequence[float | None],
) -> tuple[list[Sample], np.ndarray]:
    """What each trace lost, where that is known, and of which sample it is."""
    # as floats, for which a missing rate is NaN
    losses = np.array(before, float) - np.array(after, float)
    measured = ~np.isnan(losses)
    return list(compress(samples, measured)), losses[measured]


def random_claims(judged: JudgedTraces) -> Iterator[Evidence]:
    """Claims drawn from the words of the data set should hold by luck alone, and so rarely.

    It catches a verifier that sees anything that it is asked for. The verdict has its own test:
    this one is of the verifier.
    """
    # lost against nothing is the rate itself
    samples, values = _losses(
        judged.samples,
        judged.random_rates,
        [0.0] * len(judged.samples),
    )
    if not len(values):
        return
    rate = float(values.mean())
    ends = mean_interval(values, Groups.of(samples))
    verdict = within(ends, -np.inf, RANDOM)
    detail = (
        f"the video supports {percent(rate, *ends)} of claims that are drawn at random from the "
        "words of the data set (paper: 18.3%)"
    )
    if judged.random_wordings < FEW_WORDS:
        detail += f"; there are only {judged.random_wordings} such claims, so many are true by luck"
        verdict = "inconclusive" if verdict == "refuted" else verdict
    yield _check("random claims", rate, RANDOM, len(values), verdict, detail)


# ------------------------------------------------------------------------------------- the verdict


def noise(audit: Audit, judged: JudgedTraces) -> Iterator[Evidence]:
    """Whether the verdict stands where the verifier errs more.

    It catches a verdict that hangs on a few judgements: with so many of them reversed, here and in
    the other videos alike, the test is made again.
    """
    videos = judged.swaps.get("videos")
    verdict = audit.once(judging.verdict_of, audit, judged)
    if videos is None or verdict.word != BETTER:
        return
    kept = 0
    for copy in map(str, range(NOISY)):
        reversed_ = noisy(videos, NOISE, audit.rng("noise", copy))
        kept += reversed_.fits(reversed_.table(), SURE)
    share = kept / NOISY
    detail = (
        f"with {percent(NOISE)} of the judgements reversed at random, {kept} of {NOISY} "
        "audits still find the reasoning better than random"
    )
    decided: Verdict = "refuted" if share < 0.5 else "inconclusive"
    decided = "supported" if share >= KEPT else decided
    yield _check(
        "verifier noise",
        share,
        KEPT,
        len(videos.unit),
        decided,
        detail,
    )


def pictures_against_words(costs: Sequence[ChangeCost]) -> Iterator[Evidence]:
    """The counter-causal control: other pictures cost more than other words (section 3.5).

    It catches reasoning that changes with any change of the input.
    """
    samples = []
    rows = []
    for of_sample in costs_by_sample(costs):
        pictures = mean_over_kinds(of_sample, RELEVANT, "lost")
        words = mean_over_kinds(of_sample, ("paraphrase",), "lost")
        if pictures is not None and words is not None:
            samples.append(of_sample[0].sample)
            rows.append((pictures, words))
    if not rows:
        return
    changed, reworded = np.array(rows).T
    more = changed - reworded
    # Two losses can differ by more than 1, the bound of the interval.
    scale = max(1.0, float(np.abs(more).max()))
    low, high = change_interval(more / scale, Groups.of(samples))
    ends = (scale * (low or 0.0), scale * (high or 0.0))
    value = float(more.mean())
    yield _check(
        "pictures against words",
        value,
        PICTURES,
        len(rows),
        within(ends, PICTURES),
        f"{percent(float(changed.mean()))} of support is lost when the video changes, "
        f"{percent(float(reworded.mean()))} when the question is paraphrased: "
        f"{percent(value, *ends, unit=' points more')} (paper: 18.2 and 3.1)",
    )


def styles(options: StepGroundingOptions, judged: JudgedTraces) -> Iterator[Evidence]:
    """Whether another way of asking finds another support, sample by sample.

    It catches a figure that is one of the prompt, and not of the model.
    """
    before = {trace.sample.key: trace.grounding for trace in judged.baselines}
    for style in dict.fromkeys(options.also):
        samples = []
        rows = []
        for trace in judged.in_style(style):
            first = before[trace.sample.key]
            if trace.grounding is not None and first is not None:
                samples.append(trace.sample)
                rows.append((trace.grounding, first))
        if not rows:
            continue
        other, plain = np.mean(rows, axis=0)
        changes = -np.diff(rows)[:, 0]
        ends = change_interval(changes, Groups.of(samples))
        change = float(changes.mean())
        yield _check(
            f"asked in the style {style}",
            abs(change),
            STYLES,
            len(rows),
            within(ends, -STYLES, STYLES),
            f"SGR {other:.1%} instead of {plain:.1%}: "
            f"{percent(change, *ends, unit=' points')}",
        )


# -------------------------------------------------------------------------------------- agreement


def another_verifier(
    audit: Audit,
    judged: JudgedTraces,
    spec: str,
    verifier: ClaimVerifier,
) -> Evidence:
    """Whether another verifier says the same, claim by claim.

    It catches figures that are one verifier's own.
    """
    cases = []
    for trace in judged.baselines:
        # said twice it is still one judgement
        claims = dict.fromkeys(chain.from_iterable(trace.reasoning.claims))
        cases.append((trace.sample, claims))
    other = judge_claims(verifier, cases)
    first = judged.judgements
    check = f"verifier {spec}"
    sgr = judged.mean_rate(other)
    if sgr is None:
        return Evidence(
            check=check,
            feature=REASONING,
            verdict="inconclusive",
            detail="it could verify no claim",
        )
    pairs = []
    for sample, claims in cases:
        for claim in claims:
            verdict = first.of(sample, claim).verdict
            pairs.append((sample, verdict, other.of(sample, claim).verdict))
    rates = f"SGR {sgr:.1%} instead of {judged.mean_rate(first) or 0.0:.1%}; "
    return _compare(audit, check, rates, pairs, spec)


def _compare(
    audit: Audit,
    check: str,
    detail: str,
    pairs: Sequence[tuple[Sample, str, str]],
    judge: str,
) -> Evidence:
    agreed = agreement(
        pairs,
        audit.rng("agreement", judge),
    )
    detail += f"both decide {agreed.decided} of {agreed.claims} claims"
    if agreed.decided:
        detail += f", {percent(agreed.alike)} of them alike"
    if agreed.kappa is None:
        detail += "; kappa needs claims of both verdicts"
    else:
        ends = interval(agreed.low, agreed.high, "{:.2f}".format)
        detail += f"; kappa {agreed.kappa:.2f}{ends}"
    return _check(
        check,
        agreed.kappa,
        AGREE,
        agreed.claims,
        within((agreed.low, agreed.high), AGREE),
        detail,
    )
