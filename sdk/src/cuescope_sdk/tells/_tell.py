"""What every tell is, and how it is asked without a way to the answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope.plugin import Plugin
from cuescope_sdk import Sample, UserError

Strengths = Float[np.ndarray, " option"]
# sums of floats in another order differ in their last bits
CLOSE = 1e-9


class Tell(Plugin, ABC):
    """Answers questions without looking: the option with the largest strength is its answer.

    `title` completes "Taking ... is right in 31% of 400 questions". What `learns` may be right more
    often than guessing, a rule also more seldom: either is found.
    """

    title: ClassVar[str]
    learns: ClassVar[bool] = True

    @abstractmethod
    def strengths(
        self,
        samples: Sequence[Sample],
        training: Bool[np.ndarray, " sample"],
    ) -> Sequence[Sequence[float]]:
        """A number an option, of each sample in order.

        `label` is right in the samples for `training`, and only these may be learned from; in the
        others it is drawn by chance. Of annotations there is "question_type" alone, frames there
        are none, and keys are numbers that mean nothing.
        """


def held_out_strengths(
    name: str,
    build: Callable[[], Tell],
    samples: Sequence[Sample],
    fold: Int[np.ndarray, " sample"],
    rng: np.random.Generator,
) -> Strengths:
    """The strength of every option, one sample after the other, learned from other folds.

    Raises UserError for a tell whose strengths move with the labels of the samples that they are
    about, and for one that does not give a finite number an option.
    """
    # a label for each sample that is asked about, and another one for the check
    decoys, others = _decoys(samples, rng)
    folds = np.unique(fold).tolist()
    checked = folds[-1]
    own = fold == checked
    # first, so that the tell has never seen the labels of this fold
    wrong = [
        other if of_fold else s
        for s, other, of_fold in zip(samples, others, own, strict=True)
    ]
    blind = build()
    for number in folds:
        expected = _ask(name, blind, wrong, others, fold != number)
    tell = build()
    starts = np.cumsum([0, *(len(sample.choices) for sample in samples)])
    strengths = np.zeros(int(starts[-1]))
    owner = np.repeat(np.arange(len(samples)), np.diff(starts))
    for number in folds:
        asked = _ask(name, tell, samples, decoys, fold != number)
        held_out = (fold == number)[owner]
        strengths[held_out] = asked[held_out]
    mine = own[owner]
    if not np.allclose(strengths[mine], expected[mine], atol=CLOSE, rtol=CLOSE):
        raise UserError(
            f"tell '{name}' is refused: it reads the labels of questions that it answers",
            expected="equal strengths when those labels alone are changed",
            got=f"others in {_moved(strengths, expected, mine, owner):,} questions",
            remedy="Learn from samples[i] where training[i] alone, keep nothing between calls, and "
            "draw nothing by chance",
        )
    return strengths


def _decoys(
    samples: Sequence[Sample],
    rng: np.random.Generator,
) -> tuple[list[Sample], list[Sample]]:
    """Each sample twice, with two labels drawn by chance that are not the same."""
    first = []
    second = []
    for sample in samples:
        one, other = rng.choice(len(sample.choices), 2, replace=False).tolist()
        first.append(replace(sample, label=sample.choices[one]))
        second.append(replace(sample, label=sample.choices[other]))
    return first, second


def _ask(
    name: str,
    tell: Tell,
    samples: Sequence[Sample],
    decoys: Sequence[Sample],
    training: Bool[np.ndarray, " sample"],
) -> Strengths:
    shown = []
    for number, sample in enumerate(samples):
        source = sample if training[number] else decoys[number]
        kind = sample.annotations.get("question_type")
        shown.append(
            replace(
                source,
                key=str(number),
                frames=(),
                annotations={} if kind is None else {"question_type": kind},
            )
        )
    answer = tell.strengths(shown, training)
    sizes = [len(of_sample) for of_sample in answer]
    wanted = [len(sample.choices) for sample in samples]
    if sizes != wanted:
        raise UserError(
            f"tell '{name}'",
            expected="a strength for each option of each sample, in order",
            got=f"{sum(sizes):,} for {sum(wanted):,} options",
        )
    strengths = np.array(
        [value for of_sample in answer for value in of_sample], dtype=float
    )
    if not np.isfinite(strengths).all():
        raise UserError(f"tell '{name}'", expected="finite strengths", got="others")
    return strengths


def _moved(
    strengths: Strengths,
    expected: Strengths,
    mine: Bool[np.ndarray, " option"],
    owner: Int[np.ndarray, " option"],
) -> int:
    differ = mine & ~np.isclose(strengths, expected, atol=CLOSE, rtol=CLOSE)
    return len(np.unique(owner[differ]))
