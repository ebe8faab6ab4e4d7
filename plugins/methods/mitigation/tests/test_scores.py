"""The figures of a comparison: intervals, placebos, the rule."""

from typing import Any

import numpy as np
import pytest

from cuescope_mitigation.analysis import Control, Row, Verdict, verdict_of
from cuescope_mitigation.report import statement
from cuescope_mitigation.scores import (
    CellMeans,
    Change,
    Precision,
    answer_shift,
    shuffle_within,
)
from cuescope_mitigation.trials import Cue
from cuescope_mitigation.verify import placebo_checks
from cuescope_sdk import Feature
from cuescope_sdk.statistics import Groups

RNG = np.random.default_rng


def single(count: int, confidence: float = 0.95) -> Precision:
    return Precision(Groups.single(count), confidence)


@pytest.mark.parametrize(
    ("groups", "alike", "chance"), [(60, 5, 0.3), (6, 1, 0.7), (10, 1, 0.9)]
)
def test_the_interval_of_a_change_holds_what_it_promises(
    groups: int, alike: int, chance: float
) -> None:
    """Of many samples whose groups share most of their luck, and of very few."""
    rng, met = RNG(0), 0
    codes = np.repeat(np.arange(groups), alike)
    precision = Precision(Groups(codes, groups, alike > 1), 0.95)
    count = groups * alike
    for _ in range(150):
        gains = np.repeat(rng.random(groups) < chance, alike)
        gains &= rng.random(count) < 0.9
        seen = precision.change(np.zeros(count), gains * 1.0, np.full(count, True))
        met += seen.low <= 0.9 * chance <= seen.high
    assert met / 150 >= 0.9


@pytest.mark.parametrize("count", [5, 8, 10])
def test_few_samples_that_all_gain_are_no_proof_of_a_gain_of_all(count: int) -> None:
    everything = np.full(count, True)
    ends = np.zeros(count), np.ones(count)
    gain = single(count).change(*ends, everything)
    assert 0 < gain.low < 0.75
    assert gain.high == gain.gain == 1
    # of ten cues together, each interval is wider
    assert single(count, 0.995).change(*ends, everything).low < gain.low - 0.1
    # as few of each group: neither the worst nor their mean is known better
    cells = np.repeat([0, 1], count)
    before, after = (
        CellMeans.of(np.full(2 * count, value), cells, 5) for value in (0.0, 1.0)
    )
    assert before is not None
    assert after is not None
    worst = single(2 * count).worst_change(before, after)
    assert worst.gain == 1
    assert worst.low < 0.65
    assert single(2 * count).groups_change(before, after).low < 0.9


def test_what_one_group_does_proves_little() -> None:
    before, after = np.zeros(40), np.ones(40)
    after[:20] = 0
    precision = Precision(Groups(np.repeat([0, 1], 20), 2, True), 0.95)
    seen = precision.change(before, after, np.full(40, True))
    assert seen.low <= 0
    assert seen.high > 0.95


def test_the_worst_group_is_among_those_that_are_large_enough() -> None:
    cells = np.array([0] * 30 + [1] * 30 + [2] * 3)
    before = np.concatenate([np.ones(30), np.repeat([0, 1], 15), np.zeros(3)])
    after = np.concatenate([np.ones(60), np.zeros(3)])
    ends = [CellMeans.of(values, cells, 5) for values in (before, after)]
    first, last = ends
    assert first is not None
    assert last is not None
    worst = single(63).worst_change(first, last)
    assert (worst.before, worst.after, worst.n) == (0.5, 1.0, 30)
    assert worst.low > 0.2
    # the mean of the two groups, whatever their sizes
    groups = single(63).groups_change(first, last)
    assert (groups.before, groups.after, groups.n) == (0.75, 1.0, 60)
    assert 0 < groups.low < 0.25 < groups.high
    assert CellMeans.of(before, cells, 31) is None


