"""Paired losses: McNemar by hand, the bootstrap against closed forms, the null."""

from math import comb

import numpy as np
import pytest
from scipy.stats import binom

from cuescope_quag.answers import Measure
from cuescope_quag.losing import (
    Loss,
    Rate,
    Rule,
    compared,
    drawn_rates,
    mcnemar,
    rates,
    stratified_mcnemar,
)

RULE = Rule()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def accuracy(count: int, chance: float = 25.0) -> Measure:
    return Measure("accuracy", np.zeros(count, int), chance)


def pairs(kept: int, lost: int, won: int, never: int) -> tuple[np.ndarray, np.ndarray]:
    """Right before, and right after, of so many samples."""
    before = np.repeat([True, True, False, False], [kept, lost, won, never])
    return before, np.repeat([True, False, True, False], [kept, lost, won, never])


def test_mcnemar_by_hand() -> None:
    # 6 lost and 1 won: of 7 fair coins, at most 1 or at least 6 heads.
    by_hand = 2 * sum(comb(7, heads) for heads in (0, 1)) / 2**7
    assert mcnemar(*pairs(10, 6, 1, 3)) == pytest.approx(by_hand)
    assert by_hand == pytest.approx(0.125)
    assert mcnemar(*pairs(10, 3, 3, 3)) == 1.0
    assert mcnemar(*pairs(10, 0, 0, 3)) == 1.0
    assert mcnemar(*pairs(0, 20, 0, 0)) == pytest.approx(2 / 2**20)


def test_what_one_answer_loses_and_another_wins_is_seen() -> None:
    """Ten "no" lost and ten "yes" won: nothing happens to the accuracy, all to the answers."""
    before = np.repeat([True, False, True], [10, 10, 20])
    after = np.repeat([False, True, True], [10, 10, 20])
    answer = np.repeat([0, 1, 0], [10, 10, 20])
    assert mcnemar(before, after) == 1.0
    assert stratified_mcnemar(before, after, answer) == pytest.approx(2 * 2 / 2**10)
    assert stratified_mcnemar(before, after, np.zeros(40, int)) == 1.0


def test_loss_and_interval_of_independent_samples() -> None:
    before, after = pairs(300, 60, 20, 120)
    cluster = np.arange(500)
    rate, (loss,) = compared(before, after[:, None], accuracy(500), cluster, rng(), RULE)
    assert (rate.value, loss.rate, loss.lost) == (72.0, 64.0, 8.0)
    # variance of a mean of values -1, 0, 1 with shares 20, 420 and 60 of 500
    half = 1.96 * 100 * np.sqrt((80 / 500 - 0.08**2) / 500)
    assert loss.low == pytest.approx(8 - half, abs=0.4)
    assert loss.high == pytest.approx(8 + half, abs=0.4)
    assert loss.n == 500
    assert loss.p_value == pytest.approx(2 * binom.cdf(20, 80, 0.5))


def test_copies_of_a_video_tell_no_more_than_one() -> None:
    """Ten questions a video that stand or fall together: intervals as of a tenth of them."""
    before, after = pairs(40, 10, 2, 8)
    few = compared(before, after[:, None], accuracy(60), np.arange(60), rng(), RULE)
    many = compared(
        np.repeat(before, 10), np.repeat(after, 10)[:, None], accuracy(600),
        np.repeat(np.arange(60), 10), rng(), RULE,
    )  # fmt: skip
    assert many[1][0].low == pytest.approx(few[1][0].low)
    assert many[1][0].high == pytest.approx(few[1][0].high)
    alone = compared(
        np.repeat(before, 10), np.repeat(after, 10)[:, None], accuracy(600), np.arange(600), rng(),
        RULE,
    )  # fmt: skip
    assert alone[1][0].high - alone[1][0].low < 0.4 * (many[1][0].high - many[1][0].low)


def test_draws_of_clusters_against_plain_resampling() -> None:
    """The same statistic by repeating the samples of every drawn cluster."""
    right = rng(1).random((40, 3)) < 0.6
    stratum, cluster = rng(2).integers(0, 2, 40), rng(3).integers(0, 9, 40)
    found = drawn_rates(right, stratum, cluster, rng(4), 50)
    names = np.unique(cluster)
    times = rng(4).multinomial(len(names), np.full(len(names), 1 / len(names)), size=50)
    for row, drawn in zip(found, times, strict=True):
        places = [p for name, n in zip(names, drawn, strict=True) for p in
                  np.flatnonzero(cluster == name).tolist() * int(n)]  # fmt: skip
        assert row == pytest.approx(rates(right[places], stratum[places]))


def test_nothing_lost_in_few_videos_is_no_proof() -> None:
    before = np.ones(200, bool)
    for videos, spared in ((20, False), (200, True)):
        cluster = np.arange(200) % videos
        _, (loss,) = compared(before, before[:, None], accuracy(200), cluster, rng(), RULE)
        assert (loss.lost, loss.low, loss.high, loss.p_value) == (0, 0, 0, 1)
        # the margin is 7.5 points; so many videos would all miss it by this chance
        assert loss.p_spared == pytest.approx(max(0.925**videos, 1 / 2001))
        assert (loss.p_spared <= 0.025) == spared


def test_what_is_lost_and_won_again_is_measured_by_the_draws() -> None:
    """In few videos of many questions, where losses are seen, the bootstrap has them."""
    before, after = pairs(900, 30, 60, 10)
    order = rng(5).permutation(1000)
    _, (loss,) = compared(
        before[order], after[order][:, None], accuracy(1000), np.arange(1000) % 40, rng(), RULE
    )
    assert loss.lost == -3
    assert loss.p_spared == pytest.approx(1 / 2001)


def test_one_sample_proves_nothing() -> None:
    before, after = np.array([True]), np.array([[False]])
    rate, (loss,) = compared(before, after, accuracy(1), np.array([0]), rng(), RULE)
    assert loss.lost == 100
    assert min(loss.p_value, loss.p_costs, rate.p_chance) > 0.2


def test_the_margin_is_a_share_of_what_is_above_chance() -> None:
    assert RULE.margin(Rate(75, 25, 0)) == 5
    assert RULE.margin(Rate(30, 25, 0)) == 2


def test_chance_is_told_from_skill() -> None:
    for right, at_chance in ((60, True), (100, False)):
        before = np.arange(200) < right
        rate, _ = compared(before, before[:, None], accuracy(200), np.arange(200), rng(), RULE)
        assert (rate.p_chance > 0.025) == at_chance


def found(loss: Loss) -> bool:
    return loss.p_value <= 0.05 and loss.lost > 2 and (loss.low or 0) > 0


def test_a_model_that_ignores_the_video_is_not_accused() -> None:
    """Averaging shuffles some answers, as often to the right as to the wrong: no finding."""
    alarms = 0
    for seed in range(200):
        draw = rng(seed)
        before = draw.random(120) < 0.6
        after = np.where(draw.random(120) < 0.2, draw.random(120) < 0.6, before)
        _, losses = compared(
            before, after[:, None], accuracy(120), np.arange(120), draw,
            Rule(resamples=200),
        )  # fmt: skip
        alarms += found(losses[0])
    assert alarms <= 10


def test_a_loss_that_is_there_is_found() -> None:
    before, after = pairs(60, 25, 5, 30)
    _, (loss,) = compared(before, after[:, None], accuracy(120), np.arange(120), rng(), RULE)
    assert found(loss)
    assert loss.p_costs <= 0.025
