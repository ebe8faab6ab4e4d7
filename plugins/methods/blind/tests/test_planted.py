"""What is planted is found; where answers are drawn by chance, nothing is, at the promised rate."""

import numpy as np
import pytest
from drawn_questions import draw_questions, prefer_longest
from scipy.stats import binom

from cuescope_blind.analysis import measure_all
from cuescope_blind.learner import all_columns, out_of_fold
from cuescope_blind.options import BlindOptions
from cuescope_blind.questions import Questions, deal_folds
from cuescope_blind.scores import redraw_answers
from cuescope_blind.study import Result, smallest_findable
from cuescope_sdk.statistics import Groups

OPTIONS = BlindOptions()


def findings(
    questions: Questions,
    right: np.ndarray,
    rng: np.random.Generator,
) -> list[Result]:
    fold = deal_folds(questions.fold_groups, 5, rng)
    probability = out_of_fold(questions, all_columns(questions), fold, right)
    results = measure_all(questions, right, fold, probability, OPTIONS)
    return [result for result in results if result.is_finding(OPTIONS)]


def null_findings(draws: int, count: int) -> int:
    questions = draw_questions(count, np.random.default_rng(100))
    found = 0
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        found += bool(findings(questions, redraw_answers(questions, rng), rng))
    return found


def planted_findings(draws: int) -> int:
    found = 0
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        questions = draw_questions(1000, rng)
        right = prefer_longest(questions, 0.1, rng)
        found += "length" in [result.row for result in findings(questions, right, rng)]
    return found


def test_redrawn_answers_have_hardly_a_finding() -> None:
    # 5% of 6: three or more come in one of 450 such tests
    assert null_findings(6, 250) <= 2


def test_a_planted_tell_of_ten_points_is_found() -> None:
    assert planted_findings(2) == 2


def test_one_kind_of_question_is_tested_once() -> None:
    rng = np.random.default_rng(0)
    questions = draw_questions(200, rng, kinds=("what",))
    fold = deal_folds(questions.fold_groups, 5, rng)
    probability = out_of_fold(questions, all_columns(questions), fold)
    results = measure_all(questions, questions.right, fold, probability, OPTIONS)
    assert {result.only for result in results} == {None}


def test_a_learner_that_learns_nothing_answers_by_chance() -> None:
    # as in POPE: yes and no, each right equally often
    count = 40
    questions = Questions(
        keys=tuple(map(str, range(count))),
        texts=tuple(f"is there a {number}" for number in range(count)),
        options=(("yes", "no"),) * count,
        right=np.arange(count) % 2,
        kind=("is",) * count,
        groups=Groups(np.arange(count) // 2, count // 2, True),
    )
    level = np.full(2 * count, 0.5)
    fold = np.arange(count) // 2 % 5
    results = measure_all(questions, questions.right, fold, level, OPTIONS)
    [learner] = [result for result in results if result.row == "blind-learner"]
    assert (learner.gain.n, learner.gain.gain) == (count, 0.0)


@pytest.mark.long
def test_redrawn_answers_have_findings_no_oftener_than_promised() -> None:
    # 18 or more of 200 come in one of a hundred such tests where 5% of audits have one
    assert null_findings(200, 600) <= binom.ppf(0.99, 200, OPTIONS.fdr)


@pytest.mark.long
def test_a_planted_tell_of_ten_points_is_found_in_eight_of_ten() -> None:
    assert planted_findings(40) >= 32


@pytest.mark.long
def test_the_gain_that_is_foretold_is_found_in_eight_of_ten() -> None:
    limits = []
    for draw in range(10):
        rng = np.random.default_rng(1000 + draw)
        questions = draw_questions(600, rng)
        fold = deal_folds(questions.fold_groups, 5, rng)
        probability = out_of_fold(questions, all_columns(questions), fold)
        results = measure_all(questions, questions.right, fold, probability, OPTIONS)
        length = [result for result in results if result.row == "length"]
        foretold = smallest_findable(length * 12, OPTIONS)
        assert foretold is not None
        limits.append(foretold[1] or 1.0)
    found = 0
    for draw in range(60):
        rng = np.random.default_rng(draw)
        questions = draw_questions(600, rng)
        right = prefer_longest(questions, float(np.mean(limits)), rng)
        found += "length" in [result.row for result in findings(questions, right, rng)]
    # five standard errors of 60 draws are 26 points; corrected together, findings help one another
    assert found >= 34
