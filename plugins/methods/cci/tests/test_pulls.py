"""The tests of pulls: rare under nulls, there when planted, and figures by hand."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.stats import binom

from cuescope_cci.backgrounds.pulls import (
    Answers,
    Observed,
    _Field,
    label_weights,
    pull,
    pull_tests,
    smallest_pull,
    strata_of,
)
from cuescope_sdk.statistics import AssociationTests, Groups, Permutation

CLASSES = 4


def groups_of(codes: np.ndarray) -> Groups:
    return Groups(codes, int(codes.max()) + 1, True)


def rng(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def answers_of(objects: np.ndarray, added: np.ndarray) -> Answers:
    return Answers(objects + added, objects)


# --------------------------------------------------------------------------------- what is tested


def test_moves_by_hand() -> None:
    answers = Answers(np.eye(3)[[0, 1, 2]], np.eye(3)[[0, 2, 1]])
    assert answers.moves().tolist() == [[0, 0, 0], [0, 1, -1], [0, -1, 1]]


def test_what_backgrounds_add_is_dealt_to_all_classes_alike_and_to_whole_groups() -> (
    None
):
    """In each group one class has all that is added: any of the four comes up as often."""
    added = 9.0 * np.eye(4)[np.repeat(np.arange(8), 5) % 4]
    answers = answers_of(np.tile([1.0, 0.5, 0.2, 0.1], (40, 1)), added)
    groups = groups_of(np.repeat(np.arange(8), 5))
    draws = np.array(list(islice(answers.deals(groups, rng(0)), 400)))
    whole = draws.reshape(400, 8, 5)
    assert (whole == whole[:, :, :1]).all()
    assert np.bincount(draws.ravel(), minlength=4) / draws.size == pytest.approx(
        0.25, abs=0.04
    )


def test_what_is_added_to_a_class_everywhere_stays_with_it() -> None:
    answers = answers_of(np.zeros((10, 3)), np.tile([0.0, 5.0, 0.0], (10, 1)))
    assert (next(answers.deals(Groups.single(10), rng(0))) == 1).all()


def test_only_an_images_own_choices_are_dealt() -> None:
    logits = np.array([[1.0, 7.0, -np.inf], [-np.inf, 1.0, 4.0]] * 10)
    answers = Answers(logits, np.where(np.isfinite(logits), 0.0, -np.inf))
    draws = np.array(list(islice(answers.deals(Groups.single(20), rng(0)), 50)))
    assert set(draws[:, ::2].ravel()) == {0, 1}
    assert set(draws[:, 1::2].ravel()) == {1, 2}


def test_strata_are_labels_and_sizes() -> None:
    label = np.repeat([0, 1], [24, 3])
    area = np.concatenate([np.linspace(0.5, 0.1, 24), [0.1, 0.2, 0.3]])
    stratum = strata_of(label, area, Groups.single(27))
    assert np.bincount(stratum)[:4].tolist() == [6, 6, 6, 6]
    assert len(set(stratum[24:].tolist())) == 1
    assert not set(stratum[:24].tolist()) & set(stratum[24:].tolist())
    assert (np.diff(stratum[:24]) <= 0).all()  # the largest object first
    alike = strata_of(label, np.full(27, 0.3), Groups.single(27))
    assert len(set(alike.tolist())) == 2  # no part depends on the order of equals


def test_a_group_of_two_labels_is_exchanged_with_its_like() -> None:
    label = np.array([0, 1, 0, 1, 0, 0, 1, 1])
    groups = groups_of(np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    stratum = strata_of(label, np.full(8, 0.1), groups)
    assert stratum[0] == stratum[1]
    assert len(set(stratum.tolist())) == 3


# --------------------------------------------------------------------------- nulls and planted ones


def draw(
    seed: int,
    *,
    noise: float = 0.0,
    elsewhere: float = 0.2,
    pulled: float = 0.0,
    alike: int = 1,
    places: int = 4,
) -> AssociationTests:
    """120 images, in `noise` of which a class gets more from the background than the object has.

    Kinds after the first two do so `elsewhere` times as often.
    """
    random = rng(3, seed)
    count = 120 // alike
    codes = np.repeat(np.arange(count), alike)
    label, place = np.arange(count) % CLASSES, random.integers(places, size=count)
    disturbed = random.random(count) < noise * np.where(place < 2, 1.0, elsewhere)
    added = random.random((count, CLASSES))
    added[np.arange(count), random.integers(CLASSES, size=count)] += 5.0 * disturbed
    added[np.arange(count), place % CLASSES] += 9.0 * (random.random(count) < pulled)
    answers = answers_of(3.0 * np.eye(CLASSES)[label][codes], added[codes])
    groups = groups_of(codes)
    present = place[codes][:, None] == np.arange(places)
    stratum = strata_of(label[codes], random.uniform(0.1, 0.5, count)[codes], groups)
    return pull_tests(Observed(present, stratum, groups, answers), random)


DRAWS = [40, pytest.param(100, marks=pytest.mark.long)]


def found(tests: AssociationTests) -> bool:
    of_all = tests.overall_q
    return of_all is not None and bool(min(np.nanmin(tests.q_value), of_all) <= 0.05)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("alike", [pytest.param(1, marks=pytest.mark.long), 10])
def test_backgrounds_that_only_disturb_are_found_as_rarely_as_promised(
    alike: int, draws: int
) -> None:
    """More noise before some kinds than before others, and no class that it favours.

    Binomial with 1 in 20: more come up once in two thousand times.
    """
    alarms = sum(found(draw(seed, noise=0.6, alike=alike)) for seed in range(draws))
    assert alarms <= binom.ppf(0.9995, draws, 0.05)


@pytest.mark.long
def test_noise_that_only_some_places_add_is_found_as_rarely_as_promised() -> None:
    """Few answers move, and all before the same kinds: the first null alone finds 12 of these."""
    draws = [draw(seed, noise=0.6, elsewhere=0.0, places=20) for seed in range(100)]
    assert sum(map(found, draws)) <= 8


def test_a_pull_of_one_kind_is_found_where_nothing_else_moves() -> None:
    tests = draw(0, pulled=0.0)
    assert tests.count == 0
    random = rng(8)
    label, place = np.arange(80) % CLASSES, random.integers(4, size=80)
    added = np.where((place == 0)[:, None], [0.0, 9.0, 0.0, 0.0], 0.0)
    groups = Groups.single(80)
    answers = answers_of(np.eye(CLASSES)[label], added)
    stratum = strata_of(label, np.full(80, 0.2), groups)
    tests = pull_tests(
        Observed(place[:, None] == np.arange(4), stratum, groups, answers), random
    )
    assert tests.q_value[0, 1] < 0.01


def test_a_planted_pull_is_found() -> None:
    assert all(found(draw(seed, noise=0.2, pulled=0.4)) for seed in range(10))


# ---------------------------------------------------------------------------------------- figures


def test_the_pull_by_hand() -> None:
    label = np.array([0] * 8 + [1] * 4)
    present = np.array([True] * 4 + [False] * 4 + [True] * 2 + [False] * 2)
    answered = np.array([1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0], dtype=bool)
    weights = label_weights(present, label)
    assert weights[~present].tolist() == pytest.approx(
        [4 / 6 / 4] * 4 + [2 / 6 / 2] * 2
    )
    figure = pull(answered, present, label, Groups.single(12))
    assert figure is not None
    assert figure.here == pytest.approx(4 / 6)
    assert figure.elsewhere == pytest.approx(4 / 6 / 4)
    assert figure.value == pytest.approx(0.5)
    assert figure.low < 0.5 < figure.high
    assert (figure.images, figure.few) == (6, True)
    # no label on both sides
    assert pull(answered, label == 0, label, Groups.single(12)) is None


def test_the_interval_of_a_pull_covers() -> None:
    """95% promised; at least 87 of 100 but once in two thousand times."""
    hits = 0
    for seed in range(100):
        random = rng(4, seed)
        codes = np.repeat(np.arange(60), 4)
        label = codes % 3
        present = (codes // 3) % 2 == 0
        rate = np.where(present, 0.5, 0.2)[::4]
        answered = (random.random(60) < rate)[codes]  # alike within a group
        figure = pull(answered, present, label, groups_of(codes))
        hits += figure is not None and figure.low <= 0.3 <= figure.high
    assert hits >= 87


def told(answer: np.ndarray, by_object: np.ndarray) -> Answers:
    """Logits with these answers."""
    return Answers(np.eye(CLASSES)[answer], np.eye(CLASSES)[by_object])


@pytest.mark.long
def test_the_smallest_pull_that_would_be_found_is_found_so_often() -> None:
    """Planted anew in fresh answers, 8 of 10 are found, within a binomial's reach of 40 draws."""
    random = rng(5)
    label = np.arange(160) % CLASSES
    answer = np.where(
        random.random(160) < 0.1, random.integers(CLASSES, size=160), label
    )
    present = random.random(160) < 0.25
    groups = Groups.single(160)
    stratum = strata_of(label, random.uniform(0.1, 0.5, 160), groups)
    kinds, answers = np.stack([present, ~present], axis=1), told(answer, label)
    observed = Observed(kinds, stratum, groups, answers)
    tests = pull_tests(observed, random)
    assert tests.critical is not None
    limit = smallest_pull(observed, 0, range(CLASSES), tests, random)
    assert limit is not None
    assert 0.1 < limit < 0.6
    hits = 0
    for _ in range(40):
        target = random.integers(CLASSES)
        turned = present & (random.random(160) < limit)
        spiked = pull_tests(
            replace(observed, answers=answers.turn(turned, target)), random
        )
        hits += bool(spiked.q_value[0, target] <= 0.05)
    assert 24 <= hits <= 39
    high = replace(tests, critical=1e9)
    assert smallest_pull(observed, 0, range(CLASSES), high, random) is None


