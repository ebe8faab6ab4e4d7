"""A test on shuffled data, beside what it promises."""

import pytest

from cuescope_sdk.report import null_evidence


@pytest.mark.parametrize(
    ("alarms", "verdict", "said"),
    [
        (
            1,
            "supported",
            "in 1 of 20 shuffles one passed; 5% of the shuffles may do so",
        ),
        (2, "supported", "may do so, and 2 of 20 can be chance"),
        (4, "refuted", "may do so, so the test alarms too often"),
    ],
)
def test_more_alarms_than_chance_explains_refute_a_test(
    alarms: int, verdict: str, said: str
) -> None:
    evidence = null_evidence(
        "null", "one passed", alarms=alarms, shuffles=20, promised=0.05
    )
    assert evidence.verdict == verdict
    assert evidence.detail.endswith(said)
    assert (evidence.value, evidence.threshold, evidence.n) == (alarms / 20, 0.05, 20)
