"""What is left of a gap with everything held alike that samples look like."""

import numpy as np
import pytest

from cuescope_sdk.statistics import Estimate, Groups, _prognosis, prognostic_gap

SAMPLES = 900


def _world(seed: int, *, together: float, of_cue: float, of_company: float):
    """A cue, its company that nobody names, and looks that show both among 40 figures."""
    rng = np.random.default_rng(seed)
    shows = rng.random(SAMPLES) < 0.4
    is_together = rng.random(SAMPLES) < together
    company = np.where(is_together, shows, ~shows)
    strata = np.arange(SAMPLES) % 5
    looks = rng.normal(size=(SAMPLES, 40))
    # in many figures, as in pictures: what one of many tells is set aside in part
    looks[:, :10] += 3 * shows[:, None]
    looks[:, 10:20] += 3 * company[:, None]
    values = 0.7 + 0.02 * strata - of_cue * shows - of_company * company
    values += rng.normal(0, 0.2, SAMPLES)
    return -values, shows, strata, looks


def _gap(world, seed=0):
    values, shows, strata, looks = world
    groups = Groups.single(len(values))
    rng = np.random.default_rng(seed)
    return prognostic_gap(values, shows, strata, looks, groups, rng)


def test_what_the_company_does_is_no_gap_where_looks_are_held_alike():
    gaps = [
        _gap(_world(seed, together=0.85, of_cue=0, of_company=0.25), seed)
        for seed in range(8)
    ]
    plain = np.mean([gap.plain.value for gap in gaps])
    alike = np.mean([gap.alike.value for gap in gaps])
    assert plain == pytest.approx(0.17, abs=0.03)
    assert abs(alike) < 0.06


def test_what_the_cue_does_stays():
    gaps = [
        _gap(_world(seed, together=0.85, of_cue=0.25, of_company=0), seed)
        for seed in range(8)
    ]
    covered = [gap.alike.low <= 0.25 <= gap.alike.high for gap in gaps]
    assert np.mean([gap.alike.value for gap in gaps]) == pytest.approx(0.25, abs=0.02)
    assert sum(covered) >= 7


def test_what_only_samples_with_the_cue_look_like_is_no_company():
    values, shows, strata, looks = _world(1, together=0.5, of_cue=0.3, of_company=0)
    # nothing without the cue has this look, so nothing tells what it does
    looks[:, 2] = shows
    gap = _gap((values, shows, strata, looks))
    assert gap.alike.value == pytest.approx(0.3, abs=0.04)


def test_a_spot_tells_little_of_a_whole_picture():
    """Half of the samples without the cue have a little of it, which moves values a little."""
    rng = np.random.default_rng(0)
    shows = rng.random(SAMPLES) < 0.1
    spot = rng.random(SAMPLES) * (rng.random(SAMPLES) < 0.5)
    looks = rng.normal(size=(SAMPLES, 40))
    looks[:, :10] = 0.3 * looks[:, :10] + spot[:, None] + 6 * shows[:, None]
    values = 0.5 * shows + 0.3 * spot + rng.normal(0, 0.1, SAMPLES)
    gap = _gap((values, shows, np.arange(SAMPLES) % 3, looks))
    assert gap.plain.value == pytest.approx(0.5, abs=0.05)
    # six such spots would explain three times the gap
    assert gap.alike.low > 0.15


def test_the_gap_is_that_of_the_strata_that_are_its_own():
    values, shows, strata, looks = _world(2, together=0.5, of_cue=0, of_company=0)
    values = values + 0.4 * (shows & (strata == 3))
    own = strata == 3
    groups = Groups.single(SAMPLES)
    gap = prognostic_gap(
        values, shows, strata, looks, groups, np.random.default_rng(0), own
    )
    everywhere = _gap((values, shows, strata, looks))
    assert gap.alike.value > 0.3
    assert everywhere.alike.value == pytest.approx(0.08, abs=0.05)


def test_too_few_of_a_side_tell_nothing():
    values, shows, strata, looks = _world(3, together=0.5, of_cue=0.3, of_company=0)
    few = shows & (np.cumsum(shows) <= 20)
    assert _gap((values, few, strata, looks)) is None


def test_one_that_is_unsure_is_drawn_to_others_that_are_alike():
    sure = [Estimate(value, value - 0.02, value + 0.02) for value in (0.10, 0.11, 0.09)]
    unsure = Estimate(0.3, -0.1, 0.7)
    own = [False, False, False, True]
    drawn = Estimate.drawn_together([*sure, unsure], own)
    assert drawn.value == pytest.approx(0.1, abs=0.02)
    assert drawn.high - drawn.low < 0.1


def test_those_that_are_sure_and_unlike_stay_as_they_are():
    unlike = [Estimate(value, value - 0.01, value + 0.01) for value in (0.0, 0.2, 0.4)]
    for number, before in enumerate(unlike):
        own = [other == number for other in range(3)]
        after = Estimate.drawn_together(unlike, own)
        assert after.value == pytest.approx(before.value, abs=0.001)


def test_the_mean_of_several_is_no_surer_than_all_together():
    alike = [Estimate(0.1, 0.0, 0.2)] * 4
    drawn = Estimate.drawn_together(alike, [True] * 4)
    assert drawn.high - drawn.low == pytest.approx(0.2 / 2, rel=0.01)


def test_answers_or_looks_that_are_all_alike_leave_the_gap_as_it_is():
    values, shows, strata, looks = _world(4, together=0.5, of_cue=0, of_company=0)
    alike = _gap((np.where(shows, 0.5, 0.2), shows, strata, looks))
    assert alike.alike.value == pytest.approx(alike.plain.value)
    blind = _gap((values, shows, strata, np.ones_like(looks)))
    assert blind.alike == blind.plain
    # all of one source: no model of other groups can be learned
    one_source = Groups(np.zeros(SAMPLES, int), 1, declared=True)
    rng = np.random.default_rng(0)
    gap = prognostic_gap(values, shows, strata, looks, one_source, rng)
    assert gap.alike.value == pytest.approx(gap.plain.value)


def test_looks_are_held_alike_by_the_directions_in_which_they_differ() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40))
    kept = _prognosis._main_directions(rows)
    assert kept.shape[1] <= 3
    np.testing.assert_allclose(
        kept @ kept.T, rows @ rows.T, atol=0.02 * rows.var() * 40
    )


@pytest.mark.parametrize("samples", [30, 90])
def test_few_samples_have_the_main_directions_of_their_figures(samples):
    """Of fewer samples than figures, and of more: by the larger product of both."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(samples, 60)) * np.exp(-np.arange(60) / 4)
    kept = _prognosis._main_directions(rows)
    variances, axes = np.linalg.eigh(rows.T @ rows)
    expected = rows @ axes[:, -kept.shape[1] :]
    assert np.allclose(kept @ kept.T, expected @ expected.T)
    held = variances[-kept.shape[1] :].sum() / variances.sum()
    assert held >= _prognosis.HELD


def test_hidden_confounders_are_as_strong_as_those_that_were_adjusted_for():
    world = _world(1, together=0.85, of_cue=0, of_company=0.25)
    gap = _gap(world)
    assert gap.bias == pytest.approx(0.17, abs=0.06)
    alone = _gap(_world(1, together=0.5, of_cue=0.25, of_company=0))
    assert alone.bias < 0.05