@pytest.mark.long
def test_a_pull_that_the_second_null_hides_is_not_said_to_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Little data with much noise: held against the first null alone, the limit is too low."""
    random, count = np.random.default_rng([9, 0]), 48
    label, place = np.arange(count) % CLASSES, random.integers(4, size=count)
    added = random.random((count, CLASSES))
    disturbed = random.random(count) < 0.3
    added[np.arange(count), random.integers(CLASSES, size=count)] += 5.0 * disturbed
    answers, groups = (
        answers_of(3.0 * np.eye(CLASSES)[label], added),
        Groups.single(count),
    )
    kinds = place[:, None] == np.arange(4)
    stratum = strata_of(label, random.uniform(0.1, 0.5, count), groups)
    observed = Observed(kinds, stratum, groups, answers)
    about = (observed, 0, range(CLASSES), pull_tests(observed, random))
    limit = smallest_pull(*about, rng(1))
    monkeypatch.setattr(_Field, "_favours", lambda *asked: True)
    by_first = smallest_pull(*about, rng(1))
    assert limit is not None
    assert by_first is not None
    assert limit > by_first
    hits = 0
    for target in random.integers(CLASSES, size=40).tolist():
        spiked = answers.turn(kinds[:, 0] & (random.random(count) < limit), target)
        tests = pull_tests(replace(observed, answers=spiked), random)
        hits += bool(tests.q_value[0, target] <= 0.05)
    assert 24 <= hits <= 39


# ----------------------------------------------------------------------------- better than chance


def test_one_answer_to_everything_is_chance_however_common_its_class() -> None:
    label = np.array([0] * 30 + [1] * 10)
    chance, p_value = Permutation.chance_accuracy(
        np.zeros(40, dtype=int), label, Groups.single(40), rng(6)
    )
    assert (chance, p_value) == (pytest.approx(0.75), 1.0)


def test_right_answers_beat_chance_unless_they_are_of_few_groups() -> None:
    label = np.arange(40) % 2
    assert (
        Permutation.chance_accuracy(label, label, Groups.single(40), rng(7))[1] < 0.001
    )
    two = groups_of(label)
    assert Permutation.chance_accuracy(label, label, two, rng(7))[1] == pytest.approx(
        0.5, abs=0.05
    )
