"""Checks that what was measured is grounding, and no accident of the verifier (section 7.3).

Each check has a case in which it fails: a verifier that says yes to everything, or the same of
every video, or that disagrees with people; a verdict that hangs on a few judgements; a model whose
words change as much with the question as with the video. A check is decided by its interval: where
that holds the threshold, it is inconclusive.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Evidence, Sample, Verdict
from cuescope_sdk.grounding import ClaimVerifier
from cuescope_sdk.report import hundredths, interval, percent
from cuescope_sdk.statistics import Groups, change_interval, mean_interval
from cuescope_step_grounding.claims.contents import all_claims
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.report import labels_of
from cuescope_step_grounding.rows.keys import REASONING
from cuescope_step_grounding.scores import (
    RELEVANT,
    ChangeCost,
    costs_by_sample,
    known,
    mean,
    mean_over_kinds,
)
from cuescope_step_grounding.verification import judging
from cuescope_step_grounding.verification.agreement import Agreement, agreement
from cuescope_step_grounding.verification.controls import opposite_words
from cuescope_step_grounding.verification.correction import corrected
from cuescope_step_grounding.verification.judged import JudgedTraces, judge_claims
from cuescope_step_grounding.verification.judging import ALL
from cuescope_step_grounding.verification.swaps import noisy, swap_p_value
from cuescope_step_grounding.verification.verdict import BETTER, SURE

LOST = 0.25  # of SGR that counterfactual traces should lose at least (paper: 0.26)
RANDOM = 0.25  # SGR that random traces should not reach (paper: 0.18)
FEW_WORDS = 20  # distinct random claims: with fewer, a random claim is often true
TOLD_APART = 0.1  # share of claims that should be true in some videos and false in others
AGREE = 0.6  # kappa from which agreement is substantial (Landis and Koch, 1977; paper: 0.79)
ABLE = 0.5  # SGR from which so much can be lost; false claims turned round may become true
PICTURES = 0.1  # of SGR that other pictures should cost more than other words (paper: 0.15)
STYLES = 0.1  # SGR by which styles may differ
NOISY, KEPT = 20, 0.95  # audits with noise, and the share of them that should keep the verdict
NOISY_DRAWS = 1999  # of the permutation test of each


def evidence(audit: Audit) -> Iterator[Evidence]:
    """All checks that this audit allows."""
    judged = audit.once(judging.judge_traces, audit)
    if not judged.answered:
        return
    options: StepGroundingOptions = audit.options
    yield from videos_told_apart(judged)
    yield from counterfactual_traces(judged)
    yield from random_claims(judged)
    yield from noise(audit, judged)
    yield from pictures_against_words(audit.once(judging.change_costs, judged))
    yield from styles(options, judged)
    for spec, verifier in audit.once(judging.other_verifiers, audit).items():
        yield another_verifier(audit, judged, spec, verifier)
    yield from people(audit, judged)


def above(low: float | None, high: float | None, threshold: float) -> Verdict:
    """Whether a figure is at least its threshold, by its interval."""
    if low is None or high is None:
        return "inconclusive"
    return "supported" if low >= threshold else "refuted" if high < threshold else "inconclusive"


def below(low: float | None, high: float | None, threshold: float) -> Verdict:
    """Whether a figure stays under its threshold, by its interval."""
    turned: dict[Verdict, Verdict] = {"supported": "refuted", "refuted": "supported"}
    verdict = above(low, high, threshold)
    return turned.get(verdict, verdict)


def _range(low: float | None, high: float | None) -> str:
    return interval(low, high, hundredths)


# ------------------------------------------------------------------------------------ the verifier


def videos_told_apart(judged: JudgedTraces) -> Iterator[Evidence]:
    """Claims should be true of some videos and false of others.

    It catches a verifier that says the same of every video, and claims that are true everywhere: no
    test can tell such reasoning from random.
    """
    videos = judged.swaps.get("videos")
    if videos is None or videos.group.max() == 0:
        return
    groups, claims = np.unique(videos.group[videos.unit], return_inverse=True)
    low, high = mean_interval(
        videos.telling.astype(float), Groups(claims.ravel(), len(groups), True)
    )
    share = float(videos.telling.mean())
    yield Evidence(
        check="videos told apart",
        feature=REASONING,
        value=share,
        threshold=TOLD_APART,
        n=len(videos.unit),
        verdict=above(low, high, TOLD_APART),
        detail=f"{percent(share)}{_range(low, high)} of the claims are true of some videos and "
        "false of others; all others cannot show what the reasoning rests on",
    )


def counterfactual_traces(judged: JudgedTraces) -> Iterator[Evidence]:
    """Traces made wrong lose their support.

    It catches a verifier that says yes to anything grammatical.
    """
    changes = {name: _losses(judged, rates) for name, rates in judged.counterfactual_rates.items()}
    samples, losses = changes.get(ALL, ([], np.zeros(0)))
    if not len(losses):
        return
    lost = float(losses.mean())
    low, high = change_interval(losses, Groups.of(samples))
    parts = ", ".join(
        f"{name} {percent(float(of.mean()))}"
        for name, (_, of) in changes.items()
        if name != ALL and len(of)
    )
    steps = [step for trace in judged.baselines for step in trace.reasoning.trace.steps]
    example = next((step for step in steps if opposite_words(step) != step), "")
    quote = f'; for example "{opposite_words(example)}"' if example else ""
    verdict = above(low, high, LOST)
    # From a low SGR little can be lost, so a small loss refutes only where there was enough.
    if verdict == "refuted" and (mean(t.grounding for t in judged.baselines) or 0.0) < ABLE:
        verdict = "inconclusive"
    yield Evidence(
        check="counterfactual traces",
        feature=REASONING,
        value=lost,
        threshold=LOST,
        n=len(losses),
        verdict=verdict,
        detail=f"{percent(lost)}{_range(low, high)} of support is lost when relations, things and "
        f"times are reversed (each alone: {parts}){quote}",
    )


def _losses(judged: JudgedTraces, rates: Sequence[float | None]) -> tuple[list[Sample], np.ndarray]:
    pairs = [
        (trace.sample, trace.grounding - rate)
        for trace, rate in zip(judged.baselines, rates, strict=True)
        if trace.grounding is not None and rate is not None
    ]
    return [sample for sample, _ in pairs], np.array([loss for _, loss in pairs])


def random_claims(judged: JudgedTraces) -> Iterator[Evidence]:
    """Claims drawn from the words of the data set should hold by luck alone, and so rarely.

    It catches a verifier that sees anything that it is asked for. The verdict has its own test:
    this one is of the verifier.
    """
    pairs = [
        (trace.sample, rate)
        for trace, rates in zip(judged.baselines, judged.random_rates, strict=True)
        if (rate := mean(rates)) is not None
    ]
    if not pairs:
        return
    values = np.array([rate for _, rate in pairs])
    low, high = mean_interval(values, Groups.of([sample for sample, _ in pairs]))
    verdict = below(low, high, RANDOM)
    few = judged.random_wordings < FEW_WORDS
    note = f"; there are only {judged.random_wordings} such claims, so many are true by luck" * few
    yield Evidence(
        check="random claims",
        feature=REASONING,
        value=float(values.mean()),
        threshold=RANDOM,
        n=len(values),
        verdict="inconclusive" if few and verdict == "refuted" else verdict,
        detail=f"the video supports {percent(float(values.mean()))}{_range(low, high)} of claims "
        f"that are drawn at random from the words of the data set (paper: 18.3%){note}",
    )


# ------------------------------------------------------------------------------------- the verdict


def noise(audit: Audit, judged: JudgedTraces) -> Iterator[Evidence]:
    """Whether the verdict stands where the verifier errs more.

    It catches a verdict that hangs on a few judgements: with so many of them reversed, here and in
    the other videos alike, the test is made again.
    """
    options: StepGroundingOptions = audit.options
    videos = judged.swaps.get("videos")
    verdict = audit.once(judging.verdict_of, audit, judged)
    if not options.noise or videos is None or verdict.word != BETTER:
        return
    p_values = [
        swap_p_value(
            noisy(videos, options.noise, audit.rng("noise", str(copy))),
            audit.rng("noise test", str(copy)),
            draws=NOISY_DRAWS,
        )
        for copy in range(NOISY)
    ]
    kept = sum(p_value <= SURE for p_value in p_values)
    share = kept / NOISY
    yield Evidence(
        check="verifier noise",
        feature=REASONING,
        value=share,
        threshold=KEPT,
        n=len(videos.unit),
        verdict="supported" if share >= KEPT else "refuted" if share < 0.5 else "inconclusive",
        detail=f"with {percent(options.noise)} of the judgements reversed at random, {kept} of "
        f"{NOISY} audits still find the reasoning better than random (largest p "
        f"{max(p_values):.2g})",
    )


def pictures_against_words(costs: Sequence[ChangeCost]) -> Iterator[Evidence]:
    """The counter-causal control: other pictures cost more than other words (section 3.5).

    It catches reasoning that changes with any change of the input.
    """
    rows = [
        (own[0].sample, pictures, words)
        for own in costs_by_sample(costs)
        if (pictures := mean_over_kinds(own, RELEVANT, "lost")) is not None
        and (words := mean_over_kinds(own, ("paraphrase",), "lost")) is not None
    ]
    if not rows:
        return
    samples = [sample for sample, _, _ in rows]
    changed, reworded = (np.array([row[side] for row in rows], np.float64) for side in (1, 2))
    more = changed - reworded
    # Two losses can differ by more than 1, the bound of the interval.
    scale = max(1.0, float(np.abs(more).max()))
    low, high = (scale * (end or 0.0) for end in change_interval(more / scale, Groups.of(samples)))
    yield Evidence(
        check="pictures against words",
        feature=REASONING,
        value=float(more.mean()),
        threshold=PICTURES,
        n=len(rows),
        verdict=above(low, high, PICTURES),
        detail=f"{percent(float(changed.mean()))} of support is lost when the video changes, "
        f"{percent(float(reworded.mean()))} when the question is paraphrased: "
        f"{hundredths(float(more.mean()))} points more{_range(low, high)} (paper: 18.2 and 3.1)",
    )


def styles(options: StepGroundingOptions, judged: JudgedTraces) -> Iterator[Evidence]:
    """Whether another way of asking finds another support, sample by sample.

    It catches a figure that is one of the prompt, and not of the model.
    """
    own = {trace.sample.key: trace.grounding for trace in judged.baselines}
    for style in dict.fromkeys(options.also):
        pairs = [
            (trace.sample, trace.grounding, before)
            for trace in judged.in_style(style)
            if trace.grounding is not None and (before := own[trace.sample.key]) is not None
        ]
        if not pairs:
            continue
        other, first = (np.array([pair[side] for pair in pairs]) for side in (1, 2))
        low, high = change_interval(other - first, Groups.of([pair[0] for pair in pairs]))
        yield Evidence(
            check=f"asked in the style {style}",
            feature=REASONING,
            value=abs(float((other - first).mean())),
            threshold=STYLES,
            n=len(pairs),
            verdict=within(low, high, STYLES),
            detail=f"SGR {other.mean():.1%} instead of {first.mean():.1%}: "
            f"{hundredths(float((other - first).mean()))} points{_range(low, high)}",
        )


def within(low: float | None, high: float | None, margin: float) -> Verdict:
    """Whether a difference is less than the margin either way, by its interval."""
    if low is None or high is None:
        return "inconclusive"
    if -margin <= low and high <= margin:
        return "supported"
    return "refuted" if low > margin or high < -margin else "inconclusive"


# -------------------------------------------------------------------------------------- agreement


def another_verifier(
    audit: Audit, judged: JudgedTraces, spec: str, verifier: ClaimVerifier
) -> Evidence:
    """Whether another verifier says the same, claim by claim.

    It catches figures that are one verifier's own.
    """
    traces = judged.baselines
    claims = [(trace.sample, all_claims([trace.reasoning.claims])) for trace in traces]
    other = judge_claims(verifier, claims)
    own_sgr, sgr = (
        known(j.rate(t.sample, t.reasoning.claims, t.policy) for t in traces)
        for j in (judged.judgements, other)
    )
    pairs = [
        (sample, judged.judgements.of(sample, claim).verdict, other.of(sample, claim).verdict)
        for sample, of_sample in claims
        for claim in dict.fromkeys(of_sample)
    ]
    if not sgr:
        return Evidence(
            check=f"verifier {spec}",
            feature=REASONING,
            verdict="inconclusive",
            detail="it could verify no claim",
        )
    rates = f"SGR {np.mean(sgr):.1%} instead of {np.mean(own_sgr):.1%}; "
    return _compared(f"verifier {spec}", rates, _agreement(audit, pairs, spec))


def people(audit: Audit, judged: JudgedTraces) -> Iterator[Evidence]:
    """Whether people say what the verifier says, claim by claim (section 3.2).

    It catches a verifier that is wrong, however much it agrees with others of its kind.
    """
    labels = audit.once(labels_of, audit)
    if not labels:
        return
    pairs = [
        (sample, judged.judgements.of(sample, claim).verdict, verdict)
        for sample, claim, verdict in labels
    ]
    decided = [(own, theirs) for _, own, theirs in pairs if "unverifiable" not in (own, theirs)]
    parts = [
        f"of {len(of)} that the verifier calls {verdict} people say so of {of.count(verdict)}"
        for verdict in ("supported", "unsupported")
        if (of := [theirs for own, theirs in decided if own == verdict])
    ]
    detail = "; ".join([*parts, ""])
    yield _compared("people's labels", detail, _agreement(audit, pairs, "people"))
    yield from corrected(audit, judged, pairs)


def _agreement(audit: Audit, pairs: Sequence[tuple[Sample, str, str]], name: str) -> Agreement:
    options: StepGroundingOptions = audit.options
    return agreement(
        pairs,
        audit.rng("agreement", name),
        confidence=options.confidence,
        resamples=options.resamples,
    )


def _compared(check: str, detail: str, found: Agreement) -> Evidence:
    detail += f"both decide {found.decided} of {found.claims} claims"
    if found.decided:
        detail += f", {percent(found.alike)} of them alike"
    if found.kappa is None:
        detail += "; kappa needs claims of both verdicts"
    else:
        detail += f"; kappa {found.kappa:.2f}{interval(found.low, found.high, '{:.2f}'.format)}"
    return Evidence(
        check=check,
        feature=REASONING,
        value=found.kappa,
        threshold=AGREE,
        n=found.claims,
        verdict=above(found.low, found.high, AGREE),
        detail=detail,
    )
