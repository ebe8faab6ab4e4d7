"""Correlations over models, against other libraries; what the paper's own tables give."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import generator
from cuescope_step_grounding.law.law import MeasuredModel, law
from cuescope_step_grounding.law.statistics import correlation, matched_pairs
from cuescope_step_grounding.paper import read_tables, recomputed_tables


def drawn(n: int, seed: int = 0) -> np.ndarray:
    return generator(seed, "across").normal(size=(3, n))


def test_pearson_with_fishers_interval_is_scipys() -> None:
    x, noise, _ = drawn(30)
    y = x + noise
    found = correlation(x, y, generator(0, "p"))
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
    found = correlation(x, y, generator(0, "p"))
    assert found is not None
    assert found.p_value == pytest.approx(np.mean(np.array(rs) >= found.r - 1e-12))


def test_partial_correlation_is_that_of_the_residuals_and_undoes_a_common_cause() -> None:
    cause, one, other = drawn(60, seed=1)
    x, y = 3 * cause + one, 3 * cause + other
    plain = correlation(x, y, generator(0, "p"))
    partial = correlation(x, y, generator(0, "p"), given=cause)
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
    pooled = correlation(x + levels, y + levels, generator(0, "p"))
    within = correlation(x + levels, y + levels, generator(0, "p"), strata=strata)
    assert pooled is not None
    assert within is not None
    assert pooled.r > 0.9
    expected = [part - part.mean() for half in (x, y) for part in np.split(half, 2)]
    left, right = np.concatenate(expected[:2]), np.concatenate(expected[2:])
    assert within.r == pytest.approx(np.corrcoef(left, right)[0, 1])
    assert within.p_value > 0.05


def test_p_values_are_uniform_where_nothing_is_there() -> None:
    """One-sided at 5 %: 20 of 400 expected, 36 or more once in a thousand."""
    hits = 0
    for seed in range(400):
        x, y, given = drawn(10, seed=seed)
        found = correlation(x, y, generator(seed, "p"), given=given, draws=199)
        hits += found is not None and found.p_value <= 0.05
    assert 5 <= hits <= 36


@pytest.mark.parametrize("x", [np.ones(8), np.arange(3.0)])
def test_nothing_is_said_without_variation_or_points(x: np.ndarray) -> None:
    assert correlation(x, np.arange(float(len(x))), generator(0, "p")) is None


def test_pairs_are_those_alike_in_accuracy() -> None:
    grounding, kept, accuracy = map(
        np.array, ([0.5, 0.6, 0.9], [-3.0, -2.0, -9.0], [70.0, 70.9, 75.0])
    )
    (pair,) = matched_pairs(grounding, kept, accuracy, within=1.0)
    assert (pair.better, pair.worse) == (1, 0)
    assert (pair.more_grounded, pair.more_kept) == pytest.approx((0.1, 1.0))
    apart = np.array([0, 1, 1])
    assert matched_pairs(grounding, kept, accuracy, within=1.0, strata=apart) == []


def test_models_on_several_benchmarks_are_dealt_whole() -> None:
    """All orders of four models on two benchmarks, against the slow form."""
    rng = generator(6, "whole")
    x, y = rng.normal(size=(2, 8))
    strata, models = np.tile([0, 1], 4), np.repeat(np.arange(4), 2)
    found = correlation(x, y, generator(0, "p"), strata=strata, models=models)
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
        x, y = (np.repeat(rng.normal(size=8), 3) + 0.3 * rng.normal(size=24) for _ in "xy")
        strata, models = np.tile(np.arange(3), 8), np.repeat(np.arange(8), 3)
        for name, whole in (("whole", models), ("one by one", None)):
            found = correlation(x, y, generator(seed), strata=strata, models=whole, draws=199)
            alarms[name] += found is not None and found.p_value <= 0.05
    assert alarms["whole"] <= 23
    assert alarms["one by one"] > 23


def test_runs_of_one_name_on_one_benchmark_are_models_of_their_own() -> None:
    rng = generator(8, "names")
    rows = [
        MeasuredModel("m", *rng.uniform(0.4, 0.9, 3).tolist(), benchmark=of)
        for of in ("a", "b")
        for _ in range(6)
    ]
    found = law(rows, generator(0, "law"), draws=99)
    assert found.plain is not None
    assert found.plain.n == 6


# ------------------------------------------------------------------------------------- the paper


def test_the_tables_are_the_printed_ones() -> None:
    tables = read_tables()
    assert tables.models[-1] == "GPT-4o"
    assert tables.sgr.shape == (8, 3)
    assert tables.sgr[-1].tolist() == [71.8, 66.4, 63.7]
    assert tables.perturbed["visibility"]["sgr"][-1] == -28.4
    assert tables.matched.sum() == 5
    np.testing.assert_allclose(tables.ood_accuracy - tables.accuracy, tables.ood_drop, atol=0.051)


def test_says_where_the_text_and_its_tables_differ() -> None:
    correlations, statements, reliance = recomputed_tables(read_tables())
    tables = read_tables()
    first = correlations.rows[0]
    known = stats.pearsonr(tables.sgr.ravel(), (tables.ood_accuracy / tables.accuracy).ravel())
    assert first["tables"] == pytest.approx(known.statistic)
    assert first[""] == "differs"
    verdict = {row["sentence"]: row[""] for row in statements.rows}
    assert verdict["drop is other-data accuracy minus accuracy"] == "agrees"
    assert verdict["accuracy exceeds SGR"] == "differs"
    assert verdict["SGR falls more than accuracy under every relevant perturbation"] == "agrees"
    assert reliance.rows[-1]["ratio of drops"] == pytest.approx((21.3 + 24.2 + 28.4) / 3 / 2.8)


# --------------------------------------------------------------------------------- the law itself


def population(seed: int, driven_by: str, n: int = 16) -> list[MeasuredModel]:
    """Reasoners whose retention follows grounding, accuracy or nothing, with noise."""
    rng = generator(seed, "population")
    sgr, accuracy, noise = rng.uniform(0.2, 0.9, n), rng.uniform(0.5, 0.9, n), rng.normal(size=n)
    cause = {"grounding": sgr, "accuracy": accuracy, "nothing": np.zeros(n)}[driven_by]
    kept = np.clip(0.5 + 0.4 * cause + 0.05 * noise, 0, 1)
    rows = zip(sgr, accuracy, accuracy * kept, strict=True)
    return [
        MeasuredModel(f"m{i}", float(s), float(a), float(o), "all")
        for i, (s, a, o) in enumerate(rows)
    ]


def test_the_law_is_found_where_it_holds() -> None:
    found = law(population(0, "grounding"), generator(0, "law"))
    assert found.holds
    assert found.plain is not None
    assert found.plain.r > 0.8
    assert "keep more" in found.sentence


@pytest.mark.parametrize("driven_by", ["accuracy", "nothing"])
def test_and_not_where_it_does_not(driven_by: str) -> None:
    """At most 5 % of 200 populations."""
    held = [
        law(population(seed, driven_by), generator(seed, "law"), draws=399).holds
        for seed in range(200)
    ]
    assert sum(held) <= 10
