"""Gaps against closed forms, and the nulls against simulation."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import generator
from cuescope_spurlens.gaps import (
    corrected,
    draws_for,
    gap_interval,
    gaps,
    p_values,
    random_maxima,
    ranked,
    shuffled_maxima,
)


def rng(name: str) -> np.random.Generator:
    return generator(0, name)


def test_ranks_by_score_and_breaks_ties_by_seed() -> None:
    scores = np.array([[0.1, 1], [0.9, 1], [0.5, 0], [0.0, 1], [0.7, 0]])
    top, bottom = ranked(scores, 2, rng("a"))
    assert top[0].tolist() == [1, 4]
    assert set(bottom[0].tolist()) == {0, 3}
    assert set(bottom[1].tolist()) == {2, 4}
    assert set(top[1].tolist()) <= {0, 1, 3}
    assert np.array_equal(ranked(scores, 2, rng("a"))[0], top)
    drawn = {tuple(sorted(ranked(scores, 2, rng(str(n)))[0][1].tolist())) for n in range(40)}
    assert drawn == {(0, 1), (0, 3), (1, 3)}


def test_gap_is_the_difference_of_the_means() -> None:
    rates = np.array([1, 2 / 3, 0, 1 / 3])
    assert gaps(rates, np.array([[0, 1]]), np.array([[2, 3]])) == pytest.approx([2 / 3])


def test_interval_covers_what_two_binomials_have() -> None:
    """Bootstrap of k zero-one rates: the difference of two binomials, whose spread is known."""
    top, bottom = np.repeat([1.0, 0], [40, 10]), np.repeat([1.0, 0], [20, 30])
    low, high = gap_interval(top, bottom, rng("interval"), resamples=20_000)
    spread = np.sqrt(0.8 * 0.2 / 50 + 0.4 * 0.6 / 50)
    assert (low, high) == pytest.approx((0.4 - 1.96 * spread, 0.4 + 1.96 * spread), abs=0.02)


def test_shuffled_null_is_that_of_all_deals() -> None:
    """Four samples, two overlapping cues: every deal by hand."""
    rates = np.array([0, 1 / 3, 2 / 3, 1])
    top, bottom = np.array([[0, 1], [1, 2]]), np.array([[2, 3], [0, 3]])
    every = [max(gaps(rates[list(deal)], top, bottom)) for deal in permutations(range(4))]
    drawn = shuffled_maxima(rates, top, bottom, 20_000, rng("shuffle"))
    for value in set(every):
        assert (drawn >= value - 1e-9).mean() == pytest.approx(
            np.mean(np.array(every) >= value - 1e-9), abs=0.02
        )


def test_random_rankings_are_draws_without_replacement() -> None:
    rates = np.repeat([0, 1 / 3, 1], [5, 7, 8])
    drawn = random_maxima(rates, 3, 6, 20_000, rng("random"))
    brute, source = [], rng("brute")
    for _ in range(4_000):
        deals = [source.permutation(rates) for _ in range(3)]
        brute.append(max(deal[:6].mean() - deal[6:12].mean() for deal in deals))
    assert stats.ks_2samp(np.round(drawn, 6), np.round(brute, 6)).pvalue > 0.001
    assert drawn.mean() == pytest.approx(np.mean(brute), abs=0.01)


def test_p_values_count_the_answers_themselves() -> None:
    assert p_values(np.array([0.5, 0.1]), np.array([0.1, 0.2, 0.5])).tolist() == [0.5, 1.0]


@pytest.mark.parametrize("null", ["shuffled", "random"])
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_no_reliance_is_found_at_the_promised_rate(null: str, alike: float) -> None:
    """32 cues, independent or nearly the same, and answers that know none of them.

    The shuffled null is exact: about 5 %. Random rankings, which have nothing in common, are
    no less than as strict.
    """
    source, found, studies = rng(f"null-{null}-{alike}"), [], 400
    for _ in range(studies):
        common = source.normal(size=(150, 1))
        scores = alike * common + (1 - alike) * source.normal(size=(150, 32))
        rates = source.binomial(3, source.beta(2, 1, size=150)) / 3
        top, bottom = ranked(scores, 20, source)
        asked = np.unique([top, bottom])
        places = np.searchsorted(asked, top), np.searchsorted(asked, bottom)
        if null == "shuffled":
            maxima = shuffled_maxima(rates[asked], *places, 199, source)
        else:
            maxima = random_maxima(rates[asked], 32, 20, 199, source)
        found.append(p_values(gaps(rates, top, bottom), maxima).min() <= 0.05)
    alarms = sum(found)
    assert alarms <= stats.binom.ppf(0.999, studies, 0.05)
    if null == "shuffled":
        assert alarms >= stats.binom.ppf(0.001, studies, 0.05)


def test_reliance_is_found_among_many_cues() -> None:
    source, found = rng("power"), 0
    for _ in range(20):
        scores = source.normal(size=(200, 32))
        rates = source.binomial(3, np.where(scores[:, 7] > 0, 0.95, 0.7)) / 3
        top, bottom = ranked(scores, 50, source)
        maxima = shuffled_maxima(rates, top, bottom, 199, source)
        gap = gaps(rates, top, bottom)
        found += gap.argmax() == 7 and p_values(gap, maxima)[7] <= 0.05
    assert found >= 19


def test_holm_is_holm_and_bh_is_scipys() -> None:
    assert corrected([0.01, 0.04, 0.03], "holm") == pytest.approx([0.03, 0.06, 0.06])
    assert corrected([0.01, 0.04, 0.03], "bh") == pytest.approx([0.03, 0.04, 0.04])
    assert corrected([0.9, 0.8], "holm") == [1.0, 1.0]
    assert corrected([], "holm") == []


def test_draws_suffice_for_holm_over_all_cases() -> None:
    draws = draws_for(158, 0.05, 2000)
    assert 158 / (draws + 1) < 0.05 / 3
    assert draws_for(3, 0.05, 2000) == 2000
