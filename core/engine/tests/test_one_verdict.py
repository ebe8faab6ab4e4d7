"""A finding whose interval holds no effect has no star."""

import pytest

from cuescope_core.conclusions import Score, with_one_verdict


@pytest.mark.parametrize(
    ("low", "high", "metric", "holds"),
    [
        (-0.03, 0.88, "loss", True),
        (0.0, 0.5, "loss", True),
        (0.1, 0.88, "loss", False),
        (-0.9, -0.1, "loss", False),
        (None, None, "loss", False),
        (-0.03, 0.88, "another", False),
    ],
)
def test_interval_and_star_agree(
    low: float | None, high: float | None, metric: str, holds: bool
) -> None:
    score = Score(
        feature="a",
        label="b",
        metric=metric,
        value=0.65,
        low=low,
        high=high,
        finding=True,
    )
    [kept] = with_one_verdict([score], "loss", 0.0)
    assert kept.finding is not holds
    assert (kept.doubt is not None) is holds
