"""The nulls by simulation: groups, sizes and labels."""

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import generator
from cuescope_sdk.statistics import GapTest, Groups
from cuescope_spurlens.scores import RankedSides
from cuescope_spurlens.spuriosity.detections import rank_images
from cuescope_spurlens.spuriosity.labels import doubtful_labels
from cuescope_spurlens.spuriosity.sizes import size_strata
from cuescope_spurlens.spuriosity.units import unit_means, unit_rows


def rng(name: str) -> np.random.Generator:
    return generator(0, name)


def alarms_allowed(audits: int) -> int:
    """So many at 5% that more are one in a thousand."""
    return int(stats.binom.ppf(0.999, audits, 0.05))


# ------------------------------------------------------------------------------------ the nulls


def judged(
    scores: np.ndarray, rates: np.ndarray, k: int, source: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """p-values and strengths of the cues."""
    top, bottom = rank_images(scores, k, source)
    asked = np.unique([top, bottom])
    sides = np.searchsorted(asked, top), np.searchsorted(asked, bottom)
    test = GapTest.of(rates[asked], *sides, 199, source)
    return test.p_value, test.strength


@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_no_reliance_is_found_at_the_promised_rate(alike: float) -> None:
    """32 cues, independent or nearly the same, and answers that know none of them."""
    source, alarms, audits = rng(f"null-{alike}"), 0, 400
    for _ in range(audits):
        common = source.normal(size=(150, 1))
        scores = alike * common + (1 - alike) * source.normal(size=(150, 32))
        rates = source.binomial(3, source.beta(2, 1, size=150)) / 3
        alarms += judged(scores, rates, 20, source)[0].min() <= 0.05
    assert stats.binom.ppf(0.001, audits, 0.05) <= alarms <= alarms_allowed(audits)


def test_reliance_is_found_among_many_cues() -> None:
    source, found = rng("power"), 0
    for _ in range(20):
        scores = source.normal(size=(200, 32))
        rates = source.binomial(3, np.where(scores[:, 7] > 0, 0.95, 0.7)) / 3
        p_value, strength = judged(scores, rates, 50, source)
        found += strength.argmax() == 7 and p_value[7] <= 0.05
    assert found >= 19


# --------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize("grouped", [True, False])
def test_clips_of_a_source_count_once(grouped: bool) -> None:
    """Eight clips of each of 60 sources: alike in things and answers. As images they are false."""
    source, alarms, audits = rng("clips"), 0, 100
    codes = np.repeat(np.arange(60), 8)
    units = Groups(codes, 60, declared=True) if grouped else Groups.single(len(codes))
    k = 20 if grouped else 160  # as large a part of either
    for _ in range(audits):
        scores = (source.random((60, 12)) < 0.5)[codes] * source.uniform(
            0.3, 1, (480, 12)
        )
        rates = (source.random(60) < 0.7)[codes].astype(float)
        p_value, _ = judged(
            unit_means(scores, units), unit_means(rates, units), k, source
        )
        alarms += p_value.min() <= 0.05
    assert alarms <= alarms_allowed(audits) if grouped else alarms >= 30


def test_units_have_their_rows_and_means() -> None:
    groups = Groups(np.array([0, 1, 0, 2]), 3, declared=True)
    assert unit_means(np.array([1.0, 0.5, 0.0, 1.0]), groups).tolist() == [
        0.5,
        0.5,
        1.0,
    ]
    assert unit_means(np.ones((4, 2)), groups).shape == (3, 2)
    assert unit_rows(groups, np.array([2, 0])) == [3, 0, 2]


# ----------------------------------------------------------------------------- size and labels


def test_strata_are_of_one_size() -> None:
    sizes = np.array([0.0, *range(1, 49)])
    stratum = size_strata(sizes)
    assert (stratum[0], np.bincount(stratum).tolist()) == (0, [1, 12, 12, 12, 12])
    assert (np.diff(stratum[1:]) >= 0).all()
    assert not size_strata(np.full(40, 7.0)).any()
    assert not size_strata(np.zeros(40)).any()


@pytest.mark.parametrize(("known", "noise"), [(True, 0.2), (True, 1.0), (False, 0.0)])
def test_errors_that_follow_the_size_are_no_cue(known: bool, noise: float) -> None:
    """Small objects are missed, and stand among other things; no cue does anything.

    With a noise of 1 half of the variation of sizes is noise, as a detector's boxes may have.
    """
    source, alarms, audits = rng("sizes"), 0, 100
    for _ in range(audits):
        size = source.normal(size=300)
        there = source.random((300, 12)) < 1 / (
            1 + np.exp(-size[:, None] * source.normal(size=12))
        )
        top, bottom = rank_images(
            there * source.uniform(0.3, 1, there.shape), 50, source
        )
        rates = (source.random(300) < 1 / (1 + np.exp(-1.5 - 1.2 * size))).astype(float)
        measured = np.exp(size + noise * source.normal(size=300))
        stratum = size_strata(measured) if known else None
        test = RankedSides(top, bottom, stratum).test(rates, 199, source)
        alarms += test.p_value.min() <= 0.05
    assert alarms <= alarms_allowed(audits) if known else alarms >= 30


def test_labels_are_doubted_by_the_detector_alone() -> None:
    with_object = np.array([0.9, 0.8, 0.0, 0.7, 0.6, 0.9, 0.8, 0.9])
    without = np.array([0.0, 0.9, 0.1, 0.0, 0.2])
    first, second = doubtful_labels(with_object, without)
    assert np.flatnonzero(first.rows).tolist() == [2]
    assert np.flatnonzero(second.rows).tolist() == [1]
    # the shares of wrong labels that would be contradicted
    assert (first.chance, second.chance) == (4 / 5, 7 / 8)


def test_many_doubts_are_doubts_too() -> None:
    """A detector that misses four in ten objects contradicts as many labels, and is heard."""
    with_object = np.array([0.9, 0.8, 0.9, 0.0, 0.0])
    first, second = doubtful_labels(with_object, np.zeros(5))
    assert (first.rows.sum(), first.chance, second.chance) == (2, 1.0, 0.6)
    # up to four more objects may hide beside none that was seen: 0.4 ** 3 is above 5%
    assert second.most_hidden(0, expected=9.0) == 3


@pytest.mark.parametrize(
    ("with_object", "without"),
    [
        ([], [0.5]),
        ([0.0, 0.0], []),
        ([0.3, 0.4], [0.9, 0.8]),
        ([0.0, 0.0, 0.0, 0.0, 0.9], [0.0]),
        ([1.0, 1.0], [0.0, 0.0]),
    ],
)
def test_a_detector_that_cannot_speak_of_labels_says_so(
    with_object: list[float], without: list[float]
) -> None:
    """It does not know the class, or repeats the labels: then a share is taken as wrong."""
    for doubts in doubtful_labels(np.array(with_object), np.array(without)):
        assert not doubts.rows.any()
        assert doubts.chance is None
        assert doubts.most_hidden(0, expected=2.5) == 3


# ------------------------------------------------------------------------ what could be missed
