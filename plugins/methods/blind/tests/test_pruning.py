"""Pruning is an improvement where there is something to prune, and never of noise."""

import numpy as np
import pytest
from drawn_questions import draw_questions, prefer_longest

from cuescope_blind.learner import all_columns
from cuescope_blind.pruning import Pruned, prune
from cuescope_blind.questions import Questions
from cuescope_sdk import UserError


def pruned(points: float, draws: int = 19) -> tuple[Questions, Pruned]:
    rng = np.random.default_rng(0)
    questions = draw_questions(200, rng)
    right = prefer_longest(questions, points, rng)
    planted = Questions(
        questions.keys,
        questions.texts,
        questions.options,
        right,
        questions.kind,
        questions.groups,
    )
    return planted, prune(planted, all_columns(planted), 40, 2, draws, rng)


def test_a_planted_tell_is_pruned_away() -> None:
    questions, result = pruned(0.5)
    assert len(set(result.kept.tolist())) == 160
    assert result.words.startswith("an improvement: on the 160 questions that are left")
    lengths = [[len(text) for text in options] for options in questions.options]
    is_longest = np.array(
        [
            sizes[right] == max(sizes)
            for sizes, right in zip(lengths, questions.right, strict=True)
        ]
    )
    assert is_longest[result.kept].mean() < is_longest.mean() - 0.05


def test_noise_is_not_improved() -> None:
    _, result = pruned(0.0)
    assert result.words.startswith("no improvement")


def test_a_turned_tell_is_no_improvement_over_none() -> None:
    result = Pruned(np.arange(4), 0.1, -0.12, (0.02, -0.03, 0.1))
    assert result.p_value == pytest.approx(1.0)
    assert result.words.endswith("prune fewer")


def test_more_than_half_is_refused() -> None:
    questions = draw_questions(20, np.random.default_rng(0))
    with pytest.raises(UserError, match="at most half of 20 questions"):
        prune(questions, all_columns(questions), 11, 2, 1, np.random.default_rng(0))
