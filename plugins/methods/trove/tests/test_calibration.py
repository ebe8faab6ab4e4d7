"""Temperatures that were put there are found again."""

import numpy as np
import pytest
from scipy import special

from cuescope_sdk.maths import softmax
from cuescope_trove.maths.calibration import cross_fitted_temperatures, fit_temperature


def negative_log_likelihood(
    logits: np.ndarray, labels: np.ndarray, temperature: float
) -> float:
    chosen = special.log_softmax(logits / temperature, axis=1)[
        np.arange(len(labels)), labels
    ]
    return -float(chosen.mean())


def drawn(temperature: float, n: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and labels drawn from their softmax at `temperature`."""
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (n, 5)) * temperature
    chances = softmax(logits, temperature).cumsum(axis=1)
    return logits, (rng.random((n, 1)) > chances).sum(axis=1).clip(max=4)


@pytest.mark.parametrize("temperature", [0.05, 1.0, 12.0])
def test_the_temperature_of_the_labels_is_found(temperature: float) -> None:
    logits, labels = drawn(temperature)
    fitted = fit_temperature(logits, labels)
    assert fitted == pytest.approx(temperature, rel=0.03)
    least = negative_log_likelihood(logits, labels, fitted)
    for other in (0.99, 1.01):
        assert negative_log_likelihood(logits, labels, fitted * other) > least


def test_where_no_minimum_exists_confidences_stay_as_they_are() -> None:
    logits = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert fit_temperature(logits, np.array([0, 1])) == 1.0
    assert fit_temperature(logits, np.array([1, 0])) == 1.0
    assert fit_temperature(logits[:0], np.array([], dtype=np.int64)) == 1.0


def test_each_half_gets_the_temperature_of_the_other() -> None:
    logits, labels = drawn(2.0, 200)
    given = cross_fitted_temperatures(logits, labels, np.random.default_rng(3))
    first, second = sorted(set(given.tolist()))
    for mine, other in ((first, second), (second, first)):
        assert fit_temperature(
            logits[given == mine], labels[given == mine]
        ) == pytest.approx(other)
    assert (given == first).sum() == 100
    assert cross_fitted_temperatures(
        logits[:1], labels[:1], np.random.default_rng(0)
    ) == [1.0]
