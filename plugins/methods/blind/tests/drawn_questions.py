"""Questions drawn by chance, with or without something that gives their answers away."""

import numpy as np

from cuescope_blind.questions import Questions
from cuescope_sdk.statistics import Groups

KINDS = ("what", "why")
WORDS = 60


def draw_questions(
    count: int,
    rng: np.random.Generator,
    *,
    options: int = 4,
    a_video: int = 2,
    kinds: tuple[str, ...] = KINDS,
) -> Questions:
    """Questions about videos, `a_video` each.

    Options are words drawn from sixty, and no two of a question have as many.
    """
    texts = []
    choices = []
    for _ in range(count):
        texts.append(f"does {' '.join(_words(rng, 3))} go")
        # no two of a length, so that the longest is one option
        sizes = 2 + rng.permutation(options)
        drawn = [" ".join(_words(rng, size)) for size in sizes.tolist()]
        choices.append(
            tuple(
                f"{text} {letter}" for text, letter in zip(drawn, "wxyz", strict=False)
            )
        )
    return Questions(
        keys=tuple(f"q{number:05d}" for number in range(count)),
        texts=tuple(texts),
        options=tuple(choices),
        right=rng.integers(0, options, count),
        kind=tuple(kinds[number % len(kinds)] for number in range(count)),
        groups=Groups(np.arange(count) // a_video, -(-count // a_video), True),
    )


def _words(rng: np.random.Generator, count: int) -> list[str]:
    return [
        f"{chr(97 + number // 8)}o{chr(97 + number % 8)}a"
        for number in rng.integers(0, WORDS, count).tolist()
    ]


def prefer_longest(
    questions: Questions,
    points: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Right answers that are the longest option so many points oftener than by chance."""
    right = questions.right.copy()
    for number, options in enumerate(questions.options):
        # of those that are no longest already, so that the share rises by the points
        if rng.random() < points * len(options) / (len(options) - 1):
            right[number] = int(np.argmax([len(text) for text in options]))
    return right
