"""The pure functions against closed forms, brute force and scikit-learn."""

import numpy as np
import pytest
from drawn_questions import draw_questions
from scipy import sparse

from cuescope_blind.learner import all_columns, fit, out_of_fold
from cuescope_blind.questions import Questions, deal_folds, words_of
from cuescope_blind.scores import (
    blind_scores,
    expected_correct,
    hardest,
    measure_gain,
    prefers,
    redraw_answers,
)
from cuescope_blind.tells import TELLS, Tell, consensus, overlap
from cuescope_sdk.statistics import Groups


def questions_with(
    *options: tuple[str, ...], texts: tuple[str, ...] | None = None
) -> Questions:
    count = len(options)
    return Questions(
        keys=tuple(map(str, range(count))),
        texts=texts or ("what",) * count,
        options=options,
        right=np.zeros(count, dtype=np.int64),
        kind=("what",) * count,
        groups=Groups.single(count),
    )


def test_equals_share_the_first_place() -> None:
    questions = questions_with(("a", "b", "c"), ("a", "b"))
    strength = np.array([1.0, 1.0, 0.0, 2.0, 3.0])
    assert expected_correct(questions, strength).tolist() == [0.5, 0.0]
    assert prefers(questions, np.array([1.0, 1.0, 1.0, 0.0, 1.0])).tolist() == [
        False,
        True,
    ]


def test_softmax_is_within_each_question() -> None:
    questions = questions_with(("a", "b", "c"), ("a", "b"))
    chances = questions.softmax(np.array([800.0, 800.0, 800.0, 0.0, np.log(3)]))
    assert chances == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.25, 0.75])


def test_tells_are_what_they_say() -> None:
    questions = questions_with(
        ("red cat", "red dog", "blue bird here"), texts=("is the cat red",)
    )
    assert overlap(questions) == pytest.approx([1.0, 0.5, 0.0])
    assert consensus(questions) == pytest.approx([1 / 6, 1 / 6, 0.0])


def test_words_of_scripts_without_spaces_are_letters() -> None:
    assert words_of("Ein Rad, 2.5 m") == ["ein", "rad", "2.5", "m"]
    assert words_of("红色 car") == ["红", "色", "car"]
    assert words_of("красный дом") == ["красный", "дом"]


def test_folds_are_of_whole_videos_and_of_a_size() -> None:
    questions = draw_questions(400, np.random.default_rng(0), a_video=3)
    fold = deal_folds(questions.fold_groups, 5, np.random.default_rng(1))
    for group in range(questions.groups.count):
        assert len(set(fold[questions.groups.codes == group])) == 1
    assert np.ptp(np.bincount(fold)) <= 3


def test_copies_share_a_fold_and_templates_do_not() -> None:
    copied = questions_with(("a", "b"), ("b", "a"), ("c", "d"))
    assert (
        copied.fold_groups.codes[0]
        == copied.fold_groups.codes[1]
        != copied.fold_groups.codes[2]
    )
    template = questions_with(*[("yes", "no")] * 10)
    assert template.fold_groups.count == 10


def test_weights_of_a_choice_are_recovered() -> None:
    """Answers are drawn by a conditional logistic model (McFadden, 1974)."""
    rng = np.random.default_rng(0)
    questions = draw_questions(4000, rng, options=3, a_video=1)
    matrix = rng.normal(size=(12000, 4))
    true = np.array([1, -1, 0.5, 0])
    chances = questions.softmax(matrix @ true).reshape(-1, 3)
    right = (chances.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    everyone = np.ones(4000, dtype=bool)
    weights = fit(questions, sparse.csr_array(matrix), right, everyone)
    # five standard errors
    assert weights == pytest.approx(true, abs=0.15)


@pytest.mark.parametrize("tell", TELLS, ids=lambda tell: tell.key)
def test_a_tell_knows_other_folds_alone(tell: Tell) -> None:
    questions = draw_questions(200, np.random.default_rng(2))
    fold = deal_folds(questions.fold_groups, 5, np.random.default_rng(2))
    own = fold == 0
    inside = own[questions.owner]
    columns = tell.columns(questions)
    before = out_of_fold(questions, columns, fold)
    changed = np.where(own, 0, questions.right)
    after = out_of_fold(questions, columns, fold, changed)
    assert np.array_equal(before[inside], after[inside])
    # of whole texts hardly any is offered in two folds
    moved = not np.array_equal(before[~inside], after[~inside])
    assert moved or tell.key == "answer-prior"


def test_the_learners_answers_about_a_fold_do_not_move_with_its_labels() -> None:
    questions = draw_questions(200, np.random.default_rng(3))
    fold = deal_folds(questions.fold_groups, 4, np.random.default_rng(3))
    features = all_columns(questions)
    before = out_of_fold(questions, features, fold)
    own = fold == 1
    after = out_of_fold(questions, features, fold, np.where(own, 0, questions.right))
    inside = own[questions.owner]
    assert np.array_equal(before[inside], after[inside])


def test_a_video_that_repeats_its_answer_is_not_known_by_heart() -> None:
    rng = np.random.default_rng(4)
    questions = draw_questions(400, rng, a_video=8, kinds=("what",))
    options = tuple(
        (f"thing{g}a", f"thing{g}b", f"thing{g}c") for g in questions.groups.codes
    )
    right = rng.integers(0, 3, questions.groups.count)[questions.groups.codes]
    repeated = Questions(
        questions.keys,
        questions.texts,
        options,
        right,
        questions.kind,
        questions.groups,
    )
    features = all_columns(repeated)
    grouped = deal_folds(repeated.fold_groups, 5, rng)
    single = deal_folds(Groups.single(400), 5, rng)
    by_memory = expected_correct(
        repeated, out_of_fold(repeated, features, single)
    ).mean()
    by_videos = expected_correct(
        repeated, out_of_fold(repeated, features, grouped)
    ).mean()
    assert by_memory > 0.9
    assert by_videos < 0.5


def test_a_gain_has_an_interval_over_videos() -> None:
    questions = draw_questions(400, np.random.default_rng(5), a_video=4)
    everyone = np.ones(400, dtype=bool)
    correct = np.zeros(400)
    correct[:200] = 1.0
    gain = measure_gain(questions, correct, everyone)
    assert gain is not None
    assert gain.low is not None
    assert gain.high is not None
    assert gain.gain == pytest.approx(0.25)
    # of a hundred videos that are all right or all wrong, not of four hundred questions
    assert gain.high - gain.low == pytest.approx(4 * 0.5 / 10, abs=0.03)
    assert gain.p_value is not None
    assert gain.p_value < 0.001
    assert measure_gain(questions, correct, ~everyone) is None


def test_the_hardest_are_chosen_among_those_with_as_many_options() -> None:
    questions = questions_with(*[("a", "b")] * 4, *[("a", "b", "c", "d")] * 4)
    probability = np.zeros(len(questions.owner))
    probability[questions.starts] = [0.9, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    figures = blind_scores(questions, probability)
    assert figures[[0, 4]] == pytest.approx([0.4, 0.05])
    assert sorted(hardest(questions, figures, 4).tolist()) == [2, 3, 6, 7]


def test_redrawn_answers_are_of_the_options() -> None:
    questions = questions_with(*[("a", "b"), ("a", "b", "c")] * 500)
    right = redraw_answers(questions, np.random.default_rng(0))
    assert (right < questions.counts).all()
    assert np.bincount(right[1::2]).min() > 130
