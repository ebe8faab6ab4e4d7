"""From answers to results: the gap of each cue, its test, and the findings."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk import Accuracy, Audit
from cuescope_sdk.statistics import GapPlan, GapTest, Groups, holm
from cuescope_spurlens.answers import (
    Answers,
    Questions,
    ask_more,
    read_answers,
    yes_probabilities,
    yes_rates,
)
from cuescope_spurlens.options import RANKINGS, SpurLensOptions
from cuescope_spurlens.questions import question_templates, trial_key
from cuescope_spurlens.scores import (
    RankedSides,
    draws_needed,
    spurious_gap_interval,
    spurious_gaps,
    unit_strata,
)
from cuescope_spurlens.spuriosity.cases import Case
from cuescope_spurlens.spuriosity.detections import Task
from cuescope_spurlens.spuriosity.shapes import IntPerK, PerCue, PerK, PerUnit
from cuescope_spurlens.spuriosity.sizes import ObjectSizes
from cuescope_spurlens.spuriosity.units import unit_means
from cuescope_spurlens.trials import Candidates, Study, build_study

ASSUMED_RATE = 0.8  # of yes, where power is foretold before any answer
Sides = tuple[IntPerK, IntPerK]  # units with the cue, and as many without


@dataclass(frozen=True, eq=False)
class GapFigures:
    """The gap of a cue between the units of two sides: their rates, its interval and its test."""

    sides: Sides
    with_rates: PerK
    without_rates: PerK
    low: float
    high: float
    p_value: float

    @property
    def gap(self) -> float:
        """The mean rate with the cue minus that without."""
        return float(self.with_rates.mean() - self.without_rates.mean())

    @property
    def k(self) -> int:
        """Units with the cue, and as many without."""
        return len(self.with_rates)


@dataclass(frozen=True, eq=False)
class CaseResult:
    """A case with its answers.

    `unit_rates` are shares of yes by asked unit, `sure` the mean probabilities of it, of which
    `ranked` is made; `interval` has low and high of each cue's gap. `test` adjusts for the object's
    size and leaves out doubtful labels. `q_value`, of the strongest cue, is corrected over all
    cases. `baseline` is the mean largest gap of random rankings. `sizes` are those of the objects,
    None where nothing tells them. `apart` is the finding in the units in which no cue was looked
    for.
    """

    case: Case
    unit_rates: PerUnit
    sure: PerUnit
    ranked: RankedSides
    interval: Float[np.ndarray, "cue 2"]
    test: GapTest
    baseline: float
    sizes: ObjectSizes | None
    q_value: float = 1.0
    finding: bool = False
    apart: GapFigures | None = None

    @cached_property
    def with_cue(self) -> PerCue:
        """Mean rate of each cue's top."""
        return np.asarray(self.unit_rates[self.case.asked_sides[0]].mean(axis=1))

    @cached_property
    def without(self) -> PerCue:
        """Mean rate of each cue's bottom."""
        return np.asarray(self.unit_rates[self.case.asked_sides[1]].mean(axis=1))

    @cached_property
    def gap(self) -> PerCue:
        """The gap of each cue, as it is where cues were looked for."""
        return spurious_gaps(self.unit_rates, *self.case.asked_sides)

    @property
    def size_unknown(self) -> bool:
        """Whether an object is there whose size nothing tells."""
        return self.case.task == "recognition" and self.sizes is None

    @property
    def p_value(self) -> PerCue:
        """Of each cue, corrected for the choice among the cues."""
        return self.test.p_value

    @property
    def strongest(self) -> int:
        """The cue whose gap chance explains least; of equals the largest gap, then the first."""
        # by strength: p-values of strong cues tie at 1 / (1 + draws)
        return int(np.lexsort((-self.gap, -self.test.strength))[0])

    @property
    def strongest_gap(self) -> float:
        """The gap of the strongest cue."""
        return float(self.gap[self.strongest])

    @property
    def cue(self) -> str:
        """The strongest cue's name."""
        return self.case.cues[self.strongest]

    def figures(self, cue: int) -> GapFigures:
        """Those of the report: of a finding apart, where it is measured so."""
        # the largest of many gaps is too large where it was chosen
        if self.apart is not None and cue == self.strongest:
            return self.apart
        top, bottom = self.case.asked_sides
        low, high = self.interval[cue].tolist()
        return GapFigures(
            sides=(self.case.top[cue], self.case.bottom[cue]),
            with_rates=self.unit_rates[top[cue]],
            without_rates=self.unit_rates[bottom[cue]],
            low=low,
            high=high,
            p_value=float(self.p_value[cue]),
        )

    @property
    def is_sure(self) -> bool:
        """Whether the interval that is shown of the strongest cue is above 0."""
        return self.figures(self.strongest).low > 0

    @property
    def shown_rows(self) -> tuple[list[int], list[int]]:
        """The images with the cue and without that the figures of the strongest cue are of."""
        top, bottom = self.figures(self.strongest).sides
        return self.case.rows(top), self.case.rows(bottom)


