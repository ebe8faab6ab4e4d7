"""A gate that asks: sample after sample, until each rule is decided or the budget is spent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from cuescope.application import Runner
from cuescope_commands.comparing._runs import BASELINE, Run
from cuescope_commands.gating._bounds import SHOWN, Bound, one_sided
from cuescope_commands.gating._judging import (
    JUDGES,
    Judged,
    Ruling,
    Verdict,
    at_least,
    at_most,
    run_beside,
    without_cue,
)
from cuescope_commands.gating._policy import (
    AccuracyAtLeast,
    AnyRule,
    CuesCostAtMost,
    CuesGrewAtMost,
    PolicyText,
    Rule,
    WorstGroupAtLeast,
)
from cuescope_sdk import Output, Request, Sample, Trial, UserError, generator
from cuescope_sdk.statistics import always_valid_bounds

STEP = 32  # units that are asked about between two looks
Unit = tuple[int, ...]  # samples that are measured together, by their numbers
Right = Mapping[int, float]  # of samples that were asked: 1 where the answer is right


@dataclass(frozen=True, eq=False)
class Question:
    """A mean that a rule limits: the units that tell it in random order, and the value of one.

    `errors` are the chances that its lower and its upper end are missed.
    """

    what: str
    units: Sequence[Unit]
    value: Callable[[Unit, Right], float]
    bounds: tuple[float, float]
    errors: tuple[float, float]

    def ask_next(self, asked: int, step: int) -> Sequence[Unit]:
        """The units of the next look."""
        return self.units[asked : asked + step]

    def bound(self, right: Right, asked: int, samples: Sequence[Sample]) -> Bound:
        """What so many units tell, in percent."""
        units = self.units[:asked]
        values = np.array([self.value(unit, right) for unit in units])
        # always valid: the gate looks after every step, and stops where it pleases
        low, high = one_sided(
            lambda miss: always_valid_bounds(values, miss, bounds=self.bounds),
            *self.errors,
        )
        # those that show the cue, or belong to the group, stand first in their unit
        shown = tuple(samples[unit[0]].key for unit in units[:SHOWN])
        # before the first answer the middle of what is possible: the interval is all of it
        mean = float(values.mean()) if len(values) else sum(self.bounds) / 2
        return Bound(self.what, 100 * mean, 100 * low, 100 * high, shown)


@dataclass(eq=False)
class Case:
    """A rule with its questions, and how many units of each were asked about."""

    rule: Rule
    questions: Sequence[Question]
    judge: Callable[[Sequence[Bound]], Ruling]
    asked: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether no unit is left."""
        return all(self.asked >= len(question.units) for question in self.questions)

    def ask_next(self, step: int) -> Iterator[Unit]:
        """The units of the next look, so many of each of its questions."""
        for question in self.questions:
            yield from question.ask_next(self.asked, step)

    def ruling(self, right: Right, samples: Sequence[Sample]) -> Ruling:
        """What is known by now."""
        bounds = []
        for question in self.questions:
            # questions have unlike many units, and a short one is all asked before the others
            count = min(self.asked, len(question.units))
            bounds.append(question.bound(right, count, samples))
        outcome, sentence, worst = self.judge(bounds)
        most = max(len(question.units) for question in self.questions)
        told = f"{sentence}; {min(self.asked, most):,} of {most:,} draws"
        return outcome, told, worst


