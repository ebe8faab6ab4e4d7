"""All pairs of a feature and a value, tested at once: against brute force and Fisher's test."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from cuescope_sdk.statistics import AssociationTests, GroupedFeatures, Groups


def groups_of(codes: np.ndarray) -> Groups:
    return Groups(codes, int(codes.max()) + 1, True)


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def one_pair(
    value: np.ndarray, present: np.ndarray, draws: int = 20_000
) -> AssociationTests:
    stratum, groups = np.zeros(len(value), dtype=int), Groups.single(len(value))
    features = GroupedFeatures(present[:, None], stratum, groups)
    return features.tests(value[:, None], rng(0), draws=draws)


def test_one_pair_of_single_samples_is_fishers_test() -> None:
    present = np.arange(40) < 15
    value = np.isin(np.arange(40), [*range(8), 20, 21]).astype(float)
    tests = one_pair(value, present)
    exact = fisher_exact([[8, 7], [2, 23]], alternative="greater").pvalue
    assert tests.p_value[0, 0] == pytest.approx(exact, abs=0.003)
    assert tests.q_value[0, 0] >= tests.p_value[0, 0]
    assert (tests.count, tests.p_of(0, 0)) == (1, tests.p_value[0, 0])


def test_every_order_of_groups_within_strata_gives_the_same() -> None:
    """Two strata of four groups each, of two samples: 576 orders, tried one by one."""
    random = rng(1)
    codes, stratum = np.repeat(np.arange(8), 2), np.repeat([0, 1], 4)
    values = random.integers(0, 3, (16, 2)).astype(float)
    present = random.random((16, 2)) < 0.5
    groups = groups_of(codes)
    features = GroupedFeatures(present, stratum, groups)
    tests = features.tests(values, rng(2), draws=20_000, fewest=1)
    members = [np.array(order) for order in permutations(range(4))]
    orders = [
        np.concatenate([first, 4 + second]) for first in members for second in members
    ]
    feature = groups.means(present)
    every = []
    for order in orders:
        dealt = feature[order][codes]
        every.append(GroupedFeatures(dealt, stratum, groups).strengths(values))
    observed = features.strengths(values)
    exact = (np.array(every) >= observed - 1e-9).mean(axis=0)
    assert tests.p_value == pytest.approx(exact, abs=0.012)
    # the largest of all pairs at once, on one scale or another, is never less extreme
    assert (tests.q_value >= tests.p_value - 1e-12).all()
    assert tests.critical == pytest.approx(
        np.quantile(np.max(every, axis=(1, 2)), 0.95), abs=0.05
    )


def test_few_groups_are_counted_out() -> None:
    """Seven groups of five: 35 ways to have the feature in three of them, and the data is one."""
    codes = np.repeat(np.arange(7), 5)
    present = codes < 3
    features = GroupedFeatures(
        present[:, None], np.zeros(7, dtype=int), groups_of(codes)
    )
    tests = features.tests(present[:, None] * 1.0, rng(3), draws=4000)
    assert tests.p_value[0, 0] == pytest.approx(1 / 35, abs=0.01)


def test_groups_change_places_within_strata_only() -> None:
    """All that has the feature is of one stratum, and so are all values: nothing is exchanged."""
    label = np.repeat([0, 1], 12)
    present = (label == 0)[:, None]
    features = GroupedFeatures(present, label, Groups.single(24))
    tests = features.tests(present * 1.0, rng(4))
    assert np.isnan(tests.p_value).all()
    assert (tests.overall_p, tests.critical, tests.count, tests.p_of(0, 0)) == (
        None,
        None,
        0,
        1.0,
    )


@pytest.mark.parametrize("telling", [0, 2])
def test_values_that_are_hardly_ever_there_are_not_tested(telling: int) -> None:
    tests = one_pair(
        (np.arange(30) < telling).astype(float), np.arange(30) < 15, draws=200
    )
    assert tests.count == 0


@pytest.mark.parametrize(
    ("audits", "most"), [(80, 11), pytest.param(250, 25, marks=pytest.mark.long)]
)
def test_any_false_finding_is_as_rare_as_promised(audits: int, most: int) -> None:
    """12 pairs at 5%: more than so many of the audits come up once in a thousand times."""
    found = 0
    for seed in range(audits):
        random = rng(5, seed)
        values = (random.random((60, 4)) < [0.05, 0.1, 0.3, 0.5]).astype(float)
        present = random.random((60, 3)) < [0.1, 0.3, 0.5]
        stratum, groups = np.arange(60) % 3, Groups.single(60)
        features = GroupedFeatures(present, stratum, groups)
        tests = features.tests(values, random, draws=199)
        least = [np.nanmin(tests.q_value)]
        if tests.overall_q is not None:
            least.append(tests.overall_q)
        found += min(least) <= 0.05
    assert found <= most


def test_sums_count_alike_however_large_they_are() -> None:
    sums = rng(9).normal(size=(400, 3))
    sums[0] += [4.0, 0.0, 0.0]
    tested = np.array([[True, True, True]])
    tests = AssociationTests.of_sums(sums, tested, level=0.05)
    larger = 5 + sums * [1.0, 300.0, 0.01]
    again = AssociationTests.of_sums(larger, tested, level=0.05)
    assert again.q_value == pytest.approx(tests.q_value)
    assert (tests.q_value <= 0.05).tolist() == [[True, False, False]]
    # what no draw moves proves nothing
    still = AssociationTests.of_sums(np.ones((400, 1)), tested[:, :1], level=0.05)
    assert still.p_value.tolist() == [[1.0]]