@dataclass(frozen=True, eq=False)
class Results:
    """All that was answered: the study, its cases with their scores, and every answer."""

    study: Study
    cases: Sequence[CaseResult]
    answers: Answers
    draws: int
    level: float

    @property
    def unparsed(self) -> int:
        """Answers that are neither yes nor no."""
        return sum(answer.yes is None for answer in self.answers.values())

    @property
    def is_readable(self) -> bool:
        """Whether most answers are yes or no: else their rates say nothing."""
        return 2 * self.unparsed <= len(self.answers)

    @cached_property
    def by_task(self) -> dict[Task, list[CaseResult]]:
        """The cases of each task."""
        by_task: dict[Task, list[CaseResult]] = {}
        for result in self.cases:
            by_task.setdefault(result.case.task, []).append(result)
        return by_task

    def can_find(self, result: CaseResult) -> bool:
        """Whether any answers could be a finding: with few images each deal of them is likely."""
        answers = result.sure if result.case.task == "recognition" else 1 - result.sure
        deals = math.comb(2 * result.case.k, result.case.k)
        return bool(answers.any()) and len(self.cases) <= self.level * deals

    @property
    def plain_cases(self) -> list[CaseResult]:
        """The cases whose images are shown as they are."""
        return [result for result in self.cases if not result.case.is_changed]

    @property
    def findings(self) -> list[CaseResult]:
        """Cases whose strongest cue passes: images as they are first, the largest gap first."""
        findings = [result for result in self.cases if result.finding]
        return sorted(findings, key=lambda r: (r.case.is_changed, -r.strongest_gap))

    @property
    def refused_cases(self) -> list[CaseResult]:
        """Cases whose gap passes the test, but is not sure."""
        cases = self.cases if self.is_readable else ()
        return [r for r in cases if not r.finding and passes(r, self.level)]


def passes(result: CaseResult, level: float) -> bool:
    """Whether the gap of the strongest cue is too large for chance."""
    # A gap below zero speaks against the cue, however sure it is.
    return result.q_value <= level and result.strongest_gap > 0


def score_study(audit: Audit) -> Results:
    """Every case, which strongest cues are findings, and these in the images kept apart."""
    options: SpurLensOptions = audit.options
    study = audit.once(build_study, audit)
    answers = read_answers(audit.outcomes)
    draws = draws_needed(len(study.cases), options.level, options.draws)
    # all cases before any finding: q-values are corrected over them
    scored = [score_case(audit, study, case, answers, draws) for case in study.cases]
    # the least p of a case already pays for the choice among its cues
    q_values = holm([float(result.p_value.min()) for result in scored])
    results = Results(study, (), answers, draws, options.level)
    cases = []
    for unjudged, q_value in zip(scored, q_values, strict=True):
        result = replace(unjudged, q_value=q_value)
        finding = results.is_readable and passes(result, options.level)
        cases.append(replace(result, finding=finding))
    # last, for only findings cost the questions about images apart
    return measure_apart(audit, replace(results, cases=cases))


