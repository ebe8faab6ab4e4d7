"""Statistics against brute force: every permutation, every resample."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from cuescope_sdk.statistics import (
    Overlap,
    benjamini_hochberg,
    cohen_kappa,
    exceeds_rate_p_value,
    holm,
    lower_p_value,
    uneven_p_value,
)
from cuescope_sdk.statistics._resampling import permutation_p_value
from cuescope_sdk.statistics._tests import correlation_interval


def cell(*counts: int) -> tuple[np.ndarray, ...]:
    return tuple(np.array([count]) for count in counts)


def test_q_values_by_hand_with_tests_that_were_not_made() -> None:
    assert benjamini_hochberg([0.01, None, 0.04, 0.03]) == pytest.approx(
        [0.03, None, 0.04, 0.04]
    )
    assert benjamini_hochberg([None, None]) == [None, None]
    assert benjamini_hochberg([]) == []


def test_kappa_is_scikit_learns() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        first, second = rng.random((2, 30)) < 0.4
        assert cohen_kappa(first, second) == pytest.approx(
            cohen_kappa_score(first, second)
        )
    same = np.ones(4, bool)
    assert cohen_kappa(same, same) is None
    assert cohen_kappa(same[:0], same[:0]) is None


def test_exceeding_a_rate_is_the_binomial_tail() -> None:
    assert exceeds_rate_p_value(10, 10, 0.5) == pytest.approx(0.5**10)
    assert exceeds_rate_p_value(3, 10, 0.2) == pytest.approx(stats.binom.sf(2, 10, 0.2))
    assert exceeds_rate_p_value(0, 0, 0.2) == 1.0


def before_and_after(
    same: int, lost: int, won: int, never: int
) -> tuple[np.ndarray, np.ndarray]:
    """Right before, and right after, of so many samples."""
    before = np.repeat([True, True, False, False], [same, lost, won, never])
    return before, np.repeat([True, False, True, False], [same, lost, won, never])


def test_the_overlap_of_two_properties_is_fishers_exact_test() -> None:
    draws = np.random.default_rng(1)
    for _ in range(20):
        given, label = draws.integers(0, 2, (2, 25))
        table = [
            [int(((given == a) & (label == b)).sum()) for b in (1, 0)] for a in (1, 0)
        ]
        expected = stats.fisher_exact(table, alternative="greater").pvalue
        assert Overlap.p_value(given == 1, label == 1) == pytest.approx(expected)


def test_what_is_common_by_chance_is_what_random_sets_have() -> None:
    chances = Overlap.chances(6, [4, 3, 5])
    sets = [[set(some) for some in combinations(range(6), size)] for size in (4, 3, 5)]
    common = [len(a & b & c) for a, b, c in product(*sets)]
    assert chances == pytest.approx(np.bincount(common, minlength=7) / len(common))


def test_findings_of_runs_that_list_the_same_frames_are_one_cue() -> None:
    frames = [
        "abcd",  # of the run on all data
        "bcx",
        "xyz",  # as many, but other frames
        "abcd",  # about another label
        "ab",  # "d" was not seen there: of what both have seen it lists most
        "q",
        "r",
    ]
    about = ["cow", "cow", "cow", "horse", "cow", "cow", "cow"]
    names = [None, None, None, None, None, "a mark", "a mark"]
    runs = [0, 1, 2, 3, 4, 1, 0]
    seen = [*map(frozenset, ("abcdxyz", "bcdxyz", "abcdxyz", "abcdxyz", "abcxyz"))]
    listed = [{(sample, 0) for sample in of_row} for of_row in frames]
    linked = Overlap.link_findings(about, names, listed, runs, seen)
    assert linked == [[0, 1, 4], [2], [3], [5, 6]]
    # two findings of one run are two cues, however alike
    alone = Overlap.link_findings(about[:2], names, [listed[0]] * 2, [0, 0], seen)
    assert alone == [[0], [1]]


def test_orders_in_some_or_all() -> None:
    x, y = np.array([1.0, 2, 4, 3, 7]), np.array([0.0, 3, 2, 5, 6])
    orders = [np.array(order) for order in permutations(range(5))]
    values = [float(x @ y[order]) for order in orders]
    exact = np.mean([value >= x @ y for value in values])

    def product_of(order: np.ndarray) -> float:
        return float(x @ y[order])

    assert permutation_p_value(product_of, orders, exact=True) == pytest.approx(exact)
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(5) for _ in range(4000)]
    assert permutation_p_value(product_of, drawn) == pytest.approx(exact, abs=0.01)
    assert permutation_p_value(product_of, [orders[-1]]) > 0


def test_interval_of_a_correlation_is_scipys() -> None:
    x, noise = np.random.default_rng(0).normal(size=(2, 30))
    known = stats.pearsonr(x, x + noise)
    interval = known.confidence_interval()
    ends = correlation_interval(float(known.statistic), 30)
    assert ends == pytest.approx((interval.low, interval.high))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_small_tables_are_as_in_the_books() -> None:
    # Fisher's tea: 3 of 4 cups named rightly, 17 of 70 ways are as good
    poured = np.array([True] * 4 + [False] * 4)
    named = np.array([True, True, True, False, True, False, False, False])
    assert Overlap.p_value(poured, named) == pytest.approx(17 / 70)
    # Mendel's peas: 5474 round and 1850 wrinkled, chi-square 0.2629 of one degree
    p_value = uneven_p_value([5474, 1850], [7324 * 0.75, 7324 * 0.25])
    assert p_value == pytest.approx(0.6081, abs=1e-4)
    # of 20 orders of three and three, one has all three lower
    assert lower_p_value([1, 2, 3], [4, 5, 6]) == pytest.approx(1 / 20)
