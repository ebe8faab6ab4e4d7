"""Families of overlapping tests: what they share is free, and false findings stay rare."""

import numpy as np
import pytest

from cuescope_sdk.statistics import (
    Families,
    FamilyTest,
    Groups,
    benjamini_hochberg,
    gap_p_values,
)


def family(
    values: np.ndarray,
    present: np.ndarray,
    groups: Groups,
    rng: np.random.Generator,
    weight: np.ndarray | None = None,
) -> FamilyTest:
    p_value = gap_p_values(values, present, groups, rng)
    even = np.ones(len(p_value)) if weight is None else weight
    return FamilyTest.of_gaps(
        values, present, groups, rng, p_value=p_value, weight=even, draws=1000
    )


def answers(
    seed: int, samples: int = 120, features: int = 30
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = (rng.random(samples) < 0.8).astype(float)
    return values, rng.random((samples, features)) < 0.3


def test_copies_of_a_feature_cost_nothing() -> None:
    values, present = answers(0)
    groups = Groups.single(120)
    column = present[:, [3]]
    rng = np.random.default_rng(0)
    alone = family(values, column, groups, rng)
    copies = family(values, np.repeat(column, 40, axis=1), groups, rng)
    assert copies.corrected(copies.p_value) == pytest.approx(
        alone.corrected(alone.p_value)[0], abs=0.05
    )
    others = family(values, present, groups, rng)
    # thirty that do not overlap cost about as much as Bonferroni's thirty
    assert 0.05 / 40 < others.critical(0.05) < 0.05 / 15
    assert copies.critical(0.05) > 0.02


@pytest.mark.parametrize(
    # the binomial 99.9th percentile of those with an alarm at 5%
    ("audits", "most"),
    [(40, 7), pytest.param(100, 13, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("clips", [pytest.param(1, marks=pytest.mark.long), 6])
def test_any_false_finding_is_as_rare_as_promised(
    clips: int, audits: int, most: int
) -> None:
    alarms = 0
    for seed in range(audits):
        rng = np.random.default_rng([1, seed])
        source = np.repeat(np.arange(40), clips)
        groups = Groups(source, 40, clips > 1)
        # clips of a source are alike in all that they show, and in how hard they are
        of_source = rng.random((40, 8)) < 0.4
        values = (rng.random(len(source)) < rng.beta(3, 1, 40)[source]).astype(float)
        cut = rng.random((len(source), 24)) < 0.8
        present = np.tile(of_source[source], (1, 3)) & cut
        test = family(values, present, groups, rng)
        alarms += test.corrected(test.p_value).min() <= 0.05
    assert alarms <= most


def test_a_loss_is_found_and_another_p_value_is_corrected_alike() -> None:
    values, present = answers(2)
    values[present[:, 5]] = (np.arange(present[:, 5].sum()) % 3 == 0).astype(float)
    test = family(values, present, Groups.single(120), np.random.default_rng(0))
    corrected = test.corrected(test.p_value)
    assert corrected.argmin() == 5
    assert corrected[5] < 0.01
    assert (corrected >= test.p_value).all()
    weaker = test.corrected(np.minimum(test.p_value * 20, 1.0))
    assert (weaker >= corrected).all()


def test_a_weight_moves_the_budget() -> None:
    values, present = answers(4)
    values[present[:, 5]] = (np.arange(present[:, 5].sum()) % 2 == 0).astype(float)
    groups = Groups.single(120)
    rng = np.random.default_rng(0)
    even = family(values, present, groups, rng)
    favoured = family(values, present, groups, rng, 1 + 20.0 * (np.arange(30) == 5))
    assert favoured.corrected(favoured.p_value)[5] < even.corrected(even.p_value)[5]


def test_q_values_in_families_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        label = rng.integers(6, size=40)
        p_value = np.where(rng.random(40) < 0.2, np.nan, rng.random(40) ** 3)
        made = np.isfinite(p_value)
        smallest = [
            p_value[made & (label == one)].min() for one in np.unique(label[made])
        ]
        family_q = np.array(benjamini_hochberg(smallest))
        q_value = Families(label).q_values(p_value)
        assert np.isnan(q_value[~made]).all()
        for rate in (0.01, 0.05, 0.2, 0.5):
            chosen = (family_q <= rate).sum()
            found = p_value <= rate * chosen / len(smallest)
            assert np.array_equal(q_value <= rate, found)


def test_nothing_tested_has_no_q_value() -> None:
    assert np.isnan(Families(np.arange(3)).q_values(np.full(3, np.nan))).all()


def test_a_family_by_its_draws_is_as_strict_as_its_gate() -> None:
    rng = np.random.default_rng(0)
    statistics = rng.normal(size=(1001, 6))
    statistics[0, 2] = 6.0
    test = FamilyTest.of_draws(statistics)
    assert test.corrected(test.p_value).argmin() == 2
    assert test.corrected(test.p_value)[2] < 0.001
    shut = FamilyTest.of_draws(statistics, gate=0.2)
    assert shut.corrected(shut.p_value).min() == 0.2
    some = test.take(np.array([2, 4]))
    # the others were tried all the same
    assert some.corrected(some.p_value)[1] == pytest.approx(
        test.corrected(test.p_value)[4], abs=1e-9
    )
