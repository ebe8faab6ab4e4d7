"""From answers to gaps, with intervals and what chance would give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Audit, Outcome
from cuescope_spurlens.asking import Key, heard, yes_rates
from cuescope_spurlens.cases import Case, Study
from cuescope_spurlens.gaps import (
    corrected,
    draws_for,
    gap_interval,
    gaps,
    p_values,
    random_maxima,
    shuffled_maxima,
)

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens


@dataclass(frozen=True, eq=False)
class Scored:
    """A case with its answers: share of yes, of each asked image and of each cue's top and bottom.

    `p_value` is corrected for the choice among the cues; `q_value`, of the strongest cue, over all
    cases too. `baseline` is the mean largest gap of as many random rankings. `interval` is made
    for each cue, (low, high).
    """

    case: Case
    rates: Float[np.ndarray, " asked"]
    with_cue: Float[np.ndarray, " cue"]
    without: Float[np.ndarray, " cue"]
    gap: Float[np.ndarray, " cue"]
    interval: Float[np.ndarray, "cue 2"]
    p_value: Float[np.ndarray, " cue"]
    baseline: float
    q_value: float = 1.0
    finding: bool = False

    @property
    def strongest(self) -> int:
        """The cue with the largest gap; the first of equals."""
        return int(self.gap.argmax())

    @property
    def cue(self) -> str:
        """Its name."""
        return self.case.cues[self.strongest]


@dataclass(frozen=True, eq=False)
class Heard:
    """All that was answered: the cases, and how many answers were neither yes nor no."""

    cases: tuple[Scored, ...]
    answers: Mapping[Key, bool | None]
    draws: int

    @property
    def unparsed(self) -> int:
        """Answers that are neither yes nor no."""
        return sum(answer is None for answer in self.answers.values())

    @property
    def is_read(self) -> bool:
        """Whether most answers are yes or no: else their rates say nothing."""
        return 2 * self.unparsed <= len(self.answers)

    @property
    def findings(self) -> tuple[Scored, ...]:
        """Cases whose strongest cue passes: images as they are first, the largest gap first."""
        found = [one for one in self.cases if one.finding]
        return tuple(sorted(found, key=lambda one: (one.case.is_changed, -one.gap.max())))


def score(
    audit: Audit, options: "SpurLens.Options", study: Study, outcomes: Sequence[Outcome]
) -> Heard:
    """Every case, and which strongest cues are findings."""
    answers = heard(outcomes)
    draws = draws_for(len(study.cases), options.level, options.draws)
    scored = [score_case(audit, options, study, case, answers, draws) for case in study.cases]
    q_values = corrected([float(s.p_value[s.strongest]) for s in scored], options.correction)
    judged = [
        replace(one, q_value=q, finding=q <= options.level and bool(one.gap.max() > 0))
        for one, q in zip(scored, q_values, strict=True)
    ]
    found = Heard(tuple(judged), answers, draws)
    if found.is_read:
        return found
    return replace(found, cases=tuple(replace(one, finding=False) for one in judged))


def score_case(
    audit: Audit,
    options: "SpurLens.Options",
    study: Study,
    case: Case,
    answers: Mapping[Key, bool | None],
    draws: int,
) -> Scored:
    """The gaps of all cues of a case, and its null."""
    rates = yes_rates(study.rows(case), answers)
    top, bottom = case.local(case.top), case.local(case.bottom)
    gap = gaps(rates, top, bottom)
    rng = audit.rng("bootstrap", case.task, case.label)
    interval = [
        gap_interval(rates[up], rates[down], rng, confidence=options.confidence)
        for up, down in zip(top, bottom, strict=True)
    ]
    chance = audit.rng("chance", case.task, case.label)
    baseline = random_maxima(rates, len(case.cues), case.k, draws, chance)
    maxima = (
        baseline
        if options.null == "random-rankings"
        else shuffled_maxima(rates, top, bottom, draws, chance)
    )
    return Scored(
        case, rates, rates[top].mean(axis=1), rates[bottom].mean(axis=1), gap,
        np.array(interval), p_values(gap, maxima), float(baseline.mean()),
    )  # fmt: skip
