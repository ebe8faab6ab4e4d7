"""Check of a test on shuffled data, against what it promises."""

from cuescope_sdk import Evidence
from cuescope_sdk.statistics import exceeds_rate_p_value

SIGNIFICANT = 0.05  # the convention since Fisher (1925)


def null_evidence(
    check: str, passed: str, *, alarms: int, shuffles: int, promised: float
) -> Evidence:
    """Check that a test alarms in no more shuffles than promised; `passed` says what an alarm is.

    Some alarms are promised: only more of them than this rate explains (exact binomial test, 5%)
    refute the test.
    """
    excessive = exceeds_rate_p_value(alarms, shuffles, promised) < SIGNIFICANT
    verdict = "supported"
    aside = ""
    if excessive:
        verdict = "refuted"
        aside = ", so the test alarms too often"
    elif alarms > promised * shuffles:
        aside = f", and {alarms} of {shuffles} can be chance"
    return Evidence(
        check=check,
        verdict=verdict,
        detail=f"in {alarms} of {shuffles} shuffles {passed}; {promised:.0%} of the shuffles may "
        f"do so{aside}",
        value=alarms / shuffles,
        threshold=promised,
        n=shuffles,
    )
