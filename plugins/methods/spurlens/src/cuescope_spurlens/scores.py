"""From answers to Spurious Gaps, with intervals and what the largest of many is by chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk import Audit
from cuescope_sdk.statistics import (
    GapTest,
    Groups,
    benjamini_hochberg,
    gap_intervals,
    gap_test,
    gap_weights,
    holm,
    maxima_p_values,
    random_maxima,
    smallest_ranked_gap,
)
from cuescope_spurlens.answers import Answers, ask_more, read_answers, yes_probabilities, yes_rates
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.spuriosity.cases import Case
from cuescope_spurlens.spuriosity.sizes import ObjectSizes, object_sizes, size_strata
from cuescope_spurlens.spuriosity.units import unit_means
from cuescope_spurlens.trials import Study, build_study

THRESHOLDS = tuple(step / 20 for step in range(19))  # 0 to 0.9 in steps of 0.05
LEAST_APART = 10  # units on a side, to measure a finding in


def spurious_gaps(
    rates: Float[np.ndarray, " unit"],
    top: Int[np.ndarray, "cue k"],
    bottom: Int[np.ndarray, "cue k"],
) -> Float[np.ndarray, " cue"]:
    """Mean rate of the top minus that of the bottom (SpurLens eq. 6), from -1 to 1."""
    return np.asarray(rates[top].mean(axis=1) - rates[bottom].mean(axis=1))


def spurious_gap_interval(
    top: Float[np.ndarray, " unit"], bottom: Float[np.ndarray, " unit"], confidence: float
) -> tuple[float, float]:
    """Interval of the mean rate of some units minus that of others."""
    # `gap_intervals` is of those without a feature minus those with it.
    without = np.arange(len(top) + len(bottom)) >= len(top)
    values, groups = np.concatenate([top, bottom]), Groups.single(len(without))
    low, high = gap_intervals(values, without[:, None], groups, confidence=confidence)
    return float(low[0]), float(high[0])


def gap_by_k(
    rates: Float[np.ndarray, " unit"], top: Int[np.ndarray, " k"], bottom: Int[np.ndarray, " k"]
) -> Float[np.ndarray, " k"]:
    """Gap at every K from 1 to k; `top` is best first, `bottom` has its lowest last."""
    count = np.arange(1, len(top) + 1)
    return np.asarray(np.cumsum(rates[top]) / count - np.cumsum(rates[bottom[::-1]]) / count)


def correct_p_values(p_values: list[float], how: str) -> list[float]:
    """Over the classes: `holm` bounds the chance of any false finding, `bh` their share."""
    return benjamini_hochberg(p_values) if how == "bh" else holm(p_values)


def draws_needed(tests: int, level: float, least: int) -> int:
    """Draws of which the smallest p-value stays well below `level` after Holm's correction."""
    # The smallest p-value is 1 / (1 + draws), and Holm multiplies it by the number of tests.
    return max(least, round(4 * tests / level))


def largest_k(
    scores: Float[np.ndarray, "sample cue"], cues: int, thresholds: Sequence[float] = THRESHOLDS
) -> tuple[int, float]:
    """Largest K for which so many cues are in K samples and absent from K, and its threshold.

    Above the threshold a cue counts as present, else as absent (appendix P); the threshold with
    the largest K is taken, the lowest of equals. 0 where there are fewer cues.
    """
    if scores.shape[1] < cues:
        return 0, thresholds[0]
    largest = []
    for threshold in thresholds:
        present = (scores > threshold).sum(axis=0)
        both = np.sort(np.minimum(present, len(scores) - present))
        largest.append(int(both[-cues]))
    best = int(np.argmax(largest))
    return largest[best], thresholds[best]


@dataclass(frozen=True, eq=False)
class Apart:
    """A finding in the units in which no cue was looked for: its rates, gap and test."""

    with_rates: Float[np.ndarray, " k"]
    without_rates: Float[np.ndarray, " k"]
    low: float
    high: float
    p_value: float

    @property
    def gap(self) -> float:
        """The gap there, which no choice among cues has made large."""
        return float(self.with_rates.mean() - self.without_rates.mean())

    @property
    def k(self) -> int:
        """Units with the cue, and as many without."""
        return len(self.with_rates)


