"""What is measured: accuracy or balanced accuracy, and what an answer without looking has of it."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from cuescope_quag.trials import (
    Codes,
    Samples,
    normalise,
    number_answers,
    shared_choices,
    videos_of,
)
from cuescope_sdk import Audit
from cuescope_sdk.data import warn_of_weak_data


@dataclass(frozen=True, eq=False)
class Measure:
    """Accuracy as a mean over strata of the share that is right (percent).

    One stratum gives plain accuracy; one stratum a label gives balanced accuracy. `chance` is
    what an answer without looking gives, in percent. `label` are the right answers by number
    where all questions share the answers to choose from.
    """

    name: Literal["accuracy", "balanced accuracy"]
    stratum: Codes
    chance: float
    label: Codes | None = None

    def subset(self, index: Int[np.ndarray, " subset"]) -> "Measure":
        """The same of these samples."""
        label = None if self.label is None else self.label[index]
        return Measure(self.name, self.stratum[index], self.chance, label)


def plain_accuracy(samples: Samples) -> Measure:
    """Accuracy; an open question is never guessed.

    Chance is the share of the commonest right answer where all questions share their answers,
    for who always gives that one has it; else the mean over questions of one in its choices.
    """
    stratum = np.zeros(len(samples), dtype=int)
    choices = shared_choices(samples)
    if choices:
        label = number_answers([sample.label for sample in samples], choices)
        chance = 100 * float(np.bincount(label).max() / len(label))
        return Measure("accuracy", stratum, chance, label)
    guesses = [1 / len(sample.choices) if sample.choices else 0.0 for sample in samples]
    return Measure("accuracy", stratum, 100 * float(np.mean(guesses)))


def balanced_accuracy(samples: Samples) -> Measure | None:
    """Balanced accuracy, None unless all questions have the same answers to choose from."""
    choices = shared_choices(samples)
    if not choices or len({sample.label for sample in samples}) < 2:
        return None
    label = number_answers([sample.label for sample in samples], choices)
    # A choice that is never right has no recall, so strata are the labels that occur.
    stratum = np.unique(label, return_inverse=True)[1]
    # who always gives one answer has one recall of 1, and 0 in the others
    return Measure("balanced accuracy", stratum, 100 / (1 + int(stratum.max())), label)


def choose_measure(samples: Samples) -> Measure:
    """Balanced accuracy for two answers that all questions share, else accuracy."""
    balanced = balanced_accuracy(samples)
    # Yes and no are seldom even (CLAVI: 6 and 13), and to give the commoner to all is no skill.
    if balanced is not None and len(set(samples[0].choices)) == 2:
        return balanced
    return plain_accuracy(samples)


def only_answer(samples: Samples) -> str | None:
    """The right answer, where it is the same for all questions, of which there are several."""
    # one question alone cannot but have one right answer
    return (
        str(samples[0].label) if len(samples) > 1 and has_one_label(samples) else None
    )


def has_one_label(samples: Samples) -> bool:
    """Whether the right answer is the same for all."""
    # as open answers are compared: "Yes" and "yes." are one answer
    return len({normalise(str(sample.label)) for sample in samples}) == 1


def warn_of_few(
    audit: Audit,
    samples: Samples,
    measure: Measure,
    level: float,
) -> None:
    """Say before anything is asked that these questions allow no verdict, and which would."""
    if (only := only_answer(samples)) is not None:
        warn_of_weak_data(
            audit,
            f"quag: all {len(samples)} questions have the same right answer, '{only}', so nothing "
            "can be tested; add questions with other right answers",
        )
        return
    videos = videos_of(samples).count
    chance = measure.chance / 100
    # questions about a video stand or fall together: one guess a video
    if chance**videos > level:
        words = f"quag: too few videos ({videos}) to test anything: all right answers could be luck"
        # else no number of videos helps, and there is no logarithm
        if 0 < chance < 1:
            # the least n with chance ** n <= level
            enough = math.ceil(math.log(level) / math.log(chance))
            words += f"; {enough} would be the fewest that could do"
        warn_of_weak_data(audit, words)


def question_types(samples: Samples, most: int = 12) -> dict[str, Codes]:
    """Indices of each type of question, the commonest `most` by name; {} where all are of one."""
    indices: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        kind = str(sample.annotations.get("question_type", ""))
        if kind:
            indices.setdefault(kind, []).append(index)
    if len(indices) < 2:
        return {}
    # ties by name, so that the order of the data decides nothing
    ranked = sorted(indices, key=lambda kind: (-len(indices[kind]), kind))
    return {kind: np.array(indices[kind]) for kind in sorted(ranked[:most])}


def joint_types(samples: Samples) -> dict[tuple[str, ...], Codes]:
    """Indices of each type of question, those with one right answer taken together."""
    alone: dict[tuple[str, ...], Codes] = {}
    joined: dict[str, Codes] = {}
    for kind, index in question_types(samples).items():
        # who gives that answer to everything is right about all of such a type
        if has_one_label([samples[row] for row in index]):
            joined[kind] = index
        else:
            alone[(kind,)] = index
    if joined:
        alone[tuple(joined)] = np.concatenate(list(joined.values()))
    return alone
