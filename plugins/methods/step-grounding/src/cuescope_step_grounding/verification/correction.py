"""The share of supported claims behind a verifier whose errors people have measured."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from cuescope_sdk import Audit, Evidence, Sample
from cuescope_sdk.report import interval, percent
from cuescope_sdk.statistics import Estimate, Groups
from cuescope_step_grounding.rows.keys import REASONING
from cuescope_step_grounding.verification.judged import JudgedTraces

Verdicts = Sequence[tuple[Sample, str]]  # of the verifier, claim by claim
Pairs = Sequence[tuple[Sample, str, str]]  # of the verifier and of people
_DECIDED = {"supported", "unsupported"}


def correct_supported_share(
    audit: Audit,
    judged: JudgedTraces,
    pairs: Pairs,
) -> Iterator[Evidence]:
    """The share of supported claims without the errors that people's labels show."""
    confidence = audit.options.confidence
    verdicts = []
    for sample, _, judgement in judged.claims():
        verdicts.append((sample, judgement.verdict))
    observed = supported_share(verdicts, confidence)
    if observed is None:
        return
    check = {
        "check": "supported claims without the verifier's errors",
        "feature": REASONING,
    }
    share = corrected_share(observed, pairs, confidence)
    if share is None:
        yield Evidence(
            **check,
            verdict="inconclusive",
            detail="not known: on the labelled claims the verifier may be no better than guessing",
        )
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


def supported_share(verdicts: Verdicts, confidence: float) -> Estimate[float] | None:
    """Of the claims that the verifier decides, those that it calls supported."""
    decided = [pair for pair in verdicts if pair[1] in _DECIDED]
    return _rate(decided, "supported", confidence)


def corrected_share(
    observed: Estimate[float],
    pairs: Pairs,
    confidence: float,
) -> Estimate[float] | None:
    """The same without the verifier's errors, which `pairs` show; None where too few show them."""
    by_people = defaultdict(list)
    for sample, verdict, people in pairs:
        # of what either leaves open no error is known
        if verdict in _DECIDED and people in _DECIDED:
            by_people[people].append((sample, verdict))
    sensitivity = _rate(by_people["supported"], "supported", confidence)
    specificity = _rate(by_people["unsupported"], "unsupported", confidence)
    if sensitivity is None or specificity is None:
        return None
    # Rogan and Gladen (1978), with the doubt of the claims and of the labels
    return observed.correct(sensitivity, specificity)


def _rate(verdicts: Verdicts, wanted: str, confidence: float) -> Estimate[float] | None:
    """The share of the verdicts that are as wanted."""
    # no verdicts have no mean
    if not verdicts:
        return None
    return Estimate.of_mean(
        np.array([verdict == wanted for _, verdict in verdicts], dtype=float),
        Groups.of([sample for sample, _ in verdicts]),
        confidence=confidence,
    )