@dataclass(frozen=True, eq=False)
class CaseResult:
    """A case with its answers.

    `rates` are shares of yes by asked row, `unit_rates` by asked unit; `with_cue`, `without` and
    `gap` those of each cue's top and bottom, with its `interval` (low, high). `tests` has the test
    of the gaps by what it sets aside: nothing (""), the object's "size", doubtful "labels", or
    both; the last decides. `q_value`, of the strongest cue, is corrected over all cases, and
    `plain_q` is the same where nothing is set aside. `baseline` is the mean largest gap of random
    rankings. `size_unknown` says that an object is there whose size nothing tells; `sizes` are
    those of the objects, with their `strata`. `limit` is the smallest gap that would have been
    found, and `apart` the finding elsewhere.
    """

    case: Case
    rates: Float[np.ndarray, " asked"]
    unit_rates: Float[np.ndarray, " asked_unit"]
    with_cue: Float[np.ndarray, " cue"]
    without: Float[np.ndarray, " cue"]
    gap: Float[np.ndarray, " cue"]
    interval: Float[np.ndarray, "cue 2"]
    tests: Mapping[str, GapTest]
    baseline: float
    size_unknown: bool = False
    sizes: ObjectSizes | None = None
    strata: Int[np.ndarray, " asked_unit"] | None = None
    limit: float | None = None
    q_value: float = 1.0
    plain_q: float = 1.0
    finding: bool = False
    apart: Apart | None = None

    @property
    def test(self) -> GapTest:
        """The one that decides."""
        return list(self.tests.values())[-1]

    @property
    def p_value(self) -> Float[np.ndarray, " cue"]:
        """Of each cue, corrected for the choice among the cues."""
        return self.test.p_value

    @property
    def strongest(self) -> int:
        """The cue whose gap chance explains least; of equals the largest gap, then the first."""
        return int(np.lexsort((-self.gap, -self.test.strength))[0])

    @property
    def cue(self) -> str:
        """Its name."""
        return self.case.cues[self.strongest]

    @property
    def largest(self) -> int:
        """The strongest cue where nothing is set aside."""
        return int(np.lexsort((-self.gap, -self.tests[""].strength))[0])


@dataclass(frozen=True, eq=False)
class Results:
    """All that was answered: the study, its cases with their scores, and every answer."""

    study: Study
    cases: tuple[CaseResult, ...]
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

    @property
    def findings(self) -> tuple[CaseResult, ...]:
        """Cases whose strongest cue passes: images as they are first, the largest gap first."""
        findings = [result for result in self.cases if result.finding]
        return tuple(sorted(findings, key=lambda r: (r.case.is_changed, -r.gap[r.strongest])))

    @property
    def explained(self) -> tuple[CaseResult, ...]:
        """Cases whose gap would be a finding, but goes with the size or the doubted labels."""
        cases = self.cases if self.is_readable else ()
        return tuple(r for r in cases if r.plain_q <= self.level < r.q_value)

    @property
    def refused(self) -> tuple[CaseResult, ...]:
        """Cases whose gap is no finding only because the object's size is unknown."""
        cases = self.cases if self.is_readable else ()
        passing = (r for r in cases if r.q_value <= self.level and r.gap[r.strongest] > 0)
        return tuple(r for r in passing if not r.finding)


def score_study(audit: Audit) -> Results:
    """Every case, which strongest cues are findings, and these in the images kept apart."""
    options: SpurLensOptions = audit.options
    study = audit.once(build_study, audit)
    answers = read_answers(audit.outcomes)
    draws = draws_needed(len(study.cases), options.level, options.draws)
    scored = [score_case(audit, study, case, answers, draws) for case in study.cases]
    q_values, plain = (
        correct_p_values([float(test.p_value.min()) for test in tests], options.correction)
        for tests in ([r.test for r in scored], [r.tests[""] for r in scored])
    )
    results = Results(study, tuple(scored), answers, draws, options.level)
    readable = results.is_readable
    cases = [
        replace(
            r,
            q_value=q,
            plain_q=plain_q if r.gap[r.largest] > 0 else 1.0,
            finding=bool(
                readable
                and q <= options.level
                and r.gap[r.strongest] > 0
                and not (r.size_unknown and options.unknown_size == "refuse")
            ),
        )
        for r, q, plain_q in zip(scored, q_values, plain, strict=True)
    ]
    return measure_apart(audit, replace(results, cases=tuple(cases)))


def score_case(audit: Audit, study: Study, case: Case, answers: Answers, draws: int) -> CaseResult:
    """The gaps of all cues of a case, and its null."""
    options: SpurLensOptions = audit.options
    questions = study.questions(case)
    rates, units = yes_rates(questions, answers), case.asked_groups
    unit_rates = unit_means(rates, units)
    sure = unit_means(yes_probabilities(questions, answers), units)
    # Numbered among the asked units: the null deals answers to these alone.
    top, bottom = case.asked_index(case.top), case.asked_index(case.bottom)
    gaps = spurious_gaps(unit_rates, top, bottom)
    interval = [
        spurious_gap_interval(unit_rates[up], unit_rates[down], options.confidence)
        for up, down in zip(top, bottom, strict=True)
    ]
    chance = audit.rng("chance", case.task, case.label)
    # Drawn whatever the null is: the tables show the paper's random baseline beside each gap.
    rankings = options.random_rankings
    baseline = float(random_maxima(unit_rates, rankings, case.k, draws, chance).mean())
    sizes, strata = None, None
    if case.task != "hallucination":
        shown = [case.samples[row] for row in case.asked_rows.tolist()]
        sizes = object_sizes(shown, case.label, case.objects_of(case.asked_rows))
        strata = unit_strata(sizes, units)
    tests = {
        words: _test(audit, sure, gap_weights(top, bottom, units.count, kept), stratum, draws, case)
        for words, stratum, kept in set_aside(strata, case.kept_units(case.asked_rows))
    }
    deciding = list(tests.values())[-1]
    critical = deciding.critical(options.level / len(study.cases))
    limit = smallest_ranked_gap(
        sure,
        case.k,
        critical,
        audit.rng("limit", case.task, case.label),
        lowers=case.task == "recognition",
    )
    with_cue, without = unit_rates[top].mean(axis=1), unit_rates[bottom].mean(axis=1)
    return CaseResult(
        case,
        rates,
        unit_rates,
        with_cue,
        without,
        gaps,
        np.array(interval),
        tests,
        baseline,
        case.task == "recognition" and sizes is None,
        sizes if strata is not None else None,
        strata,
        limit,
    )


