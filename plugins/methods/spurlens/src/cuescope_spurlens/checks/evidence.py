"""What the checks of findings have in common: whom they are about, and verdicts of intervals."""

from typing import Any

from cuescope_sdk import Evidence, Verdict
from cuescope_spurlens.analysis import CaseResult


def judge(supported: bool, refuted: bool = False) -> Verdict:
    """The verdict of two conditions, the first of which goes before."""
    if supported:
        return "supported"
    return "refuted" if refuted else "inconclusive"


def judge_share(low: float | None, high: float | None, threshold: float) -> Verdict:
    """Whether a share is surely at least so large, or surely smaller, by its interval."""
    supported = low is not None and low >= threshold
    return judge(supported, high is not None and high < threshold)


def cue_evidence(
    result: CaseResult, check: str, verdict: Verdict, detail: str, **figures: Any
) -> Evidence:
    """About the strongest cue of a class, which the detail begins with."""
    case = result.case
    return Evidence(
        check=check,
        feature=case.feature_key(result.cue),
        label=case.label,
        verdict=verdict,
        detail=f"{case.label} and {result.cue} ({case.task}): {detail}",
        **figures,
    )
