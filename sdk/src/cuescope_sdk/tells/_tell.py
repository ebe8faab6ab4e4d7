"""The tell, and how it is asked without a way to the answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_core.amounts import count_of
from cuescope_core.plugin import Plugin
from cuescope_sdk import Sample, UserError

Strengths = Float[np.ndarray, " option"]
# sums of floats in another order differ in their last bits
CLOSE = 1e-9
# standard errors: labels that were drawn agree so well in one audit of a billion
BY_CHANCE = 6.0


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

    @staticmethod
    def held_out_strengths(
        name: str,
        build: "Callable[[], Tell]",
        samples: Sequence[Sample],
        fold: Int[np.ndarray, " sample"],
        rng: np.random.Generator,
    ) -> Strengths:
        """The strength of every option, one sample after the other, learned from other folds.

        Raises UserError for a tell whose strengths move with the labels of the samples that they
        are about, and for one that does not give a finite number an option.
        """
        # a label for each sample that is asked about, and another one for the check
        decoys, others = _decoys(samples, rng)
        blind = build()
        # first, so that whatever it remembers of these calls is false
        for training in (fold != fold[0], fold == fold[0]):
            _ask(name, blind, others, others, training)
        expected = _ask_by_fold(name, blind, samples, others, fold)
        strengths = _ask_by_fold(name, build(), samples, decoys, fold)
        moved = ~np.isclose(strengths, expected, atol=CLOSE, rtol=CLOSE)
        count = len(np.unique(_owners(samples)[moved]))
        if count:
            raise _refusal(name, f"others in {count_of(count, 'questions')}")
        if _agreement(strengths, others) > BY_CHANCE:
            raise _refusal(name, "answers that it was shown in an earlier call")
        return strengths


def _refusal(name: str, got: str) -> UserError:
    return UserError(
        f"tell '{name}' is refused: it reads the labels of questions that it answers",
        expected="equal strengths when those labels alone are changed",
        got=got,
        remedy="Learn from samples[i] where training[i] alone, keep nothing between calls, and "
        "draw nothing by chance",
    )


def _owners(samples: Sequence[Sample]) -> Int[np.ndarray, " option"]:
    """The number of the sample of each option."""
    return np.repeat(np.arange(len(samples)), [len(s.choices) for s in samples])


def _ask_by_fold(
    name: str,
    tell: Tell,
    samples: Sequence[Sample],
    decoys: Sequence[Sample],
    fold: Int[np.ndarray, " sample"],
) -> Strengths:
    """The strengths of each fold, when all others are there to learn from."""
    owner = _owners(samples)
    strengths = np.zeros(len(owner))
    for number in np.unique(fold).tolist():
        asked = _ask(name, tell, samples, decoys, fold != number)
        held_out = (fold == number)[owner]
        strengths[held_out] = asked[held_out]
    return strengths


def _agreement(strengths: Strengths, labels: Sequence[Sample]) -> float:
    """By how many standard errors its answers are these labels more often than by chance."""
    start = 0
    beyond = 0.0
    variance = 0.0
    for sample in labels:
        count = len(sample.choices)
        own = strengths[start : start + count]
        start += count
        strongest = own >= own.max() - CLOSE
        chance = strongest.mean()
        place = sample.choices.index(str(sample.label))
        beyond += (strongest[place] - chance) / strongest.sum()
        variance += chance * (1 - chance) / strongest.sum() ** 2
    # a tell without preferences agrees with nothing
    return float(beyond / np.sqrt(variance)) if variance else 0.0


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
            got=f"{sum(sizes):,} for {count_of(sum(wanted), 'options')}",
        )
    strengths = np.array(
        [value for of_sample in answer for value in of_sample], dtype=float
    )
    if not np.isfinite(strengths).all():
        raise UserError(f"tell '{name}'", expected="finite strengths", got="others")
    return strengths
