"""An interval's lower end, as far as a p-value tells it, is never above the value."""

import numpy as np
import pytest

from cuescope_sdk.statistics import excluded_by_test


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_end_lies_below_the_value_whatever_the_p_value_says(
    confidence: float,
) -> None:
    # a test of something else may find what the value speaks against
    values, p_values = (
        part.ravel()
        for part in np.meshgrid(np.linspace(-1, 1, 41), np.geomspace(1e-12, 1, 25))
    )
    ends = excluded_by_test(values, p_values, np.full(len(values), confidence))
    assert (ends <= values).all()
    is_told = (values > 0) & (p_values < (1 - confidence) / 2)
    assert np.array_equal(ends > 0, is_told)