def test_the_worst_of_three_groups_lies_in_its_interval() -> None:
    rng, met = RNG(2), 0
    cells = np.repeat([0, 1, 2], [10, 25, 40])
    for _ in range(150):
        ends = [
            CellMeans.of((rng.random(75) < np.array(chance)[cells]) * 1.0, cells, 5)
            for chance in ((0.3, 0.8, 0.9), (0.8, 0.7, 0.9))
        ]
        first, last = ends
        assert first is not None
        assert last is not None
        worst = single(75).worst_change(first, last)
        met += worst.low <= 0.4 <= worst.high
    assert met / 150 >= 0.9


def test_the_gap_left_has_the_interval() -> None:
    shows = np.repeat([True, False], 50)
    before = np.concatenate([np.zeros(50), np.ones(50)])
    gap = single(100).gap_change(before, np.ones(100), ~shows, shows)
    assert (gap.before, gap.after) == (1, 0)
    # 50 right answers of 50 are not all answers
    assert -0.15 < gap.low < 0 < gap.high < 0.15


def test_random_cues_are_as_many_in_each_label_and_go_together() -> None:
    targets = np.arange(90) % 3
    shows = np.column_stack([targets == 0, np.arange(90) < 30, np.arange(90) < 30])
    dealt = shuffle_within(shows, targets, RNG(1))
    for target in range(3):
        assert (
            dealt[targets == target].sum(0) == shows[targets == target].sum(0)
        ).all()
    assert (
        dealt[:, 1] == dealt[:, 2]
    ).all()  # cues of one sample stay those of one sample
    assert (dealt[:, 1] != shows[:, 1]).any()


@pytest.mark.parametrize("seed", range(4))
def test_a_shift_gives_answers_as_often(seed: int) -> None:
    rng = RNG(seed)
    logits = rng.normal(size=(800, 5)) * 20
    wanted = rng.choice(5, 800, p=(0.4, 0.3, 0.2, 0.05, 0.05))
    answers = (logits + answer_shift(logits, wanted)).argmax(axis=1)
    far = np.abs(np.bincount(answers, minlength=5) - np.bincount(wanted, minlength=5))
    assert far.max() <= 8


GAIN = Change(0.2, 0.7, 0.3, 0.6, 50)
HARM, CHANCE = Change(0.5, 0.2, -0.5, -0.1, 50), Change(0.65, 0.7, -0.1, 0.2, 50)
MORE, NOT_MORE = Change(0.3, 0.7, 0.1, 0.6, 50), CHANCE
BEATEN = Control(gain=CHANCE, beyond=MORE)
EQUAL = Control(gain=GAIN, beyond=NOT_MORE, groups_beyond=NOT_MORE)
# it gains as much where the cue is, and pays for it elsewhere
COSTLY = Control(gain=GAIN, beyond=NOT_MORE, groups_beyond=MORE)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "helps"),
        ({"random": EQUAL}, "no better than random cues"),
        ({"shifted": EQUAL}, "no better than a shift"),
        # a cue that pulls to one answer: a shift repairs it, and unseen accuracy rises
        ({"shifted": EQUAL, "groups": MORE}, "helps"),
        ({"shifted": EQUAL, "groups": HARM}, "no better than a shift"),
        (
            {"shifted": EQUAL, "groups": MORE, "random": EQUAL},
            "no better than random cues",
        ),
        ({"refit": EQUAL}, "no better than a refit"),
        ({"refit": COSTLY}, "helps"),
        ({"refit": EQUAL, "random": None}, "not tried"),
        ({"present": CHANCE}, "no gain shown"),
        ({"present": HARM}, "harms"),
        ({"random": None}, "not tried"),
        ({"present": None}, "too few"),
    ],
)
def test_the_rule(changes: dict[str, Any], verdict: Verdict) -> None:
    given: dict[str, Any] = {
        "present": GAIN,
        "groups": CHANCE,
        "random": BEATEN,
        "shifted": BEATEN,
        "refit": BEATEN,
    }
    cue = Cue(Feature(key="c", kind="cluster"), "cat", "a cue", None)
    row = Row(cue, verdict, 50, 50, **{**given, **changes})
    assert verdict_of(row) == verdict
    sentence = statement(row, "A remedy")
    assert ("last layer +50" in sentence) == (row.refit in (EQUAL, COSTLY))


