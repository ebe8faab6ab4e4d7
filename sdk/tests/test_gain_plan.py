"""How likely a gain will be shown: against the binomial, and against draws."""

import numpy as np
import pytest
from scipy import stats

from cuescope_sdk.statistics import GainPlan, Groups, MeanAboveZero

LEVEL = 0.025


def plan_of(right: int, wrong: int, **given: object) -> GainPlan:
    """Of samples that stand alone."""
    answers = np.arange(right + wrong) < right
    fields = {"tested": 1.0, "level": LEVEL, "least": 5} | given
    return GainPlan(answers, Groups.single(len(answers)), **fields)  # type: ignore[arg-type]


def fewest(count: int) -> int:
    """How many of so many samples must gain."""
    for gained in range(count + 1):
        values = (np.arange(count) < gained).astype(float)
        if MeanAboveZero(values, Groups.single(count)).holds(LEVEL):
            return gained
    return count + 1


@pytest.mark.parametrize(("right", "wrong", "mended"), [(0, 12, 0.5), (10, 10, 0.8)])
def test_where_all_are_tested_the_power_is_the_binomial(
    right: int, wrong: int, mended: float
) -> None:
    count = right + wrong
    gain = mended * wrong / count
    expected = stats.binom.sf(fewest(count) - 1, count, gain)
    power = plan_of(right, wrong).power(mended, count, np.random.default_rng(1))
    assert power == pytest.approx(expected, abs=0.1)


def test_of_a_third_of_the_samples_sometimes_too_few_are_left() -> None:
    """With six to be expected, a plan that takes six for sure promises too much."""
    plan = plan_of(0, 18, tested=1 / 3)
    counts = np.arange(19)
    shown = np.array([count >= max(5, fewest(count)) for count in counts])
    expected = float(stats.binom.pmf(counts, 18, 1 / 3) @ shown)
    assert expected < 0.8
    rng = np.random.default_rng(1)
    assert plan.power(1.0, 18, rng) == pytest.approx(expected, abs=0.1)


def test_the_samples_that_are_needed_are_those_of_the_mean() -> None:
    rng = np.random.default_rng(2)
    for mended in (0.5, 0.9):
        expected = MeanAboveZero.samples(mended, LEVEL, least=5)
        found = plan_of(0, 30).needed(mended, rng)
        assert found == pytest.approx(expected, abs=2)
    # of errors in a fifth of the answers no more can be mended
    few_wrong = plan_of(24, 6).needed(1.0, rng)
    assert few_wrong is not None
    assert few_wrong > 2 * MeanAboveZero.samples(0.5, LEVEL, least=5)
    assert plan_of(30, 0).needed(1.0, rng) is None


def test_clips_of_one_video_are_one_proof() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(4), 10)
    right = np.zeros(40, bool)
    grouped = GainPlan(right, Groups(codes, 4, True), 1.0, LEVEL, 5)
    assert grouped.power(0.5, 4, rng) < plan_of(0, 40).power(0.5, 40, rng)


def test_what_may_not_be_found_again_is_no_sure_gain() -> None:
    rng = np.random.default_rng(5)
    weak = plan_of(0, 45, tested=1 / 3, searched=1 / 3, found=(2e-9, 1e-6))
    sure = plan_of(0, 45, tested=1 / 3)
    assert weak.chance_found(45) < 0.5
    assert weak.power(1.0, 45, rng) < 0.5 < sure.power(1.0, 45, rng)
    needed = weak.needed(1.0, rng)
    assert needed is not None
    assert needed > 45


@pytest.mark.parametrize("folds", [2, 4, 8])
def test_folds_are_measured_where_the_others_find_the_cue(folds: int) -> None:
    """Against draws of what each part says of the cue, all of which the full data has passed."""
    rng = np.random.default_rng(5)
    z, just = 4.2, 3.9
    p_value, q_value = stats.norm.sf(z), 0.05 * stats.norm.sf(z) / stats.norm.sf(just)
    plan = plan_of(0, 12, found=(p_value, q_value), folds=folds)
    parts = rng.normal(z / np.sqrt(folds), 1.0, size=(4000, folds))
    without = (parts.sum(axis=1, keepdims=True) - parts) / np.sqrt(folds - 1)
    found = without >= just
    again = plan.chance_found(12)
    assert again == pytest.approx(found.mean(), abs=0.03)
    # each sample lies in one part; with all of the measured mended, their number alone counts
    enough = [
        row[rng.integers(folds, size=12)].sum() >= max(5, fewest(12)) for row in found
    ]
    power = plan.power(1.0, 12, rng)
    assert power == pytest.approx(np.mean(enough), abs=0.12)
    assert power < 0.8
