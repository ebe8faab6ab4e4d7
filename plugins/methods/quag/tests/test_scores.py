"""Measures, paired losses and tests: by hand, against closed forms and brute force, the null."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binom

from cuescope_quag.measures import (
    Measure,
    balanced_accuracy,
    choose_measure,
    only_answer,
    plain_accuracy,
    question_types,
)
from cuescope_quag.scores import (
    Loss,
    Rate,
    Rule,
    compare,
    guessing_p_values,
    rates,
    smallest_loss,
)
from cuescope_sdk import Frame, Sample
from cuescope_sdk.statistics import Groups, change_p_value

FRAME = Frame.from_array(np.zeros((1, 1, 3), np.uint8))
RULE = Rule()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def accuracy(count: int, chance: float = 25.0) -> Measure:
    return Measure("accuracy", np.zeros(count, int), chance)


def pairs(same: int, lost: int, won: int, never: int) -> tuple[np.ndarray, np.ndarray]:
    """Right before, and right after, of so many samples."""
    before = np.repeat([True, True, False, False], [same, lost, won, never])
    return before, np.repeat([True, False, True, False], [same, lost, won, never])


def videos(questions: int, count: int) -> Groups:
    """So many videos of equally many questions, which stand together."""
    return Groups(np.arange(questions) * count // questions, count, declared=True)


def test_loss_and_interval_of_independent_samples() -> None:
    before, after = pairs(300, 60, 20, 120)
    videos = Groups.single(500)
    rate, (loss,) = compare(before, after[:, None], accuracy(500), videos, rng(), RULE)
    assert (rate.value, loss.rate, loss.lost) == (72.0, 64.0, 8.0)
    # variance of a mean of values -1, 0, 1 with shares 20, 420 and 60 of 500
    half = 1.96 * 100 * np.sqrt((80 / 500 - 0.08**2) / 500)
    assert loss.low == pytest.approx(8 - half, abs=0.4)
    assert loss.high == pytest.approx(8 + half, abs=0.4)
    assert loss.n == 500
    # an interval of all 500 answers tells about as much as McNemar's test of the 80 that changed
    assert loss.p_value == pytest.approx(2 * binom.cdf(20, 80, 0.5), rel=0.2)


def test_copies_of_a_video_tell_no_more_than_one() -> None:
    """Ten questions a video that stand or fall together: intervals as of a tenth of them."""
    before, after = pairs(40, 10, 2, 8)
    few = compare(before, after[:, None], accuracy(60), Groups.single(60), rng(), RULE)
    many = compare(
        np.repeat(before, 10),
        np.repeat(after, 10)[:, None],
        accuracy(600),
        videos(600, 60),
        rng(),
        RULE,
    )
    assert many[1][0].low == pytest.approx(few[1][0].low, abs=1)
    assert many[1][0].high == pytest.approx(few[1][0].high, abs=1)
    assert many[1][0].p_value == pytest.approx(few[1][0].p_value, rel=0.5)
    alone = compare(
        np.repeat(before, 10),
        np.repeat(after, 10)[:, None],
        accuracy(600),
        Groups.single(600),
        rng(),
        RULE,
    )
    assert alone[1][0].high - alone[1][0].low < 0.4 * (many[1][0].high - many[1][0].low)


def test_nothing_lost_in_few_videos_is_no_proof() -> None:
    before = np.ones(200, bool)
    for count, spared in ((20, False), (200, True)):
        _, (loss,) = compare(
            before, before[:, None], accuracy(200), videos(200, count), rng(), RULE
        )
        assert (loss.lost, loss.p_value) == (0, 1)
        # the exact limits of none of so many videos (Clopper and Pearson)
        most = 100 * (1 - 0.025 ** (1 / count))
        assert (loss.low, loss.high) == pytest.approx((-most, most))
        assert (loss.p_spared <= 0.025) == spared


def test_what_is_won_on_the_whole_is_surely_spared() -> None:
    before, after = pairs(900, 30, 60, 10)
    order = rng(5).permutation(1000)
    _, (loss,) = compare(
        before[order],
        after[order][:, None],
        accuracy(1000),
        videos(1000, 40),
        rng(),
        RULE,
    )
    assert loss.lost == -3
    assert loss.p_spared <= 0.001


def margin_draw(
    questions: int, per_video: int, won: float, source: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, Groups]:
    """80% right, of which the margin is lost: 5.5 points. Most of it is shared by a video."""
    count = questions // per_video
    groups = videos(questions, count)

    def shared() -> np.ndarray:
        of_video = source.random(count)[groups.codes]
        return np.where(
            source.random(questions) < 0.7, of_video, source.random(questions)
        )

    before = shared() < 0.8
    after = np.where(before, shared() >= (0.055 + 0.2 * won) / 0.8, shared() < won)
    return before, after, groups


@pytest.mark.parametrize("audits", [50, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("questions", "per_video", "won"), [(200, 1, 0.02), (200, 1, 0.3), (600, 5, 0.02)]
)
def test_at_the_margin_neither_word_is_said_more_often_than_promised(
    questions: int, per_video: int, won: float, audits: int
) -> None:
    spared, costs, source = 0, 0, rng(7)
    for _ in range(audits):
        before, after, groups = margin_draw(questions, per_video, won, source)
        _, (loss,) = compare(
            before, after[:, None], accuracy(questions), groups, source, RULE
        )
        spared += loss.p_spared <= RULE.level
        costs += loss.p_costs <= RULE.level
    assert max(spared, costs) <= binom.ppf(0.9995, audits, RULE.level)


def test_nothing_lost_in_many_questions_is_spared() -> None:
    before = np.arange(400) < 320
    after = before ^ (np.arange(400) % 40 == 0)  # ten answers change, most of them lost
    _, (loss,) = compare(
        before, after[:, None], accuracy(400), Groups.single(400), rng(), RULE
    )
    assert loss.lost == 1.5
    assert loss.p_spared <= 0.01


@pytest.mark.long
def test_the_smallest_loss_is_found_in_8_of_10() -> None:
    """Against McNemar's test of drawn losses."""
    lost = smallest_loss(300, 0.01)
    assert lost is not None
    source, found = rng(3), 0
    for _ in range(1000):
        gone = source.random(300) < lost / 100
        found += change_p_value(-gone.astype(float), Groups.single(300), source) <= 0.01
    assert found / 1000 == pytest.approx(0.8, abs=0.05)
    assert smallest_loss(7, 0.01) is None


