"""What gives answers away is seen by the tell that is named so."""

from dataclasses import replace

import numpy as np
from drawn_questions import draw_questions

from cuescope_blind.learner import out_of_fold
from cuescope_blind.questions import Questions, deal_folds
from cuescope_blind.scores import expected_correct
from cuescope_blind.tells import TELLS

MARKED = 0.5  # of the questions


def gains(questions: Questions) -> dict[str, float]:
    """How much oftener than by chance each tell is right."""
    fold = deal_folds(questions.fold_groups, 5, np.random.default_rng(1))
    found = {}
    for tell in TELLS:
        strength = out_of_fold(questions, tell.columns(questions), fold)
        correct = expected_correct(questions, strength)
        found[tell.key] = float((correct - questions.chance).mean())
    return found


def test_a_place_that_is_often_right_is_seen() -> None:
    questions = draw_questions(300, np.random.default_rng(0))
    drawn = np.random.default_rng(3).random(300) < MARKED
    placed = replace(questions, right=np.where(drawn, 2, questions.right))
    assert gains(placed)["position"] > 0.2


def test_words_of_right_options_are_seen() -> None:
    questions = draw_questions(300, np.random.default_rng(0))
    rng = np.random.default_rng(2)
    marked = []
    for options, right in zip(questions.options, questions.right.tolist(), strict=True):
        place = right if rng.random() < MARKED else int(rng.integers(len(options)))
        texts = list(options)
        texts[place] += " carefully"
        marked.append(tuple(texts))
    assert gains(replace(questions, options=tuple(marked)))["words"] > 0.2


def test_words_of_the_question_are_crossed_with_options() -> None:
    questions = draw_questions(300, np.random.default_rng(0))
    rng = np.random.default_rng(4)
    things = rng.choice(["cat", "kite", "oven"], 300).tolist()
    yes = np.where(
        rng.random(300) < MARKED, np.equal(things, "cat"), rng.random(300) < 0.5
    )
    asked = replace(
        questions,
        texts=tuple(f"is there a {thing}" for thing in things),
        options=(("yes", "no"),) * 300,
        right=np.where(yes, 0, 1),
        kind=("is",) * 300,
    )
    found = gains(asked)
    assert found["question-words"] > 0.1
    # as often as it is right: what is asked for must count
    assert found["question-words"] > found["answer-prior"] + 0.05


def test_distractors_of_a_pool_are_seen() -> None:
    questions = draw_questions(300, np.random.default_rng(0))
    rng = np.random.default_rng(5)
    pooled = []
    for options, right in zip(questions.options, questions.right.tolist(), strict=True):
        texts = [f"item {number}" for number in rng.permutation(40)[:4].tolist()]
        texts[right] = options[right]
        pooled.append(tuple(texts))
    found = gains(replace(questions, options=tuple(pooled)))
    # what others offer too is never right here
    assert found["answer-prior"] > 0.2


def test_every_tell_has_a_name_of_its_own() -> None:
    assert len({tell.key for tell in TELLS}) == len(TELLS)