def test_too_few_on_a_side_are_named_by_their_side() -> None:
    cue = Cue(Feature(key="c", kind="cluster"), "cat", "a cue", None)
    assert "show the cue (only 3)" in statement(Row(cue, "too few", 3, 40), "A remedy")
    sentence = statement(Row(cue, "too few", 40, 2), "A remedy")
    assert "are without the cue (only 2)" in sentence


def pulled(seed: int, *, repair: bool) -> Row:
    """Two labels; four of five samples show a cue that pulls to the first, as the second is hurt.

    A repair pushes back as far as the cue pulls, and is learned, so not exact; else the second
    label is said wherever the cue is.
    """
    rng = RNG(seed)
    targets, shows = rng.integers(2, size=600), rng.random(600) < 0.8
    logits = rng.normal(size=(600, 2))
    logits[np.arange(600), targets] += 1.5
    logits[shows, 0] += 3
    remedied = logits - np.outer(shows, [3 if repair else 50, 0])
    remedied += rng.normal(size=(600, 2)) * 0.7
    shift = answer_shift(logits, remedied.argmax(axis=1))
    before, after, shifted = (
        (scores.argmax(axis=1) == targets).astype(float)
        for scores in (logits, remedied, logits + shift)
    )
    precision = single(600)
    was, remedied_means = (
        CellMeans.of(values, 2 * targets + shows, 5) for values in (before, after)
    )
    assert was is not None
    assert remedied_means is not None
    hurt = shows & (targets == 1)
    control = Control(
        gain=precision.change(before, shifted, hurt),
        beyond=precision.change(shifted, after, hurt),
    )
    return Row(
        Cue(Feature(key="c", kind="cluster"), "b", "a cue", None),
        "not tried",
        int(hurt.sum()),
        int((targets == 1).sum() - hurt.sum()),
        present=precision.change(before, after, hurt),
        groups=precision.groups_change(was, remedied_means),
        random=BEATEN,
        shifted=control,
        refit=BEATEN,
    )


def test_a_shift_that_repairs_a_pull_is_credited_and_one_that_robs_is_not() -> None:
    rows = [pulled(seed, repair=True) for seed in range(20)]
    # a shift of all answers gains as much in some, for most samples show the cue
    as_much = [row for row in rows if row.shifted and row.shifted.beyond.low <= 0]
    assert len(as_much) >= 5
    assert [verdict_of(row) for row in rows] == ["helps"] * 20
    robbed = [pulled(seed, repair=False) for seed in range(20)]
    assert all(row.present and row.present.low > 0.3 for row in robbed)
    assert [verdict_of(row) for row in robbed] == ["no better than a shift"] * 20


def test_the_checks_call_a_plain_refit_a_control_and_no_placebo() -> None:
    checks = {
        each.check: each.detail for each in placebo_checks(pulled(0, repair=True))
    }
    assert "points, the control" in checks["control: plain refit"]
    assert "placebo" not in checks["control: plain refit"]
    assert "points, the placebo" in checks["placebo: random cues"]


def test_a_share_that_stays_is_as_before() -> None:
    cue = Cue(Feature(key="c", kind="cluster"), "cat", "a cue", None)
    same = Row(
        cue, "no gain shown", 50, 50, present=Change(0.291, 0.289, -0.1, 0.1, 50)
    )
    assert "right on 29% of 50 samples, as before" in statement(same, "A remedy")
    other = Row(cue, "no gain shown", 50, 50, present=GAIN)
    assert "right on 70% of 50 samples, instead of 20%" in statement(other, "A remedy")
