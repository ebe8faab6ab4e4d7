"""Probabilities of logits, each row at its own temperature."""

import numpy as np
import pytest

from cuescope_sdk.maths import softmax


def test_softmax_takes_a_temperature_a_row() -> None:
    logits = np.array([[np.log(9.0), 0.0], [2 * np.log(9.0), 0.0]])
    assert softmax(logits, np.array([1.0, 2.0])) == pytest.approx(
        np.array([[0.9, 0.1]] * 2)
    )