def test_one_sample_proves_nothing() -> None:
    before, after = np.array([True]), np.array([[False]])
    rate, (loss,) = compare(before, after, accuracy(1), Groups.single(1), rng(), RULE)
    assert loss.lost == 100
    assert min(loss.p_value, loss.p_costs, rate.p_chance) > 0.2


def test_the_margin_is_a_share_of_what_is_above_chance() -> None:
    assert RULE.margin(Rate(75.0, 25.0, 0.0)) == 5
    assert RULE.margin(Rate(30.0, 25.0, 0.0)) == 2


def test_chance_is_told_from_skill() -> None:
    for right, at_chance in ((60, True), (100, False)):
        before = np.arange(200) < right
        rate, _ = compare(
            before, before[:, None], accuracy(200), Groups.single(200), rng(), RULE
        )
        assert (rate.p_chance > 0.025) == at_chance


def is_found(loss: Loss) -> bool:
    return loss.p_value <= 0.05 and loss.lost > 2 and (loss.low or 0) > 0


def test_a_model_that_ignores_the_video_is_not_accused() -> None:
    """Averaging shuffles some answers, as often to the right as to the wrong: no finding."""
    alarms = 0
    for seed in range(200):
        draw = rng(seed)
        before = draw.random(120) < 0.6
        after = np.where(draw.random(120) < 0.2, draw.random(120) < 0.6, before)
        _, losses = compare(
            before,
            after[:, None],
            accuracy(120),
            Groups.single(120),
            draw,
            Rule(),
        )
        alarms += is_found(losses[0])
    assert alarms <= 10


def test_a_loss_that_is_there_is_found() -> None:
    before, after = pairs(60, 25, 5, 30)
    _, (loss,) = compare(
        before, after[:, None], accuracy(120), Groups.single(120), rng(), RULE
    )
    assert is_found(loss)
    assert loss.p_costs <= 0.025


# ------------------------------------------------------------------------------------ chance


def measures(label: np.ndarray, count: int) -> list[Measure]:
    """Balanced accuracy and accuracy of these right answers."""
    most = 100 * float(np.bincount(label).max() / len(label))
    return [
        Measure("balanced accuracy", label, 100 / count, label),
        Measure("accuracy", np.zeros(len(label), int), most, label),
    ]


def p_chance(given: np.ndarray, measure: Measure, draws: np.random.Generator) -> float:
    before = given == measure.label
    single = Groups.single(len(before))
    return compare(before, before[:, None], measure, single, draws, RULE, given)[
        0
    ].p_chance