def score_case(
    audit: Audit,
    study: Study,
    case: Case,
    answers: Answers,
    draws: int,
) -> CaseResult:
    """The gaps of all cues of a case, and its null."""
    units = case.units.take(case.asked_rows)
    # shares of yes are shown; probabilities tell more, and are tested
    rates, sure = unit_rates(study.questions(case), answers, units)
    # Numbered among the asked units: the null deals answers to these alone.
    top, bottom = case.asked_sides
    interval = []
    for up, down in zip(rates[top], rates[bottom], strict=True):
        interval.append(spurious_gap_interval(up, down))
    chance = audit.rng("chance", case.task, case.label)
    # the tables show the paper's random baseline beside each gap
    maxima = GapTest.random_maxima(rates, RANKINGS, case.k, draws, chance)
    # without the object there is no size that could make a gap
    sizes = case.object_sizes(case.asked_rows) if case.shows_object else None
    strata = unit_strata(sizes, units)
    ranked = RankedSides(top, bottom, strata, case.kept_units(case.asked_rows))
    return CaseResult(
        case=case,
        unit_rates=rates,
        sure=sure,
        ranked=ranked,
        interval=np.array(interval),
        test=ranked.test(sure, draws, audit.rng("deal", case.task, case.label)),
        baseline=float(maxima.mean()),
        sizes=sizes,
    )


def unit_rates(
    rows: Questions,
    answers: Answers,
    units: Groups,
) -> tuple[PerUnit, PerUnit]:
    """Of each unit the share of yes, and the mean probability of yes."""
    rates = unit_means(yes_rates(rows, answers), units)
    return rates, unit_means(yes_probabilities(rows, answers), units)


# -------------------------------------------------------------------------- images kept apart


def measure_apart(audit: Audit, results: Results) -> Results:
    """The findings in the units in which no cue was looked for; these are asked about now."""
    cases = []
    study = results.study
    answers = results.answers
    for result in results.cases:
        case = result.case
        if result.finding and case.can_measure_apart:
            ties = audit.rng("ties apart", case.task, case.label)
            sides = case.sides_apart(result.strongest, ties)
            questions = study.questions(case, side_rows(case, sides))
            # handed on: another finding may need the same images
            answers = ask_more(audit, chain.from_iterable(questions), answers)
            rng = audit.rng("deal apart", case.task, case.label)
            draws = audit.options.draws
            apart = measure_gap(audit, study, answers, result, case, sides, draws, rng)
            result = replace(result, apart=apart)
        # else a star would stand beside an interval that holds 0
        finding = result.finding and result.is_sure
        cases.append(replace(result, finding=finding))
    return replace(results, cases=cases, answers=answers)


def side_rows(case: Case, sides: Sides) -> list[int]:
    """The rows of both sides, in the order of the data."""
    return sorted(case.rows(np.concatenate(sides)))


def measure_gap(
    audit: Audit,
    study: Study,
    answers: Answers,
    result: CaseResult,
    case: Case,
    sides: Sides,
    draws: int,
    rng: Generator,
) -> GapFigures:
    """The gap of a cue between the units of two sides, which were asked about.

    `case` is that of the result, or the same ranked otherwise. What the first test set aside is set
    aside here too.
    """
    rows = np.array(side_rows(case, sides))
    units = case.units.take(rows)
    rates, sure = unit_rates(study.questions(case, rows.tolist()), answers, units)
    # `take` has numbered these units anew, in the same ascending order
    top, bottom = np.searchsorted(np.unique(sides), sides)
    strata = None
    if result.ranked.stratum is not None:
        strata = unit_strata(case.object_sizes(rows), units)
    kept = case.kept_units(rows)
    ranked = RankedSides(top[None], bottom[None], strata, kept)
    test = ranked.test(sure, draws, rng)
    low, high = spurious_gap_interval(rates[top], rates[bottom])
    # one cue alone, so no choice is paid for: its p-value is the first
    return GapFigures(
        sides, rates[top], rates[bottom], low, high, float(test.p_value[0])
    )


