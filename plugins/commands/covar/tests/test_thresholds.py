"""Limits that a new draw keeps: how often, counted over every place that it may have."""

import numpy as np
import pytest

from cuescope_covar_build.quality.thresholds import conformal_quantile


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
