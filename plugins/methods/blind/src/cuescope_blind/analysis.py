"""Every tell and the learner, on all questions and on each kind of question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool
from scipy.optimize import brentq

from cuescope_blind.learner import out_of_fold
from cuescope_blind.questions import OneAQuestion, PerOption, PerQuestion, Questions
from cuescope_blind.scores import Gain, expected_correct, measure_gain, prefers
from cuescope_blind.tells import Tell, strengths_of
from cuescope_blind.tells.files import file_tells
from cuescope_blind.tells.others import other_tells
from cuescope_blind.trials import features_of, folds_of, questions_of
from cuescope_sdk import Audit
from cuescope_sdk.statistics import (
    DetectionLimit,
    Groups,
    benjamini_hochberg,
    change_p_value,
)

LEARNER = Tell("blind-learner", "the answer of a learner that sees no pixel")
# videos: with fewer an interval says nothing
FEW_GROUPS = 10
# the limit sets the scatter, which sets the limit: a fourth round moves it by 0.01 points
ROUNDS = 3
CLOSE = 1e-4


@dataclass(frozen=True, eq=False)
class Result:
    """A tell on all questions, or on those of one kind."""

    tell: Tell
    kind: str | None
    part: Bool[np.ndarray, " question"]
    correct: PerQuestion
    gain: Gain
    # None until every result is there: the correction is over all tells and kinds
    q_value: float | None = None

    @property
    def key(self) -> str:
        """The key of its feature."""
        return self.tell.key if self.kind is None else f"{self.tell.key}: {self.kind}"


@dataclass(frozen=True, eq=False)
class Study:
    """The results of an audit, findings first, and the learner's probability of every option."""

    questions: Questions
    probability: PerOption
    results: tuple[Result, ...]

    @property
    def learner(self) -> Result:
        """The blind learner on all questions."""
        return next(result for result in self.results if result.key == LEARNER.key)


def study(audit: Audit) -> Study:
    """All that is measured; for `audit.once`."""
    questions = audit.once(questions_of, audit)
    fold = audit.once(folds_of, audit)
    features = audit.once(features_of, audit)
    probability = out_of_fold(questions, features, fold)
    others = [*audit.once(file_tells, audit), *audit.once(other_tells, audit)]
    results = measure_all(
        questions,
        questions.right,
        fold,
        probability,
        audit.options,
        others,
    )
    return Study(questions, probability, tuple(results))


def measure_all(
    questions: Questions,
    right: OneAQuestion,
    fold: OneAQuestion,
    probability: PerOption,
    options: Any,
    others: Sequence[tuple[Tell, PerOption]] = (),
) -> list[Result]:
    """Every tell on all questions and on each kind, with q-values over all; findings first."""
    results = []
    places = int(questions.counts.max())
    parts = list(parts_of(questions, options))
    for tell, strength in [
        (LEARNER, probability),
        *strengths_of(questions, right, fold),
        *others,
    ]:
        correct = expected_correct(questions, strength, right)
        # where all options are equal to it, a tell is silent, and would only dilute its own figure
        speaks = prefers(questions, strength)
        for kind, of_kind in parts:
            part = speaks & of_kind
            # the learner answers all questions: of POPE, where nothing is to be learned, by chance
            if tell is LEARNER:
                part = of_kind
            few = questions.groups.take(part).count < FEW_GROUPS
            if few and (tell is not LEARNER or kind is not None):
                continue
            gain = measure_gain(
                questions,
                correct,
                part,
                # a rule that is right too seldom is a finding too: the longest option of EgoSchema
                two_sided=tell.two_sided,
                tries=places if tell.of_places else 1,
                confidence=options.confidence,
            )
            if gain is not None:
                results.append(Result(tell, kind, part, correct, gain))
    q_values = benjamini_hochberg([result.gain.p_value for result in results])
    corrected = []
    for result, q_value in zip(results, q_values, strict=True):
        corrected.append(replace(result, q_value=q_value))
    corrected.sort(key=lambda result: _rank(result, options))
    return corrected


def parts_of(
    questions: Questions, options: Any
) -> Iterator[tuple[str | None, Bool[np.ndarray, " question"]]]:
    """All questions, and those of each kind that has enough of them."""
    yield None, np.ones(len(questions), dtype=bool)
    sizes = np.bincount(questions.kind_codes)
    # a single kind is all questions once more
    if not options.by_kind or len(sizes) == 1:
        return
    for number, kind in enumerate(sorted(set(questions.kind))):
        if sizes[number] >= options.min_kind:
            yield kind, questions.kind_codes == number


def is_finding(result: Result, options: Any) -> bool:
    """Whether the tell is far enough from chance, and farther than luck explains."""
    if result.q_value is None:
        return False
    return bool(
        abs(result.gain.gain) >= options.min_gain and result.q_value <= options.fdr
    )


def _rank(result: Result, options: Any) -> tuple[bool, bool, float]:
    # of all questions first: a kind of fifty may have a larger gain by luck
    return (
        not is_finding(result, options),
        result.kind is not None,
        -abs(result.gain.gain),
    )


def other_results(results: Sequence[Result], options: Any) -> list[Result]:
    """The tells on all questions that are no finding."""
    # kinds are too many to be listed one by one
    overall = [result for result in results if result.kind is None]
    return [result for result in overall if not is_finding(result, options)]


def smallest_findable(
    questions: Questions,
    results: Sequence[Result],
    options: Any,
) -> tuple[Result, float | None] | None:
    """The tell without a finding that is heard on most questions, and the gain it would need.

    None where every tell on all questions is a finding.
    """
    missed = other_results(results, options)
    if not missed:
        return None
    widest = max(missed, key=lambda result: result.gain.n)
    gains = widest.correct[widest.part] - questions.chance[widest.part]
    groups = questions.groups.take(widest.part)
    # a lone finding needs so small a p-value
    level = options.fdr / len(results)
    return widest, foretold_gain(gains, groups, widest.gain.chance, level)


def foretold_gain(
    gains: PerQuestion,
    groups: Groups,
    chance: float,
    level: float,
) -> float | None:
    """The gain that 8 of 10 audits find at a two-sided level; None where none is found.

    Normal theory: the smallest gain whose p-value is at the level, and so many standard errors more
    that a gain measured with this scatter lies above it in 8 of 10 audits.
    """
    limit = 0.0
    for _ in range(ROUNDS):
        # right answers scatter more where they are more often right, as those to be found are
        spread = np.sqrt(_scatter(chance + limit) / _scatter(chance))
        scatter = spread * (gains - gains.mean())
        by_group = np.bincount(groups.codes, weights=scatter)
        error = np.sqrt((by_group**2).sum()) / len(gains)
        room = 1 - chance

        def excess(gain: float, scatter: PerQuestion = scatter) -> float:
            shifted = np.clip(scatter + gain, -1, 1)
            p_value = change_p_value(shifted, groups)
            return 1.0 if p_value is None else p_value - level

        if excess(room) > 0:
            return None
        critical = float(brentq(excess, 0.0, room, xtol=CLOSE))
        limit = DetectionLimit.beyond(critical, error)
        if limit >= room:
            return None
    return limit


def _scatter(share: float) -> float:
    """The variance of a question that is right in such a share of draws."""
    return share * (1 - share)
