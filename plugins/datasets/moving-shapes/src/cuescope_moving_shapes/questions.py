"""Questions whose answer is planted: in the words alone, in the video alone, or in both together.

The four answers are equally likely, and what is not needed tells nothing of them. Where both are
needed, the words alone tell nothing, and the video alone leaves three answers, one in three right.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cuescope_moving_shapes.motion import DIRECTIONS, Numbers
from cuescope_moving_shapes.options import ShapesOptions
from cuescope_sdk import Sample, generator

ANSWERS = tuple(direction.removeprefix("moving ") for direction in DIRECTIONS)

_CLOCKWISE = tuple(map(ANSWERS.index, ("north", "east", "south", "west")))
# Quarter turns clockwise. There is no "behind": with all turns equally frequent, neither words nor
# video tell anything until the other is understood, and a network is slow to start on either.
SIDES = {"ahead of": 0, "to the right of": 1, "to the left of": 3}


class Question(NamedTuple):
    """What is asked, its kind, and the right answer as an index of `ANSWERS`."""

    text: str
    kind: str
    answer: int


def draw_questions(options: ShapesOptions, direction: Numbers) -> list[Question]:
    """A question for each sequence, by where its answer is planted.

    The words of "text" are drawn independently of the video; those of "both" turn its direction.
    """
    rng = generator(options.seed, "moving-shapes", "questions", options.split)
    # A permutation of equal shares, not independent draws: every pair is exactly as frequent.
    pairs = len(ANSWERS) * len(SIDES)
    every = np.arange(len(direction)) % pairs
    facing, side = np.divmod(rng.permutation(every), len(SIDES))
    if options.questions == "video":
        text = "Which way does the disc move?"
        return [Question(text, "direction", answer) for answer in direction.tolist()]
    words = "You face {ahead}. Which way is {side} you?"
    if options.questions == "both":
        words = "Which way is {side} the moving disc?"
        facing = direction
    questions = []
    names = np.take(tuple(SIDES), side)
    for ahead, name in zip(facing.tolist(), names.tolist(), strict=True):
        text = words.format(ahead=ANSWERS[ahead], side=name)
        answer = turn(ahead, SIDES[name])
        questions.append(Question(text, name, answer))
    return questions


def with_question(sample: Sample, question: Question) -> Sample:
    """The same sequence with this question."""
    return replace(
        sample,
        question=question.text,
        choices=ANSWERS,
        label=ANSWERS[question.answer],
        annotations={**sample.annotations, "question_type": question.kind},
    )


def turn(direction: int, quarters: int) -> int:
    """The direction after so many quarter turns clockwise."""
    position = _CLOCKWISE.index(direction) + quarters
    return _CLOCKWISE[position % len(_CLOCKWISE)]
