"""What chance alone would give: tests and intervals over samples."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import binomtest

DRAWS = 4000
CHUNK = 2_000_000


def mean_above_p_value(values: Float[np.ndarray, " sample"], rng: np.random.Generator) -> float:
    """One-sided p-value that paired differences are above zero in the mean, by flipping signs.

    As the signs of n values have 2**n patterns, few samples cannot prove anything.
    """
    if len(values) == 0:
        return 1.0
    observed, reached = values.mean(), 0
    for count in _chunks(len(values)):
        signs = rng.integers(0, 2, (count, len(values))) * 2 - 1
        reached += int(((signs * values).mean(axis=1) >= observed - 1e-12).sum())
    return (1 + reached) / (1 + DRAWS)


def exchanged_p_value(
    own: Float[np.ndarray, " sample"],
    random: Float[np.ndarray, "sample draw"],
    rng: np.random.Generator,
) -> float:
    """One-sided p-value that traces do better than random ones of the same samples.

    Were they random too, a trace could change places with any of its sample's random ones.
    """
    if len(own) == 0:
        return 1.0
    rows, reached = np.column_stack([own, random]), 0
    for count in _chunks(len(own)):
        place = rng.integers(0, rows.shape[1], (count, len(own)))
        drawn = rows[np.arange(len(own)), place]
        reached += int((drawn.mean(axis=1) >= own.mean() - 1e-12).sum())
    return (1 + reached) / (1 + DRAWS)


def share_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share."""
    found = binomtest(count, n).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def bootstrap_interval(
    figure: Callable[[Int[np.ndarray, " sample"]], float | None],
    samples: int,
    rng: np.random.Generator,
    *,
    confidence: float,
    resamples: int,
) -> tuple[float, float] | None:
    """Percentile bootstrap of a figure of samples, given by their indices; None where it has none.

    Draws that have no figure are left out.
    """
    if samples == 0:
        return None
    drawn = rng.integers(samples, size=(resamples, samples))
    values = [value for row in drawn if (value := figure(row)) is not None]
    if not values:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, (tail, 1 - tail)).tolist()
    return low, high


def mean_interval(
    values: Sequence[float], rng: np.random.Generator, *, confidence: float, resamples: int
) -> tuple[float, float]:
    """Percentile bootstrap of a mean, the mean itself within it."""
    from cuescope_sdk.maths import bootstrap_mean_interval

    array = np.asarray(values, dtype=np.float64)
    low, high = bootstrap_mean_interval(array, rng, confidence=confidence, resamples=resamples)
    middle = float(array.mean())
    return min(low, middle), max(high, middle)


def _chunks(samples: int) -> list[int]:
    """Numbers of draws, within CHUNK numbers at a time."""
    step = max(1, CHUNK // samples)
    return [min(step, DRAWS - start) for start in range(0, DRAWS, step)]
