"""What was judged, in words: how many traces and claims, and why some could not be verified."""

from collections import Counter
from collections.abc import Iterable, Sequence

from cuescope_sdk import Audit
from cuescope_sdk.grounding import Claim
from cuescope_sdk.report import percent
from cuescope_sdk.statistics import Groups
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.scores import mean
from cuescope_step_grounding.trials import Reasoning, is_recorded
from cuescope_step_grounding.verification.judged import JudgedTraces
from cuescope_step_grounding.verification.judging import has_no_evidence

ADD_VERIFIER = "--tool claim-verifier=box-geometry -T claim-verifier.detector=owl"


def why_unmeasured(audit: Audit, judged: JudgedTraces) -> str:
    """Why no claim is supported or unsupported, and what would help."""
    traces = [trace.reasoning for trace in judged.baselines]
    written = [trace for trace in traces if trace.trace.steps]
    if not written and is_recorded(audit):
        return f"no trace is recorded for any of the {len(traces)} samples"
    if not written:
        return f"none of the {len(traces)} answers contains a reasoning step"
    if not any(step for trace in written for step in trace.claims):
        return f"the {len(written)} traces claim nothing that can be seen"
    if has_no_evidence(audit):
        return f"there is nothing to hold its claims against. Add a verifier, as {ADD_VERIFIER}"
    reasons = unverifiable_reasons(judged)
    return f"none of its claims could be verified ({', '.join(reasons)})"


def unverifiable_reasons(judged: JudgedTraces) -> list[str]:
    """Of the claims that could not be verified the reasons, each with its share."""
    reasons = [
        judged.judgements.of(trace.sample, claim).reason
        for trace in judged.baselines
        for step in trace.reasoning.claims
        for claim in step
    ]
    count = Counter(reason for reason in reasons if reason is not None)
    return [f"{reason} {percent(n / count.total())}" for reason, n in count.most_common()]


def describe_traces(traces: Sequence[Reasoning]) -> str:
    """How many traces came, in which forms, and what is wrong with some."""
    written = [trace.trace for trace in traces if trace.trace.steps]
    steps = sum(len(trace.steps) for trace in written)
    mean = f", with {steps / len(written):.1f} steps on average" if written else ""
    forms = _count_words(trace.form for trace in written)
    problems = _count_words(problem for trace in traces for problem in trace.trace.problems)
    return (
        f"{len(written)} of {len(traces)} samples{mean}"
        + f" ({forms})" * bool(forms)
        + f"; malformed, but kept: {problems}" * bool(problems)
    )


def describe_claims(judged: JudgedTraces) -> str | None:
    """How many claims there are, and how many of them are supported; None where there is none."""
    steps = [step for trace in judged.baselines for step in trace.steps]
    total = sum(step.claims for step in steps)
    if not total:
        return None
    shares = (
        f"{verdict} {percent(sum(getattr(step, verdict) for step in steps) / total)}"
        for verdict in ("supported", "unsupported", "unverifiable")
    )
    claims = (c for trace in judged.baselines for step in trace.reasoning.claims for c in step)
    outside = sum(claim.frames == () for claim in claims)
    contradictory = sum(trace.reasoning.contradictory for trace in judged.baselines)
    return (
        f"{total}: {', '.join(shares)}"
        + f"; {outside} about a moment outside the video" * bool(outside)
        + f"; {contradictory} steps contradict themselves about the time" * bool(contradictory)
    )


def claim_shares(judged: JudgedTraces) -> str:
    """As "Of 88 claims 19% are supported, 10% refuted, and 70% could not be checked"."""
    count = judged.counts
    supported, unsupported, left = (
        percent(part / count.claims)
        for part in (count.supported, count.unsupported, count.unverifiable)
    )
    general = len(general_supports(judged))
    return (
        f"Of {count.claims} claims {supported} are supported"
        + f" ({percent(general / count.claims)} by a more general word)" * bool(general)
        + f", {unsupported} refuted, and {left} could not be checked"
    )


def general_supports(judged: JudgedTraces) -> list[Claim]:
    """The supported claims of which only something more general was seen: "person" for "woman"."""
    return [
        claim
        for trace in judged.baselines
        for step in trace.reasoning.claims
        for claim in step
        if (judgement := judged.judgements.of(trace.sample, claim)).general
        and judgement.verdict == "supported"
    ]


def describe_general(judged: JudgedTraces) -> str | None:
    """How many claims are supported by a more general word, and what SGR is without them."""
    general = general_supports(judged)
    if not general:
        return None
    exact = judged.judgements.without_general()
    rate = mean(
        exact.rate(trace.sample, trace.reasoning.claims, trace.policy) for trace in judged.baselines
    )
    example = claim_words(general[0])
    return (
        f"{len(general)} of {judged.counts.supported} supported claims, as '{example}': a person "
        "was seen, and not which"
        + (f"; SGR without them {percent(rate)}" if rate is not None else "")
    )


def describe_swaps(judged: JudgedTraces) -> str:
    """What each claim was held against beside its own video, and what that took."""
    counts = [
        f"{deal} {len(swaps.unit)} claims, {percent(float(swaps.telling.mean()))} telling"
        for deal, swaps in judged.swaps.items()
    ]
    return (
        f"{'; '.join(counts)} (true in some places and false in others); at most "
        f"{judged.swapped:,} judgements, and no answer of the model"
    )


def count_groups(groups: Groups) -> str:
    """As "12 groups", "3 that are taken as independent"."""
    if groups.declared:
        return f"{groups.count} {'group' if groups.count == 1 else 'groups'}"
    return f"{groups.count}, taken as independent"


def _count_words(words: Iterable[str]) -> str:
    """ "a 3, b 1", the commonest first."""
    return ", ".join(f"{word} {n}" for word, n in Counter(words).most_common())
