"""A placebo that moves answers by itself makes no witness."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cuescope_confirm.testimony.effects import does_damage, placebo_moves
from cuescope_confirm.testimony.witnesses import Answers, Witness

STUDY: Any = SimpleNamespace(options=SimpleNamespace(margin=0.1))


def witness(as_is: float, changed: float, placebo: float) -> Witness:
    """Of 20 samples with the cue, and of 10 without it, in which nothing moves."""
    values = np.tile([as_is, changed, placebo], (20, 1))
    values = np.concatenate([values, np.full((10, 3), 0.9)])
    pairs: Any = [SimpleNamespace(control=row >= 20) for row in range(30)]
    target: Any = SimpleNamespace(direction=SimpleNamespace(sign=1))
    plugin: Any = SimpleNamespace(effect="removes")
    answers = Answers(pairs, (), values, values, {})
    return Witness(target, "blank", plugin, answers=answers)


@pytest.mark.parametrize(
    ("changed", "placebo", "is_damage"),
    [
        (0.80, 0.55, False),  # less than the margin
        (0.55, 0.35, True),  # more than a third of what is beyond it
        (0.95, 0.48, False),  # little beside the effect
        (0.50, 0.75, True),  # whichever way it moves them
    ],
)
def test_a_placebo_that_moves_answers_makes_no_witness(
    changed: float, placebo: float, *, is_damage: bool
) -> None:
    asked = witness(0.6, changed, placebo)
    assert placebo_moves(asked) == pytest.approx(placebo - 0.6)
    assert does_damage(STUDY, asked) is is_damage
