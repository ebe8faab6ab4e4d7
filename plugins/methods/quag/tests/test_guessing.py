"""Chance: who does not know what is right is rarely called able, whatever is answered how often."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from cuescope_quag.answers import Measure
from cuescope_quag.guessing import p_guessed, p_of_two
from cuescope_quag.losing import Rule, compared

RULE = Rule(resamples=200)


def measures(label: np.ndarray, count: int) -> list[Measure]:
    """Balanced accuracy and accuracy of these right answers."""
    most = 100 * float(np.bincount(label).max() / len(label))
    return [
        Measure("balanced accuracy", label, 100 / count, label),
        Measure("accuracy", np.zeros(len(label), int), most, label),
    ]


def p_chance(given: np.ndarray, measure: Measure, rng: np.random.Generator, rule: Rule) -> float:
    before = given == measure.label
    cluster = np.arange(len(before))
    return compared(before, before[:, None], measure, cluster, rng, rule, given)[0].p_chance


@pytest.mark.parametrize("often", [0.05, 0.5, 0.63, 0.95])
def test_answers_that_know_nothing_are_at_chance(often: float) -> None:
    """Yes or no in the ratio of 6 to 13, so often yes is said: at most 5 % are called able."""
    alarms = np.zeros(2)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        label = rng.permutation(np.repeat([1, 0], [60, 130]))
        given = (rng.random(190) < often).astype(int)
        alarms += [p_chance(given, one, rng, RULE) <= RULE.level for one in measures(label, 2)]
    assert alarms.max() <= 10


def test_who_says_yes_too_often_is_still_above_chance() -> None:
    """Of 720 "yes" 98 % recognised, of 1,560 "no" 25 %: 48 % right, 61.5 % balanced."""
    rng = np.random.default_rng(0)
    label = np.repeat([1, 0], [720, 1560])
    given = np.repeat([1, 0, 0, 1], [706, 14, 390, 1170])
    by_answer, plain = measures(label, 2)
    assert p_chance(given, by_answer, rng, RULE) <= 0.005
    assert p_chance(given, plain, rng, RULE) > 0.9  # "no" to all is right more often


def test_two_answers_are_fishers_exact_test() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        given, label = rng.integers(0, 2, (2, 25))
        table = [[int(((given == a) & (label == b)).sum()) for b in (1, 0)] for a in (1, 0)]
        expected = fisher_exact(table, alternative="greater").pvalue
        assert p_of_two(given, label) == pytest.approx(expected)


def test_several_answers_are_compared_with_all_orders_of_the_right_ones() -> None:
    label, given = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 1, 2, 0, 2])
    weight = 1 / np.bincount(label)[label]
    orders = np.array(list(permutations(range(7))))
    values = (weight[orders] * (given == label[orders])).sum(axis=1)
    exact = float((values >= (weight * (given == label)).sum() - 1e-9).mean())
    measure = measures(label, 3)[0]
    found, best = p_guessed(given == label, given, measure, np.random.default_rng(0), 4000)
    assert found == pytest.approx(exact, abs=0.02)
    assert best == pytest.approx(2 * 2 * 6 / 5040, abs=0.003)  # one in 210 orders is all right


def test_own_choices_are_a_binomial() -> None:
    measure = Measure("accuracy", np.zeros(4, int), 25.0)
    found, best = p_guessed(
        np.array([1, 1, 1, 0], bool), None, measure, np.random.default_rng(0), 9
    )
    assert found == pytest.approx(4 * 0.25**3 * 0.75 + 0.25**4)
    assert best == 0.25**4
