"""Correlations over models, against other libraries; what the paper's own tables give."""

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import generator
from cuescope_step_grounding.law.law import MeasuredModel, law
from cuescope_step_grounding.law.pairs import matched_pairs
from cuescope_step_grounding.paper import read_tables, recomputed_tables


def test_pairs_are_those_alike_in_accuracy() -> None:
    grounding, kept, accuracy = map(
        np.array, ([0.5, 0.6, 0.9], [-3.0, -2.0, -9.0], [70.0, 70.9, 75.0])
    )
    (pair,) = matched_pairs(grounding, kept, accuracy, within=1.0)
    assert (pair.better, pair.worse) == (1, 0)
    assert (pair.more_grounded, pair.more_kept) == pytest.approx((0.1, 1.0))
    apart = np.array([0, 1, 1])
    assert matched_pairs(grounding, kept, accuracy, within=1.0, strata=apart) == []


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
    np.testing.assert_allclose(
        tables.ood_accuracy - tables.accuracy, tables.ood_drop, atol=0.051
    )


def test_says_where_the_text_and_its_tables_differ() -> None:
    correlations, statements, reliance = recomputed_tables(read_tables())
    tables = read_tables()
    first = correlations.rows[0]
    known = stats.pearsonr(
        tables.sgr.ravel(), (tables.ood_accuracy / tables.accuracy).ravel()
    )
    assert first["tables"] == pytest.approx(known.statistic)
    assert first[""] == "differs"
    verdict = {row["sentence"]: row[""] for row in statements.rows}
    assert verdict["drop is other-data accuracy minus accuracy"] == "agrees"
    assert verdict["accuracy exceeds SGR"] == "differs"
    assert (
        verdict["SGR falls more than accuracy under every relevant perturbation"]
        == "agrees"
    )
    assert reliance.rows[-1]["ratio of drops"] == pytest.approx(
        (21.3 + 24.2 + 28.4) / 3 / 2.8
    )


# --------------------------------------------------------------------------------- the law itself


def population(seed: int, driven_by: str, n: int = 16) -> list[MeasuredModel]:
    """Reasoners whose retention follows grounding, accuracy or nothing, with noise."""
    rng = generator(seed, "population")
    sgr, accuracy, noise = (
        rng.uniform(0.2, 0.9, n),
        rng.uniform(0.5, 0.9, n),
        rng.normal(size=n),
    )
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


@pytest.mark.long
@pytest.mark.parametrize(
    "driven_by", ["accuracy", pytest.param("nothing", marks=pytest.mark.long)]
)
def test_and_not_where_it_does_not(driven_by: str) -> None:
    """At most 5 % of 200 populations."""
    held = [
        law(population(seed, driven_by), generator(seed, "law"), draws=399).holds
        for seed in range(200)
    ]
    assert sum(held) <= 10