class Draws:
    """The samples that a model is asked about, one of each group, and the run before."""

    def __init__(
        self, runner: Runner, request: Request, baseline: Run | None, error: float
    ) -> None:
        self.session = runner.session(request)
        self.baseline = baseline
        self.error = error
        self.rng = generator(request.seed, "gate")
        self.samples = self.session.audit.samples
        self.right: dict[int, float] = {}
        self.order = self._draw_order()

    def _draw_order(self) -> list[int]:
        """The samples with a label in random order, one of each group: these are independent."""
        # one of a group: two frames of a clip would count as two witnesses
        drawn: dict[object, int] = {}
        for number in self.rng.permutation(len(self.samples)).tolist():
            sample = self.samples[number]
            if sample.label is not None:
                drawn.setdefault(sample.group or (sample.key,), number)
        return list(drawn.values())

    @cached_property
    def before(self) -> dict[str, float]:
        """Whether the baseline's answer to each sample was right."""
        rows = self.baseline.answers if self.baseline is not None else []
        return {
            row["sample"]: float(row["correct"])
            for row in rows
            if row["condition"] == BASELINE and row["correct"] is not None
        }

    def affordable(self, case: Case, budget: int | None) -> int:
        """How many units of each question of a rule the budget still reaches, `STEP` at most."""
        if budget is None:
            return STEP
        # what is not asked yet; answers that are there already cost nothing
        left = budget - len(self.right)
        for step in range(STEP, 0, -1):
            if len(self.fresh(case.ask_next(step))) <= left:
                return step
        return 0

    def fresh(self, units: Iterable[Unit]) -> list[int]:
        """The samples of units that were not asked about yet."""
        wanted = dict.fromkeys(chain.from_iterable(units))
        # rules share answers, so a sample that another rule asked about is not asked again
        return [number for number in wanted if number not in self.right]

    def ask(self, units: Iterable[Unit]) -> None:
        """Ask about samples that were not asked yet."""
        fresh = self.fresh(units)
        trials = [self._trial(self.samples[number]) for number in fresh]
        outcomes = self.session.audit.respond(trials)
        for number, outcome in zip(fresh, outcomes, strict=True):
            self.right[number] = float(outcome.correct())

    def _trial(self, sample: Sample) -> Trial:
        has_logits = "logits" in self.session.audit.capabilities.outputs
        # free words cost more to ask, and are read where there are no logits
        output: Output = "logits" if has_logits and sample.choices else "text"
        return Trial(sample=sample, outputs=frozenset({output}))

    # ------------------------------------------------------------------------------- questions

    def of_accuracy(self, name: str, numbers: Sequence[int], parts: int) -> Question:
        """The share of right answers in one of so many parts: the end that fails pays for all."""
        units = [(number,) for number in numbers]
        errors = (self.error, self.error / parts)
        return Question(name, units, self._is_right, (0.0, 1.0), errors)

    def _is_right(self, unit: Unit, right: Right) -> float:
        return right[unit[0]]

    def of_cues(
        self, word: str, value: Callable[[Unit, Right], float], reach: float
    ) -> list[Question]:
        """A question a cue of the baseline, in pairs: a sample with it and one without it."""
        if self.baseline is None:
            raise UserError("gate: rules of cues", expected="--baseline RUN")
        findings = self.baseline.report.findings
        # the same cue of two labels is asked about once
        found = list(dict.fromkeys(score.feature for score in findings))
        questions = []
        for feature in found:
            showing: list[int] = []
            others: list[int] = []
            for number in self.order:
                key = self.samples[number].key
                if key not in self.before:
                    continue
                side = showing if key in self.baseline.shows[feature] else others
                side.append(number)
            # as many pairs as the rarer side has: one of each side is a draw
            units = list(zip(showing, others, strict=False))
            if units:
                name = f"{word} {self.baseline.cue_names[feature]}"
                # only cues that were found are asked about, and the lower end pays for all of
                # them
                errors = (self.error / len(found), self.error)
                questions.append(Question(name, units, value, (-reach, reach), errors))
        return questions

    def cost(self, unit: Unit, right: Right) -> float:
        """How much rarer right answers are with the cue."""
        with_cue, without = unit
        return right[without] - right[with_cue]

    def growth(self, unit: Unit, right: Right) -> float:
        """How much more is lost with the cue than without it, since the baseline."""
        with_cue, without = unit
        lost = self._lost(with_cue, right)
        return lost - self._lost(without, right)

    def _lost(self, number: int, right: Right) -> float:
        return self.before[self.samples[number].key] - right[number]

    def of_groups(self, rule: WorstGroupAtLeast) -> list[Question]:
        """A question a label, or a cue of the baseline."""
        parts: dict[str, list[int]] = {}
        if rule.by == "label":
            for number in self.order:
                parts.setdefault(f"'{self.samples[number].label}'", []).append(number)
        else:
            for question in self.of_cues("", self.cost, 1.0):
                showing = [unit[0] for unit in question.units]
                # the same samples that show the cue, whatever they are compared with
                parts[question.what.strip()] = showing
        return [
            self.of_accuracy(f"accuracy of {name}", numbers, len(parts))
            for name, numbers in parts.items()
        ]


