"""The share of supported claims behind a verifier whose errors people have measured."""

from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Evidence, Sample
from cuescope_sdk.report import interval, percent
from cuescope_sdk.statistics import Groups, Rate, corrected_rate, mean_interval
from cuescope_step_grounding.claims.contents import all_claims
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.rows.keys import REASONING
from cuescope_step_grounding.verification.judged import JudgedTraces

Verdicts = Sequence[tuple[Sample, str]]  # of the verifier, claim by claim
Pairs = Sequence[tuple[Sample, str, str]]  # of the verifier and of people


def corrected(audit: Audit, judged: JudgedTraces, pairs: Pairs) -> Iterator[Evidence]:
    """The share of supported claims without the errors that people's labels show."""
    options: StepGroundingOptions = audit.options
    verdicts = [
        (trace.sample, judged.judgements.of(trace.sample, claim).verdict)
        for trace in judged.baselines
        for claim in all_claims([trace.reasoning.claims])
    ]
    observed = supported_share(verdicts, options.confidence)
    if observed is None:
        return
    check = {"check": "supported claims without the verifier's errors", "feature": REASONING}
    share = corrected_share(observed, pairs, options.confidence)
    if share is None:
        detail = "not known: on the labelled claims the verifier may be no better than guessing"
        yield Evidence(**check, verdict="inconclusive", detail=detail)
        return
    within = share.low <= observed.value <= share.high
    yield Evidence(
        **check,
        value=share.value,
        threshold=observed.value,
        n=len(verdicts),
        verdict="supported" if within else "refuted",
        detail=f"{percent(share.value)} of the claims that can be decided are supported"
        f"{interval(share.low, share.high, percent)}, where the verifier says "
        f"{percent(observed.value)}",
    )


def supported_share(verdicts: Verdicts, confidence: float) -> Rate | None:
    """Of the claims that the verifier decides, those that it calls supported."""
    decided = [
        (sample, verdict == "supported") for sample, verdict in verdicts if _decides(verdict)
    ]
    return _rate(decided, confidence)


def corrected_share(observed: Rate, pairs: Pairs, confidence: float) -> Rate | None:
    """The same without the verifier's errors, which `pairs` show; None where too few show them."""
    both = [pair for pair in pairs if _decides(pair[1]) and _decides(pair[2])]
    found, left_alone = (
        _rate([(sample, own == said) for sample, own, people in both if people == said], confidence)
        for said in ("supported", "unsupported")
    )
    if found is None or left_alone is None:
        return None
    return corrected_rate(observed, sensitivity=found, specificity=left_alone)


def _decides(verdict: str) -> bool:
    return verdict in ("supported", "unsupported")


def _rate(hits: Sequence[tuple[Sample, bool]], confidence: float) -> Rate | None:
    values = np.array([hit for _, hit in hits], dtype=float)
    low, high = mean_interval(
        values, Groups.of([sample for sample, _ in hits]), confidence=confidence
    )
    return None if low is None or high is None else Rate(float(values.mean()), low, high)
