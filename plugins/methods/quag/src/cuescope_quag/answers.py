"""Which answers are right, how they are counted, and which of them stand or fall together."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Int

from cuescope_sdk import Outcome, Sample, UserError, digest

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Lower case, without punctuation, one space between words: how open answers are compared.

    >>> normalised(" It's the  LEFT one. ")
    'its the left one'
    """
    return " ".join(answer.lower().translate(_PUNCTUATION).split())


def is_correct(outcome: Outcome) -> bool:
    """Whether the best choice is the label, or the open answer one of those accepted."""
    sample = outcome.trial.sample
    if sample.choices:
        return outcome.correct()
    accepted = (sample.label, *sample.annotations.get("answers", ()))
    given = normalised(outcome.response.text or "")
    return bool(given) and given in {normalised(str(answer)) for answer in accepted}


def correctness(outcomes: Sequence[Outcome]) -> Bool[np.ndarray, " sample"]:
    """Whether each is right."""
    return np.array([is_correct(outcome) for outcome in outcomes], dtype=bool)


@dataclass(frozen=True, eq=False)
class Measure:
    """Accuracy as a mean over strata of the share that is right (percent).

    One stratum gives plain accuracy; one stratum a label gives balanced accuracy. `chance` is
    what guessing gives, in percent.
    """

    name: Literal["accuracy", "balanced accuracy"]
    stratum: Int[np.ndarray, " sample"]
    chance: float


def plain(samples: Sequence[Sample]) -> Measure:
    """Accuracy; an open question is never guessed."""
    guessed = [1 / len(sample.choices) if sample.choices else 0.0 for sample in samples]
    return Measure("accuracy", np.zeros(len(samples), dtype=int), 100 * float(np.mean(guessed)))


def balanced(samples: Sequence[Sample]) -> Measure | None:
    """Balanced accuracy, None unless all questions have the same answers to choose from."""
    shared = {frozenset(sample.choices) for sample in samples}
    labels, stratum = np.unique([str(sample.label) for sample in samples], return_inverse=True)
    if len(shared) != 1 or len(labels) < 2 or not samples[0].choices:
        return None
    return Measure("balanced accuracy", stratum, 100 / len(labels))


def measure(samples: Sequence[Sample], wanted: Literal["auto", "accuracy", "balanced"]) -> Measure:
    """The wanted one; "auto" is balanced for yes or no alone.

    Raises UserError where the answers are not those of a balanced accuracy.
    """
    closed = balanced(samples)
    if closed is None and wanted == "balanced":
        raise UserError(
            "quag: option 'measure'",
            expected="accuracy: the questions do not share one set of several answers",
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
