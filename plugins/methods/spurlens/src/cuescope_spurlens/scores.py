"""From answers to Spurious Gaps, with intervals and what the largest of many is by chance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Outcome, Trial
from cuescope_sdk.language import parse_yes_no
from cuescope_sdk.maths import (
    benjamini_hochberg,
    bootstrap_gap_interval,
    holm,
    monte_carlo_p_value,
    portions,
)
from cuescope_spurlens.options import SpurLensOptions
from cuescope_spurlens.trials import (
    CHOICES,
    Case,
    Study,
    TrialKey,
    build_study,
    distinct_trials,
    trial_key,
)

TIE = 1e-9  # rates are shares of few questions: real differences are far larger
THRESHOLDS = tuple(step / 20 for step in range(19))  # 0 to 0.9 in steps of 0.05
Answers = Mapping[TrialKey, bool | None]  # True is yes, False no, None neither


def read_answer(outcome: Outcome) -> bool | None:
    """True for yes, False for no, None for words that are neither."""
    index = outcome.response.prediction
    return parse_yes_no(outcome.response.text or "") if index is None else CHOICES[index] == "yes"


def read_answers(outcomes: Sequence[Outcome]) -> dict[TrialKey, bool | None]:
    """Every answer by what was asked."""
    return {trial_key(outcome.trial): read_answer(outcome) for outcome in outcomes}


def ask_more(audit: Audit, trials: Iterable[Trial], answers: Answers) -> Answers:
    """The answers so far with those to these trials; only what is new is asked."""
    new = [trial for trial in distinct_trials(trials) if trial_key(trial) not in answers]
    return {**answers, **read_answers(audit.respond(new))}


def yes_rates(rows: Sequence[Sequence[Trial]], answers: Answers) -> Float[np.ndarray, " row"]:
    """Share of yes among the questions of each row (eq. 5)."""
    # PA and HR are shares of yes: words that are neither yes nor no count as no.
    return np.array([np.mean([answers[trial_key(t)] is True for t in row]) for row in rows])


def spurious_gaps(
    rates: Float[np.ndarray, " sample"],
    top: Int[np.ndarray, "cue k"],
    bottom: Int[np.ndarray, "cue k"],
) -> Float[np.ndarray, " cue"]:
    """Mean rate of the top minus that of the bottom (SpurLens eq. 6), from -1 to 1."""
    return np.asarray(rates[top].mean(axis=1) - rates[bottom].mean(axis=1))


def gap_by_k(
    rates: Float[np.ndarray, " sample"], top: Int[np.ndarray, " k"], bottom: Int[np.ndarray, " k"]
) -> Float[np.ndarray, " k"]:
    """Gap at every K from 1 to k; `top` is best first, `bottom` has its lowest last."""
    count = np.arange(1, len(top) + 1)
    return np.asarray(np.cumsum(rates[top]) / count - np.cumsum(rates[bottom[::-1]]) / count)


def shuffled_maxima(
    rates: Float[np.ndarray, " sample"],
    top: Int[np.ndarray, "cue k"],
    bottom: Int[np.ndarray, "cue k"],
    draws: int,
    rng: np.random.Generator,
) -> Float[np.ndarray, " draw"]:
    """Largest gap of all cues once the rates are dealt anew among the samples, `draws` times.

    `rates` are of the samples in some top or bottom, numbered as there. Which samples these are
    depends on K-scores alone, so without any reliance every deal is as likely as the answers as
    they are: the test is exact, whatever the cues have in common (Westfall and Young, 1993).
    """
    # A gap is linear in the rates, so one matrix product gives all gaps of all deals.
    cues, k = top.shape
    weights = np.zeros((cues, len(rates)))
    np.put_along_axis(weights, top, 1 / k, axis=1)
    np.put_along_axis(weights, bottom, -1 / k, axis=1)
    maxima = []
    for count in portions(draws, len(rates)):
        shuffled = rng.permuted(np.tile(rates, (count, 1)), axis=1)
        maxima.append((shuffled @ weights.T).max(axis=1))
    return np.concatenate(maxima)


def random_maxima(
    rates: Float[np.ndarray, " sample"], cues: int, k: int, draws: int, rng: np.random.Generator
) -> Float[np.ndarray, " draw"]:
    """Largest gap of as many random rankings as there are cues, `draws` times (appendix N).

    A ranking draws k samples for its top and k others for its bottom; only how many of each rate
    are drawn matters, and these counts are drawn at once. `rates` are of at least 2 k samples.
    """
    levels, counts = np.unique(rates, return_counts=True)
    left = np.tile(counts, (draws * cues, 1))
    means = []
    # First the top, then the bottom from what the top has left.
    for _ in range(2):
        chosen = _draw_counts(left, k, rng)
        left = left - chosen
        means.append(chosen @ levels / k)
    return np.asarray((means[0] - means[1]).reshape(draws, cues).max(axis=1))


def _draw_counts(
    counts: Int[np.ndarray, "row level"], k: int, rng: np.random.Generator
) -> Int[np.ndarray, "row level"]:
    """How many of each level are among k drawn without replacement, row by row."""
    # Level after level, each given those before: numpy's multivariate_hypergeometric takes one
    # row at a time, and there are draws x cues of them.
    chosen, wanted = np.zeros_like(counts), np.full(len(counts), k)
    for level in range(counts.shape[1]):
        others = counts[:, level + 1 :].sum(axis=1)
        chosen[:, level] = rng.hypergeometric(counts[:, level], others, wanted)
        wanted = wanted - chosen[:, level]
    return chosen


def p_values(
    gaps: Float[np.ndarray, " cue"], maxima: Float[np.ndarray, " draw"]
) -> Float[np.ndarray, " cue"]:
    """Share of draws whose largest gap reaches a cue's, the answers as they are counted in.

    That of the largest gap is the p-value of the class; all are corrected for the choice of one
    cue out of many.
    """
    # Rates are thirds: two equal gaps may differ in the last bit, and a tie must count as reached.
    reached = (maxima[:, None] >= gaps - TIE).sum(axis=0)
    return np.array([monte_carlo_p_value(count, len(maxima)) for count in reached.tolist()])


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
class CaseResult:
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
class Results:
    """All that was answered: the study, its cases with their scores, and every answer."""

    study: Study
    cases: tuple[CaseResult, ...]
    answers: Answers
    draws: int

    @property
    def unparsed(self) -> int:
        """Answers that are neither yes nor no."""
        return sum(answer is None for answer in self.answers.values())

    @property
    def is_readable(self) -> bool:
        """Whether most answers are yes or no: else their rates say nothing."""
        return 2 * self.unparsed <= len(self.answers)

    @property
    def findings(self) -> tuple[CaseResult, ...]:
        """Cases whose strongest cue passes: images as they are first, the largest gap first."""
        findings = [result for result in self.cases if result.finding]
        return tuple(sorted(findings, key=lambda r: (r.case.is_changed, -r.gap.max())))


def score_study(audit: Audit) -> Results:
    """Every case, and which strongest cues are findings."""
    options: SpurLensOptions = audit.options
    study = audit.once(build_study, audit)
    answers = read_answers(audit.outcomes)
    draws = draws_needed(len(study.cases), options.level, options.draws)
    scored = [score_case(audit, study, case, answers, draws) for case in study.cases]
    p_strongest = [float(result.p_value[result.strongest]) for result in scored]
    q_values = correct_p_values(p_strongest, options.correction)
    results = Results(study, tuple(scored), answers, draws)
    readable = results.is_readable
    cases = [
        replace(r, q_value=q, finding=bool(readable and q <= options.level and r.gap.max() > 0))
        for r, q in zip(scored, q_values, strict=True)
    ]
    return replace(results, cases=tuple(cases))


def score_case(audit: Audit, study: Study, case: Case, answers: Answers, draws: int) -> CaseResult:
    """The gaps of all cues of a case, and its null."""
    options: SpurLensOptions = audit.options
    rates = yes_rates(study.questions(case), answers)
    # Numbered among the asked images: the null deals answers to these alone.
    top, bottom = case.asked_index(case.top), case.asked_index(case.bottom)
    gaps = spurious_gaps(rates, top, bottom)
    rng = audit.rng("bootstrap", case.task, case.label)
    # One generator for all cues of a case: their order is part of what is drawn.
    interval = [
        bootstrap_gap_interval(rates[up], rates[down], rng, confidence=options.confidence)
        for up, down in zip(top, bottom, strict=True)
    ]
    chance = audit.rng("chance", case.task, case.label)
    # Drawn whatever the null is: the tables show the paper's random baseline beside each gap.
    baseline = random_maxima(rates, len(case.cues), case.k, draws, chance)
    maxima = baseline
    if options.null == "shuffled-answers":
        maxima = shuffled_maxima(rates, top, bottom, draws, chance)
    with_cue, without = rates[top].mean(axis=1), rates[bottom].mean(axis=1)
    # The class is tested by its strongest cue, and the maxima already pay for that choice.
    p_value, random = p_values(gaps, maxima), float(baseline.mean())
    return CaseResult(case, rates, with_cue, without, gaps, np.array(interval), p_value, random)
