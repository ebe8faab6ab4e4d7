"""An encoder knows that words of one sense are alike; the words alone are strangers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from drawn_questions import draw_questions

from cuescope_blind.learner import all_columns, out_of_fold
from cuescope_blind.pruning import prune
from cuescope_blind.questions import Questions, deal_folds
from cuescope_blind.scores import expected_correct


class Senses:
    """Every text is a point near one sense or another: that of odd numbers, or of even ones."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = []
        for text in texts:
            noise = np.random.default_rng(list(text.encode())).normal(size=8)
            noise[0] = 4.0 if sum(map(ord, text)) % 2 else -4.0
            rows.append(noise / np.linalg.norm(noise))
        return np.array(rows)


def of_one_sense(count: int, points: float) -> Questions:
    """No word stands in two questions; the right option is of the odd sense so much oftener."""
    rng = np.random.default_rng(0)
    questions = draw_questions(count, rng, a_video=1)
    options = []
    for right in questions.right.tolist():
        odd = right if rng.random() < points else int(rng.integers(4))
        names = []
        for place in range(4):
            letters = [chr(97 + letter) for letter in rng.integers(0, 26, 9)]
            # the last letter makes the sum odd or even
            letters.append("ab"[(sum(map(ord, letters)) + (place == odd) + 1) % 2])
            names.append("".join(letters))
        options.append(tuple(names))
    return replace(questions, options=tuple(options))


def accuracy(questions: Questions, encoder: Senses | None) -> float:
    fold = deal_folds(questions.fold_groups, 5, np.random.default_rng(1))
    probability = out_of_fold(questions, all_columns(questions, encoder), fold)
    return float(expected_correct(questions, probability).mean())


def test_a_sense_is_learned_where_no_word_comes_twice() -> None:
    questions = of_one_sense(120, 0.7)
    assert accuracy(questions, None) < 0.4
    assert accuracy(questions, Senses()) > 0.6
    redrawn = replace(
        questions, right=np.random.default_rng(2).integers(0, 4, len(questions))
    )
    assert accuracy(redrawn, Senses()) < 0.4


def test_pruning_learns_from_senses_of_the_questions_that_are_left() -> None:
    questions = of_one_sense(120, 0.6)
    columns = all_columns(questions, Senses())
    pruned = prune(questions, columns, 30, 3, 1, np.random.default_rng(3))
    assert pruned.before > 0.3
    assert abs(pruned.gain) < pruned.before
