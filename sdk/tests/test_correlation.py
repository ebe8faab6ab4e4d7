"""Correlations with strata, controls and units, against scipy and every order."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import generator
from cuescope_sdk.statistics import Correlation


def drawn(n: int, seed: int = 0) -> np.ndarray:
    return generator(seed, "across").normal(size=(3, n))


def test_pearson_with_fishers_interval_is_scipys() -> None:
    x, noise, _ = drawn(30)
    y = x + noise
    found = Correlation.of(x, y, generator(0, "p"))
    known = stats.pearsonr(x, y)
    assert found is not None
    assert found.r == pytest.approx(known.statistic)
    interval = known.confidence_interval()
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.p_value < 0.001


def test_few_models_try_every_order() -> None:
    x, noise, _ = drawn(5, seed=3)
    y = x + noise
    rs = [np.corrcoef(x, y[list(order)])[0, 1] for order in permutations(range(5))]
    found = Correlation.of(x, y, generator(0, "p"))
    assert found is not None
    assert found.p_value == pytest.approx(np.mean(np.array(rs) >= found.r - 1e-12))


def test_partial_correlation_is_that_of_the_residuals_and_undoes_a_common_cause() -> (
    None
):
    cause, one, other = drawn(60, seed=1)
    x, y = 3 * cause + one, 3 * cause + other
    plain = Correlation.of(x, y, generator(0, "p"))
    partial = Correlation.of(x, y, generator(0, "p"), given=cause)
    assert plain is not None
    assert partial is not None
    (a, b, c) = (np.corrcoef(*pair)[0, 1] for pair in ((x, y), (x, cause), (y, cause)))
    assert partial.r == pytest.approx((a - b * c) / np.sqrt((1 - b**2) * (1 - c**2)))
    assert plain.p_value < 0.001
    assert partial.p_value > 0.05


def test_strata_compare_models_on_the_same_benchmark_alone() -> None:
    """Two benchmarks whose levels rise together, and nothing within them."""
    x, y, _ = drawn(40, seed=4)
    strata = np.repeat([0, 1], 20)
    levels = 10.0 * strata
    pooled = Correlation.of(x + levels, y + levels, generator(0, "p"))
    within = Correlation.of(x + levels, y + levels, generator(0, "p"), strata=strata)
    assert pooled is not None
    assert within is not None
    assert pooled.r > 0.9
    expected = [part - part.mean() for half in (x, y) for part in np.split(half, 2)]
    left, right = np.concatenate(expected[:2]), np.concatenate(expected[2:])
    assert within.r == pytest.approx(np.corrcoef(left, right)[0, 1])
    assert within.p_value > 0.05


@pytest.mark.parametrize(
    # fewer or more come once in a thousand times
    ("audits", "least", "most"),
    [(100, 1, 13), pytest.param(400, 5, 36, marks=pytest.mark.long)],
)
def test_p_values_are_uniform_where_nothing_is_there(
    audits: int, least: int, most: int
) -> None:
    """One-sided at 5 %."""
    hits = 0
    for seed in range(audits):
        x, y, given = drawn(10, seed=seed)
        found = Correlation.of(x, y, generator(seed, "p"), given=given, draws=199)
        hits += found is not None and found.p_value <= 0.05
    assert least <= hits <= most


@pytest.mark.parametrize("x", [np.ones(8), np.arange(3.0)])
def test_nothing_is_said_without_variation_or_points(x: np.ndarray) -> None:
    assert Correlation.of(x, np.arange(float(len(x))), generator(0, "p")) is None


def test_models_on_several_benchmarks_are_dealt_whole() -> None:
    """All orders of four models on two benchmarks, against the slow form."""
    rng = generator(6, "whole")
    x, y = rng.normal(size=(2, 8))
    strata, models = np.tile([0, 1], 4), np.repeat(np.arange(4), 2)
    found = Correlation.of(x, y, generator(0, "p"), strata=strata, units=models)
    assert found is not None
    assert found.n == 4
    centred = [v - np.tile([v[0::2].mean(), v[1::2].mean()], 4) for v in (x, y)]
    rs = [
        np.corrcoef(centred[0], centred[1].reshape(4, 2)[list(order)].ravel())[0, 1]
        for order in permutations(range(4))
    ]
    assert found.p_value == pytest.approx(np.mean(np.array(rs) >= found.r - 1e-12))


def test_what_a_model_shares_over_benchmarks_is_no_proof() -> None:
    """One-sided at 5 % of 200: 10 expected, 24 or more once in 10,000; dealt one by one, more."""
    alarms = {"whole": 0, "one by one": 0}
    for seed in range(200):
        rng = generator(seed, "shared")
        x, y = (
            np.repeat(rng.normal(size=8), 3) + 0.3 * rng.normal(size=24) for _ in "xy"
        )
        strata, models = np.tile(np.arange(3), 8), np.repeat(np.arange(8), 3)
        for name, whole in (("whole", models), ("one by one", None)):
            found = Correlation.of(
                x, y, generator(seed), strata=strata, units=whole, draws=199
            )
            alarms[name] += found is not None and found.p_value <= 0.05
    assert alarms["whole"] <= 23
    assert alarms["one by one"] > 23


def test_of_no_rows_there_is_no_correlation() -> None:
    nothing = np.empty(0)
    assert Correlation.of(nothing, nothing, generator(0, "p")) is None