# ------------------------------------------------------------------------------- whole answers


def blank_rates(results: Results) -> dict[str, float]:
    """The share of yes to the questions about a black image, by class."""
    questions = results.study.blank_questions
    rates = yes_rates(list(questions.values()), results.answers)
    return dict(zip(questions, rates.tolist(), strict=True))


def accuracy(results: Results) -> Accuracy | None:
    """How often the first wording is answered rightly; None where one answer is always right.

    Guessing says yes as often as the model does: of a model that says yes to all, or no, nothing
    is left above that (the expected agreement of Cohen, 1960).
    """
    counts = np.zeros((2, 2), dtype=int)  # is the class there, does the model say yes
    for result in results.plain_cases:
        there = int(result.case.task == "recognition")
        # wordings of one question hang together, so one of them counts
        for first, *_ in results.study.questions(result.case):
            counts[there, int(results.answers[trial_key(first)].yes is True)] += 1
    if not counts.any(axis=1).all():
        return None
    answered = int(counts.sum())
    expected = counts.sum(axis=0) @ counts.sum(axis=1)
    chance = float(expected / answered**2)
    return Accuracy(correct=int(np.trace(counts)), answered=answered, chance=chance)


# ---------------------------------------------------------------------- before anything is asked


def most_questions(audit: Audit, candidates: Candidates) -> int:
    """How many questions the cues need at most."""
    options: SpurLensOptions = audit.options
    # Images with the object are asked about as they are, and once more for each removal.
    as_shown = ("recognition" in options.tasks) + len(options.removals)
    # each class is asked about in one black image
    images = len(candidates.cues) * ("blank" in options.artificial)
    for image_set in candidates.image_sets:
        # One more than the cues, for the images apart in which a finding is measured.
        sides = 2 * (len(candidates.cues[image_set.label]) + 1)
        # sides are of whole units, of which the largest may be in them
        sizes = np.sort(np.bincount(Groups.of(image_set.samples).codes))[::-1]
        most = int(sizes[: sides * candidates.k].sum())
        images += most * (as_shown if image_set.task == "recognition" else 1)
    return images * len(question_templates(audit))


def planned_cases(
    options: SpurLensOptions, candidates: Candidates
) -> Iterator[tuple[Groups, int, bool]]:
    """Of each possible case: the groups of its images, K, and are they shown as they are?"""
    for image_set in candidates.image_sets:
        groups = Groups.of(image_set.samples)
        yield groups, candidates.k, True
        if image_set.task == "recognition":
            for _ in options.removals:
                yield groups, candidates.k, False


@dataclass(frozen=True)
class Power:
    """The smallest gap that the median class finds in 8 of 10 audits; None where there is none."""

    k: int
    cues: int
    cases: int
    gap: float | None


def expected_power(candidates: Candidates, options: SpurLensOptions) -> Power:
    """What could be found, before any answer, if the model says yes at ASSUMED_RATE."""
    sizes = [Groups.of(images.samples).count for images in candidates.image_sets]
    # a top and a bottom that do not overlap take half of the units each
    k = min(candidates.k, int(np.median(sizes)) // 2)
    cues = max(map(len, candidates.cues.values()))
    # As if all cues were independent: those that go together cost less.
    threshold = options.level / len(sizes) / max(cues, 1)
    gap = GapPlan(k, k, ASSUMED_RATE).smallest_drop(threshold) if k else None
    return Power(k, cues, len(sizes), gap)
