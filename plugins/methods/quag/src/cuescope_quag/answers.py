"""Which answers are right, how they are counted, and which of them stand or fall together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Int

from cuescope_quag.open_answers import accepted_answers, agrees, normalised
from cuescope_sdk import Outcome, Sample, UserError, digest


def is_correct(outcome: Outcome) -> bool:
    """Whether the best choice is the label, or the open answer one of those accepted."""
    sample = outcome.trial.sample
    if sample.choices:
        return outcome.correct()
    return agrees(outcome.response.text or "", accepted_answers(sample))


def correctness(outcomes: Sequence[Outcome]) -> Bool[np.ndarray, " sample"]:
    """Whether each is right."""
    return np.array([is_correct(outcome) for outcome in outcomes], dtype=bool)


@dataclass(frozen=True, eq=False)
class Measure:
    """Accuracy as a mean over strata of the share that is right (percent).

    One stratum gives plain accuracy; one stratum a label gives balanced accuracy. `chance` is
    what an answer without looking gives, in percent. `label` are the right answers by number
    where all questions share the answers to choose from.
    """

    name: Literal["accuracy", "balanced accuracy"]
    stratum: Int[np.ndarray, " sample"]
    chance: float
    label: Int[np.ndarray, " sample"] | None = None

    def of(self, kept: Int[np.ndarray, " kept"]) -> "Measure":
        """The same of these samples."""
        label = None if self.label is None else self.label[kept]
        return Measure(self.name, self.stratum[kept], self.chance, label)


def shared_choices(samples: Sequence[Sample]) -> list[str]:
    """The answers to choose from that all questions share, in alphabetical order; [] for none."""
    sets = {frozenset(sample.choices) for sample in samples}
    return sorted(sets.pop()) if len(sets) == 1 else []


def numbered(answers: Sequence[str | None], choices: Sequence[str]) -> Int[np.ndarray, " sample"]:
    """Each answer's place among the choices."""
    place = {choice: number for number, choice in enumerate(choices)}
    return np.array([place[str(answer)] for answer in answers], dtype=int)


def only_answer(samples: Sequence[Sample]) -> str | None:
    """The right answer, where it is the same for all questions, of which there are several."""
    labels = {normalised(str(sample.label)) for sample in samples}
    return str(samples[0].label) if len(labels) == 1 and len(samples) > 1 else None


def plain(samples: Sequence[Sample]) -> Measure:
    """Accuracy; an open question is never guessed.

    Chance is the share of the commonest right answer where all questions share their answers,
    for who always gives that one has it; else the mean over questions of one in its choices.
    """
    stratum, choices = np.zeros(len(samples), dtype=int), shared_choices(samples)
    if choices:
        label = numbered([sample.label for sample in samples], choices)
        return Measure(
            "accuracy", stratum, 100 * float(np.bincount(label).max() / len(label)), label
        )
    guessed = [1 / len(sample.choices) if sample.choices else 0.0 for sample in samples]
    return Measure("accuracy", stratum, 100 * float(np.mean(guessed)))


def balanced(samples: Sequence[Sample]) -> Measure | None:
    """Balanced accuracy, None unless all questions have the same answers to choose from."""
    choices = shared_choices(samples)
    if not choices or len({sample.label for sample in samples}) < 2:
        return None
    label = numbered([sample.label for sample in samples], choices)
    stratum = np.unique(label, return_inverse=True)[1]
    return Measure("balanced accuracy", stratum, 100 / (1 + int(stratum.max())), label)


def measure(samples: Sequence[Sample], wanted: Literal["auto", "accuracy", "balanced"]) -> Measure:
    """The wanted one; "auto" is balanced for yes or no alone.

    Raises UserError where the answers are not those of a balanced accuracy.
    """
    closed = balanced(samples)
    if closed is None and wanted == "balanced":
        raise UserError(
            "quag: option 'measure'",
            expected="accuracy: the questions do not share one set of several right answers",
            got=wanted,
        )
    two = len(set(samples[0].choices)) == 2
    if closed is not None and (wanted == "balanced" or (wanted == "auto" and two)):
        return closed
    return plain(samples)


def clusters(samples: Sequence[Sample]) -> Int[np.ndarray, " sample"]:
    """Which samples share a video: its `annotations["video_id"]`, or else the frames."""
    named = [
        str(sample.annotations.get("video_id") or digest({frame.key for frame in sample.frames}))
        for sample in samples
    ]
    return np.asarray(np.unique(named, return_inverse=True)[1])


def question_types(
    samples: Sequence[Sample], most: int = 12
) -> dict[str, Int[np.ndarray, " sample"]]:
    """Where each type of question is, the commonest `most` in alphabetical order; {} for one."""
    named = [str(sample.annotations.get("question_type", "")) for sample in samples]
    found = sorted(set(named) - {""}, key=lambda name: (-named.count(name), name))
    if len(found) < 2:
        return {}
    return {
        name: np.flatnonzero([other == name for other in named]) for name in sorted(found[:most])
    }
