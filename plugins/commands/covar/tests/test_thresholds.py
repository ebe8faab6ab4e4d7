"""Limits that a new draw keeps: how often, counted over every place that it may have."""

import numpy as np
import pytest

from cuescope_covar_build.quality.thresholds import (
    Limit,
    Thresholds,
    conformal_quantile,
)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_a_new_draw_stays_below_as_often_as_promised(level: float) -> None:
    # of 40 exchangeable values each is as likely the new one
    draws = np.random.default_rng(3).normal(size=40)
    kept = [
        new <= conformal_quantile(np.delete(draws, index).tolist(), level)
        for index, new in enumerate(draws)
    ]
    assert level <= np.mean(kept) <= level + 1 / 40


def test_too_few_values_give_their_largest() -> None:
    assert conformal_quantile([0.3, 0.1, 0.2], 0.99) == 0.3


def test_no_value_gives_no_limit() -> None:
    with pytest.raises(ValueError, match="got none"):
        conformal_quantile([], 0.9)


LIMITS = Thresholds({"": {"border_image": Limit(0.5, 2.0, 3)}}, 0.25, 7)


def test_limits_are_read_back() -> None:
    assert Thresholds.from_json(LIMITS.to_json()) == LIMITS


@pytest.mark.parametrize(
    ("written", "forged"),
    [
        ('"unit": 2.0', '"unit": 0'),
        ('"unit": 2.0', '"unit": -1'),
        ('"unit": 2.0', '"unit": 1e999'),
        ('"usual": 0.5', '"usual": NaN'),
        ('"images": 7', '"images": -7'),
        ('"false_drops": 0.25', '"false_drops": 0'),
    ],
)
def test_limits_that_no_build_sets_are_refused(written: str, forged: str) -> None:
    """Their seal fits: whoever mails a folder can compute it."""
    content = LIMITS.to_json().decode()
    assert written in content
    with pytest.raises(ValueError, match="validation error"):
        Thresholds.from_json(content.replace(written, forged).encode())
