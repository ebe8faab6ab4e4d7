"""What each given cue changes for each label."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from cuescope_cue.options import CueOptions
from cuescope_cue.trials import recognise
from cuescope_sdk import Audit, Sample, UserError, nearest
from cuescope_sdk.cues import Cue, Embedded, Recognition, common_wrong_answers
from cuescope_sdk.statistics import LabelEffects, benjamini_hochberg


@dataclass(frozen=True, eq=False)
class Measured:
    """A cue, who shows it, and what changes with it where it draws `answer`.

    `effects` is None where no answer is wrong. `q_value` is corrected for all cues and answers.
    """

    cue: Cue
    recognition: Recognition
    samples: Sequence[Sample]
    answer: str | None = None
    effects: LabelEffects | None = None
    q_value: float | None = None


@dataclass(frozen=True, eq=False)
class Analysis:
    """The samples, the cues, and how many pairs of a cue and an answer were tested."""

    data: Embedded
    cues: Sequence[Measured]
    tests: int


def analyse(audit: Audit, options: CueOptions) -> Analysis:
    """Measure the cues; for `audit.once`."""
    recognised = list(recognise(audit, options))
    data = audit.once(Embedded.ask, audit)
    tested: list[Measured] = []
    for cue, recognition in recognised:
        pairs = list(_pairs(audit, options, data, cue, recognition))
        tested += pairs or [Measured(cue, recognition, data.samples)]
    p_values = [one.effects.p_value if one.effects else None for one in tested]
    q_values = benjamini_hochberg(p_values)
    best: dict[str, Measured] = {}
    for one, q_value in zip(tested, q_values, strict=True):
        before = best.get(one.cue.key)
        if before is None or _strength(one) > _strength(before):
            best[one.cue.key] = replace(one, q_value=q_value)
    tests = sum(p_value is not None for p_value in p_values)
    return Analysis(data, list(best.values()), tests)


def correct_of(data: Embedded) -> Float[np.ndarray, " sample"]:
    """1 where a sample is answered with its label, else 0."""
    return np.array([float(outcome.correct()) for outcome in data.outcomes])


def _pairs(
    audit: Audit,
    options: CueOptions,
    data: Embedded,
    cue: Cue,
    recognition: Recognition,
) -> Iterator[Measured]:
    """The cue with each answer that it may draw."""
    for answer in _answers(options, data, cue):
        sign = np.where(np.array(data.labels) == answer, 1.0, -1.0)
        effects = LabelEffects.of(
            recognition.probability,
            correct_of(data),
            data.label,
            sign,
            data.groups,
            audit.rng("effects", cue.identity, answer),
            # of a cue that few samples taught, the model sees more than its recogniser
            answers_tell=True,
        )
        yield Measured(cue, recognition, data.samples, answer, effects)


def _answers(options: CueOptions, data: Embedded, cue: Cue) -> list[str]:
    """The answer that is named, else the common wrong ones; none where all are right."""
    named = options.answer
    if named is not None and named not in data.labels:
        raise UserError(
            f"cue: no answer '{named}' in the data",
            expected=f"one of {', '.join(data.labels[:6])}",
            remedy=nearest(named, data.labels),
        )
    # a cue that was made on other data may draw an answer that these do not have
    named = named or (cue.answer if cue.answer in data.labels else None)
    if named is not None:
        return [named]
    return common_wrong_answers(data)


def _strength(measured: Measured) -> float:
    return measured.effects.z if measured.effects else -np.inf