def _test(
    audit: Audit,
    rates: Float[np.ndarray, " unit"],
    weights: Float[np.ndarray, "cue unit"],
    stratum: Int[np.ndarray, " unit"] | None,
    draws: int,
    case: Case,
) -> GapTest:
    """Of all cues, by the null of the options."""
    options: SpurLensOptions = audit.options
    # Of the same deals whatever is set aside.
    rng = audit.rng("deal", case.task, case.label)
    test = gap_test(rates, weights, stratum, draws, rng)
    if options.null == "shuffled-answers":
        return test
    maxima = random_maxima(rates, len(weights), case.k, draws, rng)
    return replace(test, p_value=maxima_p_values(weights @ rates - test.by_strata, maxima))


def unit_strata(sizes: ObjectSizes | None, units: Groups) -> Int[np.ndarray, " unit"] | None:
    """Strata by the object's size; None where it is unknown, or the same in all."""
    if sizes is None:
        return None
    strata = size_strata(unit_means(sizes.values, units))
    return strata if strata.any() else None


def set_aside(
    strata: Int[np.ndarray, " unit"] | None, kept: Bool[np.ndarray, " unit"] | None
) -> list[tuple[str, Int[np.ndarray, " unit"] | None, Bool[np.ndarray, " unit"] | None]]:
    """What a test sets aside, with its strata and its units; all that there is comes last."""
    both: list[tuple[str, Int[np.ndarray, " unit"] | None, Bool[np.ndarray, " unit"] | None]] = [
        ("", None, None)
    ]
    if strata is not None:
        both.append(("size", strata, None))
    if kept is not None:
        both.append(("labels", None, kept))
    if strata is not None and kept is not None:
        both.append(("size and labels", strata, kept))
    return both


# -------------------------------------------------------------------------- images kept apart


def measure_apart(audit: Audit, results: Results) -> Results:
    """The findings in the units in which no cue was looked for; these are asked about now."""
    study, cases, answers = results.study, [], results.answers
    for result in results.cases:
        case, measured = result.case, result
        if result.finding and len(case.apart) >= 2 * LEAST_APART:
            rng = audit.rng("ties apart", case.task, case.label)
            sides = case.sides_apart(result.strongest, rng)
            rows = np.sort(case.rows(np.concatenate(sides)))
            questions = study.questions(case, rows.tolist())
            answers = ask_more(audit, (trial for row in questions for trial in row), answers)
            rates = yes_rates(questions, answers), yes_probabilities(questions, answers)
            measured = replace(result, apart=_apart(audit, result, sides, rows, rates))
        cases.append(measured)
    return replace(results, cases=tuple(cases), answers=answers)


def _apart(
    audit: Audit,
    result: CaseResult,
    sides: tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]],
    rows: Int[np.ndarray, " row"],
    of_rows: tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]],
) -> Apart:
    """Gap and test of the one cue in the units of both sides, from rates and probabilities."""
    options: SpurLensOptions = audit.options
    case, units = result.case, result.case.units.take(rows)
    rates, sure = (unit_means(values, units) for values in of_rows)
    chosen = np.unique(np.concatenate(sides))
    top, bottom = (np.searchsorted(chosen, side)[None] for side in sides)
    strata = None
    if result.sizes is not None:
        shown = [case.samples[row] for row in rows.tolist()]
        sizes = object_sizes(shown, case.label, case.objects_of(rows))
        strata = unit_strata(sizes, units)
    weights = gap_weights(top, bottom, units.count, case.kept_units(rows))
    rng = audit.rng("deal apart", case.task, case.label)
    test = gap_test(sure, weights, strata, options.draws, rng)
    up, down = rates[top[0]], rates[bottom[0]]
    low, high = spurious_gap_interval(up, down, options.confidence)
    return Apart(up, down, low, high, float(test.p_value[0]))
