"""Statistics of samples that were drawn in groups, against brute force and simulation."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk import Sample
from cuescope_sdk.statistics import (
    Bootstrap,
    DetectionLimit,
    GapPlan,
    Groups,
    Permutation,
    change_interval,
    change_p_value,
    gap_intervals,
    gap_p_values,
    mean_interval,
)
from cuescope_sdk.statistics._permutation import step_down_max

AUDITS = 300
# 18 of 300 is 6%; a correct 5% test exceeds 29 of 300 once in 5,000
MOST = 29
EQUAL = np.repeat(np.arange(6), 3)


def grouped(codes: np.ndarray) -> Groups:
    return Groups(codes, int(codes.max()) + 1, True)


def alike(
    rng: np.random.Generator, codes: np.ndarray, rate: float, share: float
) -> np.ndarray:
    """Right and wrong answers, of which `share` are decided once for the whole group."""
    luck = rng.random(codes.max() + 1)[codes]
    own = rng.random(len(codes))
    return (np.where(rng.random(len(codes)) < share, luck, own) < rate).astype(float)


# ------------------------------------------------------------------------------------- groups


def test_samples_name_their_groups() -> None:
    names = ["a", "b", None, "a", None]
    samples = [
        Sample(key=f"{i}", frames=(), group=name) for i, name in enumerate(names)
    ]
    groups = Groups.of(samples)
    assert groups.codes.tolist() == [0, 1, 2, 0, 3]
    assert (groups.count, groups.declared, groups.all_single) == (4, True, False)
    alone = Groups.of([Sample(key=name, frames=()) for name in "abc"])
    assert (alone.count, alone.declared, alone.all_single) == (3, False, True)
    assert groups.take(np.array([False, True, True, True, True])).codes.tolist() == [
        1,
        2,
        0,
        3,
    ]
    assert groups.sums(np.arange(5.0)).tolist() == [3, 1, 2, 4]


def test_a_split_keeps_groups_whole_and_strata_even() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(40), rng.integers(1, 6, 40))
    strata = codes % 2
    part = grouped(codes).split(rng, strata=strata)
    assert all(len(set(part[codes == code])) == 1 for code in range(40))
    assert all(0.35 < part[strata == stratum].mean() < 0.65 for stratum in (0, 1))
    assert not (part == grouped(codes).split(rng, strata=strata)).all()


# ------------------------------------------------------------------------------------ p-values


def test_whole_groups_are_permuted() -> None:
    rng = np.random.default_rng(1)
    values, present = rng.integers(0, 2, 18).astype(float), rng.random((18, 4)) < 0.4
    blocks = values.reshape(6, 3)
    sums = np.array(
        [blocks[list(order)].ravel() @ present for order in permutations(range(6))]
    )
    wanted = (sums <= values @ present + 1e-9).mean(axis=0)
    found = gap_p_values(values, present, grouped(EQUAL), rng)
    np.testing.assert_allclose(found, wanted)


def test_random_orders_agree_with_the_exact_test() -> None:
    rng = np.random.default_rng(3)
    values, present = (rng.random(60) < 0.8).astype(float), rng.random((60, 5)) < 0.3
    exact = gap_p_values(values, present, Groups.single(60), rng)
    with_feature = present.sum(axis=0)
    table = stats.hypergeom.cdf(values @ present, 60, values.sum(), with_feature)
    np.testing.assert_allclose(exact, table)
    # of halves no table is exact, so their orders are drawn
    drawn = gap_p_values(values / 2, present, Groups.single(60), rng)
    np.testing.assert_allclose(drawn, exact, rtol=0.5)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((5,), marks=pytest.mark.long),
        pytest.param((10,), marks=pytest.mark.long),
        (1, 3, 12),
    ],
)
@pytest.mark.parametrize("share", [pytest.param(0.5, marks=pytest.mark.long), 1.0])
@pytest.mark.parametrize("by_group", [True, False])
def test_groups_give_no_false_alarms(
    sizes: tuple[int, ...], share: float, by_group: bool
) -> None:
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(AUDITS):
        codes = np.repeat(np.arange(24), rng.choice(sizes, 24))
        values = alike(rng, codes, 0.8, share)
        present = (
            rng.random(24)[codes] < 0.3 if by_group else rng.random(len(codes)) < 0.3
        )
        alarms += int(
            gap_p_values(values, present[:, None], grouped(codes), rng)[0] <= 0.05
        )
    assert alarms <= MOST


@pytest.mark.parametrize("values", [np.zeros(18), np.ones(18)])
def test_where_answers_do_not_vary_nothing_is_found(values: np.ndarray) -> None:
    rng = np.random.default_rng(6)
    present = EQUAL[:, None] < 2
    for groups in (grouped(EQUAL), grouped(np.zeros(18, int)), Groups.single(18)):
        assert gap_p_values(values, present, groups, rng).tolist() == [1.0]
        assert change_p_value(values * 0, groups, rng) == 1.0


def test_changes_of_single_answers_are_found_as_mcnemars_test_finds_them() -> None:
    rng = np.random.default_rng(7)
    found = np.zeros(2)
    for _ in range(100):
        change = rng.choice([-1.0, 0.0, 1.0], 100, p=[0.05, 0.75, 0.2])
        gained = int((change > 0).sum())
        exact = stats.binomtest(gained, int(np.abs(change).sum())).pvalue
        found += [change_p_value(change, Groups.single(100)) <= 0.05, exact <= 0.05]
    # either may be ahead by luck, but not by 1 in 10
    assert found.min() > 70
    assert np.ptp(found) < 10


def test_one_group_proves_no_change() -> None:
    assert change_p_value(np.ones(10), grouped(np.zeros(10, int))) == 1.0


def test_a_model_that_guesses_is_no_better_than_chance() -> None:
    labels = np.array(["owl", "toad"] * 20)
    rng = np.random.default_rng(4)
    always = np.array(["owl"] * 40)
    assert Permutation.chance_accuracy(always, labels, Groups.single(40), rng) == (
        0.5,
        1.0,
    )
    assert Permutation.chance_accuracy(labels, labels, Groups.single(40), rng)[1] < 0.01
    two = grouped(np.repeat([0, 1], 20))
    assert Permutation.chance_accuracy(np.sort(labels), np.sort(labels), two, rng)[
        1
    ] == pytest.approx(0.5, abs=0.1)


def test_step_down_max_is_westfall_and_youngs() -> None:
    rng = np.random.default_rng(9)
    draws, observed = rng.normal(size=(500, 5)), np.array([1.0, 3.0, 0.2, 2.0, 2.0])
    order = np.argsort(-observed, kind="stable")
    wanted, worst = np.empty(5), 0.0
    for rank, cell in enumerate(order):
        largest = draws[:, order[rank:]].max(axis=1)
        worst = max(worst, (1 + (largest >= observed[cell]).sum()) / 501)
        wanted[cell] = worst
    np.testing.assert_allclose(step_down_max(observed, draws), wanted)


# ----------------------------------------------------------------------------------- intervals


def test_single_answers_have_the_exact_interval() -> None:
    answers = np.array([1.0] * 3 + [0.0] * 17)
    interval = stats.binomtest(3, 20).proportion_ci(method="exact")
    found = mean_interval(answers, Groups.single(20))
    assert found == pytest.approx((interval.low, interval.high))
    assert (
        mean_interval(answers * 20 - 10, Groups.single(20), bounds=(-10, 10))[0]
        is not None
    )
    assert mean_interval(np.array([]), Groups.single(0)) == (None, None)


def test_no_interval_is_without_width() -> None:
    ones, rng = np.ones(30), np.random.default_rng(0)
    groups = grouped(np.repeat(np.arange(10), 3))
    for each in (groups, Groups.single(30)):
        low, high = mean_interval(ones, each)
        assert low is not None
        assert low < 0.9
        assert high == 1
        low, high = change_interval(ones * 0, each)
        assert low is not None
        assert high is not None
        assert low < 0 < high
        lows, highs = gap_intervals(ones, rng.random((30, 2)) < 0.5, each)
        assert (lows < 0).all()
        assert (highs > 0).all()
    assert np.isnan(gap_intervals(ones, np.zeros((30, 1), bool), groups)[0]).all()


@pytest.mark.parametrize(
    "sizes", [(1,), pytest.param((5,), marks=pytest.mark.long), (1, 3, 12)]
)
@pytest.mark.parametrize("rate", [0.04, 0.3, pytest.param(0.9, marks=pytest.mark.long)])
@pytest.mark.parametrize("share", [pytest.param(0.3, marks=pytest.mark.long), 1.0])
def test_intervals_cover(sizes: tuple[int, ...], rate: float, share: float) -> None:
    rng = np.random.default_rng(10)
    missed = np.zeros(3)
    for _ in range(AUDITS):
        codes = np.repeat(np.arange(20), rng.choice(sizes, 20))
        groups = grouped(codes)
        answers, others = alike(rng, codes, rate, share), alike(rng, codes, rate, share)
        present = (np.arange(20) < 6)[codes, None]
        gap = gap_intervals(answers, present, groups)
        bounds = (
            mean_interval(answers, groups),
            change_interval(answers - others, groups),
        )
        intervals = (*bounds, (gap[0][0], gap[1][0]))
        for number, ((low, high), true) in enumerate(
            zip(intervals, (rate, 0, 0), strict=True)
        ):
            missed[number] += not low - 1e-9 <= true <= high + 1e-9  # type: ignore[operator]
    assert (missed <= MOST).all()


@pytest.mark.parametrize(
    ("audits", "most"), [(40, 7), pytest.param(100, 14, marks=pytest.mark.long)]
)
def test_a_bootstrap_of_groups_covers(audits: int, most: int) -> None:
    rng = np.random.default_rng(11)
    codes, missed = np.repeat(np.arange(20), 3), 0
    for _ in range(audits):
        shared = rng.normal(size=(20, 2))[codes]
        pairs = shared + 0.5 * rng.normal(size=(60, 2))

        def slope(drawn: np.ndarray, pairs: np.ndarray = pairs) -> float:
            return float(np.polyfit(*pairs[drawn].T, 1)[0])

        interval = Bootstrap.bca_interval(slope, grouped(codes), rng, resamples=300)
        assert interval is not None
        missed += not interval[0] <= 0 <= interval[1]
    assert missed <= most


# --------------------------------------------------------------------------------------- power


def test_power_is_what_simulation_finds() -> None:
    rng = np.random.default_rng(12)
    found = 0
    for _ in range(AUDITS):
        present = np.arange(200) < 50
        answers = (rng.random(200) < np.where(present, 0.6, 0.85)).astype(float)
        found += int(
            gap_p_values(answers, present[:, None], Groups.single(200), rng)[0] <= 0.01
        )
    plan = GapPlan(50, 150, 0.85)
    power = plan.power(0.25, 0.01)
    assert abs(found / AUDITS - power) < 0.08
    right, without = np.arange(51), np.arange(151)[:, None]
    chance = stats.binom.pmf(right, 50, 0.6) * stats.binom.pmf(without, 150, 0.85)
    passes = stats.hypergeom.cdf(right, 200, right + without, 50) <= 0.01
    assert power == pytest.approx(chance[passes].sum(), abs=1e-5)  # less the rare ones
    # ten times the samples: taken as normal, and nearly so they are
    large = GapPlan(250, 240, 0.85), GapPlan(500, 480, 0.85)
    exact, normal = (plan.power(0.1, 0.01) for plan in large)
    assert 0.5 < exact < normal < 1
    drop = plan.smallest_drop(0.01)
    assert drop is not None
    assert plan.power(drop, 0.01) == pytest.approx(0.8, abs=0.01)
    assert GapPlan(2, 100, 0.5).smallest_drop(0.001) is None


def test_groups_count_as_fewer_samples() -> None:
    rng = np.random.default_rng(13)
    codes = np.repeat(np.arange(50), 6)
    assert grouped(codes).design_effect(alike(rng, codes, 0.5, 1.0)) == pytest.approx(
        6, abs=0.2
    )
    assert grouped(codes).design_effect(alike(rng, codes, 0.5, 0.0)) < 2
    assert grouped(codes).design_effect(np.ones(300)) == 1


@pytest.mark.parametrize(
    "share_alike", [pytest.param(0.0, marks=pytest.mark.long), 0.6]
)
def test_the_limit_of_detection_is_found_four_times_in_five(share_alike: float) -> None:
    rng = np.random.default_rng(14)
    codes = np.repeat(np.arange(60), 4)
    groups, strata = grouped(codes), np.zeros(240, int)
    answers = alike(rng, codes, 0.85, share_alike)
    limit = DetectionLimit.of_gap(
        answers, groups, strata, rng, share=0.25, threshold=0.01
    )
    assert limit is not None
    found = 0
    for _ in range(100):
        present = (rng.permutation(60) < 15)[codes]
        fooled = present & (rng.random(240) < limit / answers[present].mean())
        answers_with = np.where(fooled, 0, answers)
        p = gap_p_values(answers_with, present[:, None], groups, rng, draws=3000)
        found += int(p[0] <= 0.01)
    assert 66 <= found <= 93
    none = DetectionLimit.of_gap(
        answers, groups, strata, rng, share=0.02, threshold=1e-6
    )
    assert none is None
