"""Each rule against answers: by ends of intervals, so that what they leave open is undecided."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cuescope_commands.comparing._pairs import Pairs, group_rows
from cuescope_commands.comparing._runs import BASELINE, Row, Run, load_runs
from cuescope_commands.comparing._tables import unlike
from cuescope_commands.gating._policy import (
    AccuracyAtLeast,
    BlindGainAtMost,
    CuesCostAtMost,
    CuesGrewAtMost,
    PolicyText,
    Rule,
    WorstGroupAtLeast,
)
from cuescope_commands.outputs import GateRule
from cuescope_sdk import Metric, Score, UserError, inside
from cuescope_sdk.report import with_sign
from cuescope_sdk.statistics import (
    DetectionLimit,
    Estimate,
    gap_intervals,
    mean_interval,
    multiplicity,
)

SHOWN = 5  # samples that a verdict names
Outcome = Literal["pass", "fail", "undecided"]
LEARNER = "blind-learner"


@dataclass(frozen=True)
class Bound:
    """A figure with its interval, in percent, and what it is of."""

    what: str
    value: float
    low: float
    high: float
    samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """How a rule ended, in a sentence; `line` is that of the policy."""

    rule: Rule
    kind: str
    line: int
    outcome: Outcome
    sentence: str
    bound: Bound | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.rule.name or self.kind

    @property
    def blocks(self) -> bool:
        """Whether a pipeline stops for it."""
        if self.outcome == "undecided":
            return self.rule.undecided == "block"
        return self.outcome == "fail"

    @property
    def word(self) -> str:
        """The outcome, and that an undecided one was let through."""
        if self.outcome == "undecided" and not self.blocks:
            return "undecided (let through by the policy)"
        return self.outcome

    @property
    def row(self) -> GateRule:
        """For JSON."""
        bound = self.bound
        return GateRule(
            rule=self.kind,
            name=self.name,
            line=self.line,
            outcome=self.outcome,
            blocks=self.blocks,
            sentence=self.sentence,
            value=bound and bound.value,
            low=bound and bound.low,
            high=bound and bound.high,
            samples=tuple(bound.samples) if bound else (),
        )


@dataclass(frozen=True)
class Judged:
    """Answers, what they are compared with, and how sure a verdict must be.

    `asked` are the answers of a model to samples of the data of the run; None judges the run's own.
    """

    run: Run
    baseline: Run | None
    error: float
    asked: Sequence[Row] | None = None

    @cached_property
    def plain(self) -> Sequence[Row]:
        """The answers to samples as they are whose right answer is known."""
        return plain_answers(self.run) if self.asked is None else self.asked

    @cached_property
    def right(self) -> np.ndarray:
        """1 for each plain answer that is right."""
        return np.array([float(row["correct"]) for row in self.plain])

    def showing(self, shown: frozenset[str]) -> np.ndarray:
        """The plain answers to samples that show a cue."""
        return np.array([row["sample"] in shown for row in self.plain], dtype=bool)

    @cached_property
    def found(self) -> dict[str, frozenset[str]]:
        """The samples that show each cue that was found, by its name."""
        keys = dict.fromkeys(score.feature for score in self.run.report.findings)
        return {self.run.cue_names[key]: self.run.shows[key] for key in keys}


def plain_answers(run: Run) -> list[Row]:
    """The answers of a run to samples as they are whose right answer is known."""
    # what was asked of changed pictures tells of cues, and not of accuracy
    return [
        row
        for row in run.answers
        if row["condition"] == BASELINE and row["correct"] is not None
    ]


def judge(text: PolicyText, run: Path, baseline: Path | None) -> list[Verdict]:
    """A verdict a rule, in their order; raises UserError for a run that cannot be judged."""
    folders = [run] if baseline is None else [run, baseline]
    loaded = load_runs(folders)
    before = loaded[1] if baseline is not None else None
    verdicts = []
    for rule, line in zip(text.policy.rules, text.lines, strict=True):
        judged = Judged(loaded[0], before, text.policy.error)
        if rule.run is not None:
            judged = replace(judged, run=run_beside(text.folder, rule.run))
        outcome, sentence, bound = JUDGES[type(rule)](rule, judged)
        verdicts.append(Verdict(rule, rule.rule, line, outcome, sentence, bound))
    return verdicts


def run_beside(folder: Path, name: str) -> Run:
    """The run that a rule names: a policy may name what lies beside it, and nothing more."""
    # docs/adr/0021
    return load_runs([inside(folder, name, f"gate: run '{name}'")])[0]


# ---------------------------------------------------------------------------------------- rules

Ruling = tuple[Outcome, str, Bound | None]


def judge_cost(rule: CuesCostAtMost, judged: Judged) -> Ruling:
    """By the intervals that the run holds, widened for all cues that it tested."""
    if judged.asked is not None:
        errors = (judged.error / max(len(judged.found), 1), judged.error)
        bounds = [
            gap_bound(f"cost of {name}", judged.plain, judged.right, shown, errors)
            for name, shown in judged.found.items()
        ]
        return _of_cues(bounds, rule.points, judged)
    tested = require_costs(rule, judged.run)
    found = {(score.feature, score.label) for score in judged.run.report.findings}
    # only tests that could change the verdict cost error: those whose own value is beyond the
    # limit
    beyond = sum(100 * (score.value or 0.0) > rule.points for score in tested)
    paid = multiplicity(beyond, len(tested))
    stored = [
        _stored_bound(score, judged, paid)
        for score in tested
        if (score.feature, score.label) in found
    ]
    return _of_cues(stored, rule.points, judged)


def _of_cues(bounds: Sequence[Bound | None], points: float, judged: Judged) -> Ruling:
    known = [bound for bound in bounds if bound is not None]
    if known:
        return at_most(known, points, "points")
    return without_cue(judged.run, points, judged.error)


def without_cue(run: Run, points: float, error: float) -> Ruling:
    """Where no cue was found: a pass only where the run would have found one of so many points."""
    limit = detectable(costs_of(run.report.metrics, run.report.scores), error)
    if limit is None or limit > points:
        words = (
            "no cue was found, and the run could not have found one of so few points"
        )
        return "undecided", f"{words} ({_words_of(limit)})", None
    return "pass", f"no cue was found; {_words_of(limit)}", None


def judge_growth(rule: CuesGrewAtMost, judged: Judged) -> Ruling:
    """How much more each cue costs than in the baseline, on the same samples."""
    if judged.baseline is None:
        # growth since nothing is no growth
        raise UserError(
            "gate: cues-grew-at-most", expected="a run before: --baseline RUN"
        )
    if judged.asked is not None:
        before = {
            row["sample"]: float(row["correct"])
            for row in plain_answers(judged.baseline)
        }
        rows: Sequence[Row] = judged.asked
        change = judged.right - [before[row["sample"]] for row in rows]
        each = judged.error / max(len(judged.found), 1)
        watched = [(name, shown, each) for name, shown in judged.found.items()]
    else:
        pairs = Pairs(judged.baseline.answers, judged.run.answers)
        if (refusal := unlike(judged.baseline, judged.run, pairs)) is not None:
            # no pass: two runs that cannot be compared have shown nothing
            return "undecided", f"the two runs cannot be paired: {refusal}", None
        plain = [pair for pair in pairs.rows if pair[0]["condition"] == BASELINE]
        rows = [first for first, _ in plain]
        # a question that is right in both or wrong in both is no change
        change = np.array([float(b["correct"]) - float(a["correct"]) for a, b in plain])
        watched = cues_to_watch(judged, judged.baseline, rows, change, rule.points)
    bounds = []
    for name, shown, error in watched:
        ends = (error, judged.error)
        bounds.append(gap_bound(f"growth of {name}", rows, change, shown, ends, span=2))
    return _of_cues(bounds, rule.points, judged)


def cues_to_watch(
    judged: Judged,
    baseline: Run,
    rows: Sequence[Row],
    change: np.ndarray,
    limit: float,
) -> list[tuple[str, frozenset[str], float]]:
    """The findings of either run with their samples; each half of the error is for one of them.

    Those of the baseline were chosen before the new answers were there. Those of the new run were
    chosen by these very answers, so they pay for all that were tried.
    """
    watched: dict[frozenset[str], tuple[str, frozenset[str], float]] = {}
    for run in (baseline, judged.run):
        found = dict.fromkeys(score.feature for score in run.report.findings)
        every = dict.fromkeys(score.feature for score in run.report.headlines)
        tried = found if run is baseline else every
        growths = [gap_of(rows, change, run.shows[feature]) for feature in tried]
        beyond = sum(growth is not None and growth > limit for growth in growths)
        # half of the error for each run's own choice of cues
        error = judged.error / 2 / multiplicity(beyond, len(tried))
        for feature in found:
            shown = run.shows[feature]
            # the same samples under two names are one test, and it is paid for once
            watched.setdefault(shown, (run.cue_names[feature], shown, error))
    return list(watched.values())


def judge_worst(rule: WorstGroupAtLeast, judged: Judged) -> Ruling:
    """The accuracy of each group; all must hold, and one that fails is enough."""
    parts: dict[str, np.ndarray] = {}
    if rule.by == "label":
        labels = np.array([row["label"] for row in judged.plain], dtype=object)
        for label in dict.fromkeys(labels.tolist()):
            parts[f"'{label}'"] = labels == label
    else:
        parts = {name: judged.showing(shown) for name, shown in judged.found.items()}
    right = judged.right
    # a label of which this part of the data has no sample is no group
    parts = {name: part for name, part in parts.items() if part.any()}
    beyond = sum(100 * right[part].mean() < rule.percent for part in parts.values())
    paid = multiplicity(beyond, len(parts))
    bounds = [
        _accuracy(f"accuracy of {name}", part, judged, paid)
        for name, part in parts.items()
    ]
    if not bounds:
        return "undecided", f"the run has no groups by {rule.by}", None
    return at_least(bounds, rule.percent)


def judge_accuracy(rule: AccuracyAtLeast, judged: Judged) -> Ruling:
    """The accuracy of all samples."""
    if not judged.plain:
        return "undecided", "the run has no answers that are right or wrong", None
    # one group: nothing is paid for others
    everyone = np.ones(len(judged.plain), dtype=bool)
    return at_least([_accuracy("accuracy", everyone, judged, 1)], rule.percent)


def judge_blind(rule: BlindGainAtMost, judged: Judged) -> Ruling:
    """The gain of the learner on all questions."""
    for score in judged.run.report.scores:
        if score.feature == LEARNER and score.metric == "gain":
            bound = _stored_bound(score, judged, 1)
            return at_most([bound], rule.points, "points")
    # no verdict can come of a run of another method, however long it is looked at
    raise UserError(
        "gate: blind-gain-at-most",
        expected="a run of `cuescope blind DATA`",
        got=f"one of {judged.run.method}",
        remedy="Name it in the rule: run: runs/blind",
    )


JUDGES: dict[type[Rule], Callable[[Any, Judged], Ruling]] = {
    CuesCostAtMost: judge_cost,
    CuesGrewAtMost: judge_growth,
    WorstGroupAtLeast: judge_worst,
    AccuracyAtLeast: judge_accuracy,
    BlindGainAtMost: judge_blind,
}


# ------------------------------------------------------------------------------------- verdicts


def at_most(bounds: Sequence[Bound], limit: float, unit: str) -> Ruling:
    """All must lie below the limit; one that lies above is enough to fail."""
    # a certain fail goes before a wide interval: it decides the rule
    worst = max(bounds, key=lambda bound: (bound.low > limit, bound.high))
    outcome: Outcome = "undecided"
    if worst.low > limit:
        outcome = "fail"
    elif all(bound.high <= limit for bound in bounds):
        outcome = "pass"
    return outcome, _sentence(worst, f"at most {limit:g} {unit}", len(bounds)), worst


def at_least(bounds: Sequence[Bound], limit: float) -> Ruling:
    """All must lie above the limit; one that lies below is enough to fail."""
    worst = min(bounds, key=lambda bound: (bound.high >= limit, bound.low))
    outcome: Outcome = "undecided"
    if worst.high < limit:
        outcome = "fail"
    elif all(bound.low >= limit for bound in bounds):
        outcome = "pass"
    return outcome, _sentence(worst, f"at least {limit:g}%", len(bounds)), worst


def _sentence(bound: Bound, wanted: str, count: int) -> str:
    of_all = f", the worst of {count:,}" if count > 1 else ""
    value, low, high = map(with_sign, (bound.value, bound.low, bound.high))
    return f"{bound.what}: {value} ({low} to {high}{of_all}); the policy wants {wanted}"


def require_costs(rule: CuesCostAtMost, run: Run) -> list[Score]:
    """What each tested cue costs; raises UserError for a run that does not measure it."""
    if not any(metric.accuracy_cost for metric in run.report.metrics):
        raise UserError(
            f"gate: {rule.rule}",
            expected="a run of a method that measures what a cue costs in accuracy",
            got=f"one of {run.method}, of an older version or without such a figure",
            remedy="Run it again (its answers are kept), or name a run of trove, confirm or "
            "another one in the rule: run: runs/confirmed",
        )
    return costs_of(run.report.metrics, run.report.scores)


def costs_of(metrics: Iterable[Metric], scores: Iterable[Score]) -> list[Score]:
    """What each tested cue costs in accuracy, as proportions, where it has an interval."""
    units = {metric.name: metric.unit for metric in metrics if metric.accuracy_cost}
    return [
        as_proportion(score) if units[score.metric] == "points" else score
        for score in scores
        if score.metric in units and score.low is not None
    ]


def as_proportion(score: Score) -> Score:
    """A score in points as one from -1 to 1."""
    figures = {"value": score.value, "low": score.low, "high": score.high}
    shares = {
        name: None if figure is None else figure / 100
        for name, figure in figures.items()
    }
    return score.model_copy(update=shares)


def _stored_bound(score: Score, judged: Judged, paid: float) -> Bound:
    """The interval of a report at the level of the policy; its lower end pays for other tests."""
    value = score.value or 0.0
    low = value if score.low is None else score.low
    high = value if score.high is None else score.high
    # the report holds 95%; as for a normal mean, which the docs say
    estimate = Estimate(value, low, high)
    # a fail is one of many that were tried, a pass must hold for this one
    lower, _ = estimate.at_error(judged.error / paid)
    _, high = estimate.at_error(judged.error)
    label = f" for '{score.label}'" if score.label else ""
    name = judged.run.cue_names[score.feature]
    # enough to look at; a report for a pipeline is no list of samples
    shown = sorted(judged.run.shows.get(score.feature, ()))[:SHOWN]
    return Bound(f"{name}{label}", 100 * value, 100 * lower, 100 * high, tuple(shown))


def _accuracy(what: str, part: np.ndarray, judged: Judged, paid: float) -> Bound:
    """The accuracy of a part of the samples; the upper end pays for the other parts."""
    right = judged.right[part]
    rows = list(compress(judged.plain, part))
    groups = group_rows(rows)
    low, _ = mean_interval(right, groups, confidence=1 - 2 * judged.error)
    _, high = mean_interval(right, groups, confidence=1 - 2 * judged.error / paid)
    # the wrong ones: they are what a person wants to see of a group that fails
    wrong = [row["sample"] for row in rows if not row["correct"]]
    ends = (100 * (low or 0.0), 100 * (1.0 if high is None else high))
    return Bound(what, 100 * float(right.mean()), *ends, tuple(wrong[:SHOWN]))


def gap_of(
    rows: Sequence[Row], values: np.ndarray, shown: frozenset[str]
) -> float | None:
    """The mean without a cue minus that with it, in points; None where one side has no sample."""
    present = np.array([row["sample"] in shown for row in rows], dtype=bool)
    if not 0 < present.sum() < len(present):
        return None
    return 100 * float(values[~present].mean() - values[present].mean())


def gap_bound(
    what: str,
    rows: Sequence[Row],
    values: np.ndarray,
    shown: frozenset[str],
    errors: tuple[float, float],
    span: int = 1,
) -> Bound | None:
    """The same with its ends, each missed with its own chance; a change has a `span` of 2."""
    gap = gap_of(rows, values, shown)
    if gap is None:
        return None
    # numbers from 0 to 1: a change is from -1 to 1
    shares = (values + span - 1) / span
    present = np.array([[row["sample"] in shown] for row in rows])
    groups = group_rows(rows)
    low, _ = gap_intervals(shares, present, groups, confidence=1 - 2 * errors[0])
    _, high = gap_intervals(shares, present, groups, confidence=1 - 2 * errors[1])
    samples = [row["sample"] for row in rows if row["sample"] in shown]
    ends = (100 * span * float(low[0]), 100 * span * float(high[0]))
    return Bound(what, gap, *ends, tuple(samples[:SHOWN]))


def detectable(scores: Sequence[Score], error: float) -> float | None:
    """The loss in points at which half of the tested cues would have been found, by 80%."""
    # half the width: how far from 0 a cue must be to be told
    widths = [
        (score.high - score.low) / 2
        for score in scores
        if score.high is not None and score.low is not None
    ]
    limit = DetectionLimit.of_intervals(widths, error, 0.8)
    return None if limit is None else 100 * limit


def _words_of(limit: float | None) -> str:
    if limit is None:
        return "nothing was tested"
    # an interval may be wider than all that accuracy can lose
    cue = f"a cue of {limit:.0f} points" if limit <= 100 else "no cue of any size"
    return (
        f"{cue} would have been found in 80% of such audits, "
        "for half of the cues that were tried"
    )