@pytest.mark.parametrize("audits", [50, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "often",
    [
        0.05,
        pytest.param(0.5, marks=pytest.mark.long),
        pytest.param(0.63, marks=pytest.mark.long),
        0.95,
    ],
)
def test_answers_that_know_nothing_are_at_chance(often: float, audits: int) -> None:
    """Yes or no in the ratio of 6 to 13, so often yes is said: few are called able."""
    alarms = np.zeros(2)
    for seed in range(audits):
        draws = rng(seed)
        label = draws.permutation(np.repeat([1, 0], [60, 130]))
        given = (draws.random(190) < often).astype(int)
        alarms += [
            p_chance(given, measure, draws) <= RULE.level
            for measure in measures(label, 2)
        ]
    assert alarms.max() <= binom.ppf(0.9995, audits, RULE.level)


def test_who_says_yes_too_often_is_still_above_chance() -> None:
    """Of 720 "yes" 98 % recognised, of 1,560 "no" 25 %: 48 % right, 61.5 % balanced."""
    draws = rng()
    label = np.repeat([1, 0], [720, 1560])
    given = np.repeat([1, 0, 0, 1], [706, 14, 390, 1170])
    by_answer, plain = measures(label, 2)
    assert p_chance(given, by_answer, draws) <= 0.005
    assert p_chance(given, plain, draws) > 0.9  # "no" to all is right more often


def test_several_answers_are_compared_with_all_orders_of_the_right_ones() -> None:
    label, given = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 1, 2, 0, 2])
    weight = 1 / np.bincount(label)[label]
    orders = np.array(list(permutations(range(7))))
    values = (weight[orders] * (given == label[orders])).sum(axis=1)
    exact = float((values >= (weight * (given == label)).sum() - 1e-9).mean())
    measure = measures(label, 3)[0]
    ours, best = guessing_p_values(given == label, given, measure, rng())
    assert ours == pytest.approx(exact, abs=0.02)
    # one in 210 orders is all right
    assert best == pytest.approx(2 * 2 * 6 / 5040, abs=0.003)


def test_own_choices_are_a_binomial() -> None:
    measure = Measure("accuracy", np.zeros(4, int), 25.0)
    ours, best = guessing_p_values(np.array([1, 1, 1, 0], bool), None, measure, rng())
    assert ours == pytest.approx(4 * 0.25**3 * 0.75 + 0.25**4)
    assert best == 0.25**4


# ---------------------------------------------------------------------------------- measures


def sample(
    label: str = "yes", choices: tuple[str, ...] = (), **about: object
) -> Sample:
    return Sample(
        key=f"{label}-{about}",
        frames=(FRAME,),
        choices=choices,
        label=label,
        annotations=about,
    )


def test_balanced_accuracy_is_the_mean_recall_of_the_answers() -> None:
    both = ("yes", "no")
    samples = [sample("no", both)] * 6 + [sample("yes", both)] * 2
    balanced = balanced_accuracy(samples)
    assert balanced is not None
    always_no = np.array([[True]] * 6 + [[False]] * 2)
    assert rates(always_no, balanced.stratum) == [50.0]
    assert rates(always_no, plain_accuracy(samples).stratum) == [75.0]
    # "no" to all
    assert (balanced.chance, plain_accuracy(samples).chance) == (50.0, 75.0)
    some = np.array([[True, True, True, False, False, False, True, False]]).T
    assert rates(some, balanced.stratum) == [50.0]
    assert choose_measure(samples).name == "balanced accuracy"


def test_chance_is_of_each_samples_own_choices() -> None:
    samples = [sample("a", ("a", "b")), sample("a", ("a", "b", "c", "d")), sample("a")]
    assert plain_accuracy(samples).chance == pytest.approx(100 * (0.5 + 0.25 + 0) / 3)
    assert balanced_accuracy(samples) is None
    assert choose_measure(samples).name == "accuracy"


def test_four_shared_answers_are_counted_plainly() -> None:
    samples = [sample(label, ("a", "b", "c", "d")) for label in "aabcd"]
    assert choose_measure(samples).name == "accuracy"


def test_one_right_answer_is_no_balanced_accuracy() -> None:
    same = [sample("yes", ("yes", "no"))] * 3
    assert balanced_accuracy(same) is None
    assert (only_answer(same), plain_accuracy(same).chance) == ("yes", 100.0)
    assert choose_measure(same).name == "accuracy"
    assert only_answer([*same, sample("no", ("yes", "no"))]) is None
    assert only_answer([sample("Cat."), sample("a cat")]) == "Cat."


def test_the_commonest_types_are_kept() -> None:
    samples = [sample(question_type=kind) for kind in ("b", "a", "c", "a", "b")]
    types = question_types(samples, most=2)
    assert {name: index.tolist() for name, index in types.items()} == {
        "a": [1, 3],
        "b": [0, 4],
    }
    assert question_types([sample(question_type="a")] * 3) == {}
    assert question_types([sample()] * 3) == {}