def judge_by_asking(
    text: PolicyText, draws: Draws, budget: int | None
) -> tuple[list[Verdict], int]:
    """A verdict a rule, and about how many samples the model was asked."""
    cases: dict[int, Case] = {}
    rulings: dict[int, Ruling] = {}
    for number, rule in enumerate(text.policy.rules):
        case = case_of(rule, draws)
        if isinstance(case, Case):
            cases[number] = case
        else:
            rulings[number] = of_stored_run(rule, text, draws) if case is None else case
    # a dict keeps the order of the rules, and rules leave it once they are decided
    is_open = dict.fromkeys(cases)
    while is_open:
        # a rule at a time: one that asks much must not cost the others the rest of the budget
        for number in list(is_open):
            case = cases[number]
            step = draws.affordable(case, budget)
            draws.ask(case.ask_next(step))
            case.asked += step
            rulings[number] = case.ruling(draws.right, draws.samples)
            is_decided = rulings[number][0] != "undecided"
            if is_decided or case.is_spent or step < STEP:
                del is_open[number]
    verdicts = []
    for number, rule in enumerate(text.policy.rules):
        verdicts.append(Verdict(rule, rule.rule, text.lines[number], *rulings[number]))
    return verdicts, len(draws.right)


def case_of(rule: AnyRule, draws: Draws) -> Case | Ruling | None:
    """What a rule asks; its ruling where there is nothing to ask; None where a stored run tells."""
    if rule.run is not None:
        return None
    if isinstance(rule, AccuracyAtLeast):
        question = draws.of_accuracy("accuracy", draws.order, 1)
        return _case(rule, [question], lambda b: at_least(b, rule.percent))
    if isinstance(rule, WorstGroupAtLeast):
        return _case(rule, draws.of_groups(rule), lambda b: at_least(b, rule.percent))
    if isinstance(rule, CuesCostAtMost):
        questions = draws.of_cues("cost of", draws.cost, 1.0)
    elif isinstance(rule, CuesGrewAtMost):
        questions = draws.of_cues("growth of", draws.growth, 2.0)
    else:
        return None
    if not questions and draws.baseline is not None:
        # no cue was found before: the same words as for a stored run
        return without_cue(draws.baseline, rule.points, draws.error)
    return _case(rule, questions, lambda b: at_most(b, rule.points, "points"))


def _case(
    rule: Rule,
    questions: Sequence[Question],
    judge: Callable[[Sequence[Bound]], Ruling],
) -> Case | Ruling:
    if not questions:
        return "undecided", "nothing of the data belongs to it", None
    return Case(rule, questions, judge)


def of_stored_run(rule: AnyRule, text: PolicyText, draws: Draws) -> Ruling:
    """By a run that the rule names."""
    if rule.run is None:
        raise UserError(
            f"gate: {rule.rule} asks no model",
            expected="run: a folder of a run, in the rule",
            remedy="Name it, or judge a stored run: `cuescope gate POLICY RUN`",
        )
    run = run_beside(text.folder, rule.run)
    return JUDGES[type(rule)](rule, Judged(run, draws.baseline, draws.error))
