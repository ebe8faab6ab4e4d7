"""A gate that asks: twice as many samples at each look, until each rule is decided."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from cuescope.application import Runner
from cuescope_commands.comparing._runs import Row, Run
from cuescope_commands.gating._judging import (
    JUDGES,
    Judged,
    Ruling,
    Verdict,
    plain_answers,
    run_beside,
    without_cue,
)
from cuescope_commands.gating._policy import (
    AccuracyAtLeast,
    AnyRule,
    BlindGainAtMost,
    CuesCostAtMost,
    CuesGrewAtMost,
    PolicyText,
    Rule,
    WorstGroupAtLeast,
)
from cuescope_sdk import Output, Request, Trial, UserError, generator

FIRST = 64  # samples of the first look


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

    def ask(self, numbers: Iterable[int], budget: int | None) -> bool:
        """Ask about samples that were not asked yet; False where the budget ends before."""
        # rules share answers, so a sample that another rule asked about is not asked again
        fresh = [number for number in numbers if number not in self.right]
        left = len(fresh) if budget is None else budget - len(self.right)
        self.answer(fresh[:left])
        return len(fresh) <= left

    def answer(self, numbers: Sequence[int]) -> None:
        """Ask the model about so many samples."""
        trials = []
        has_logits = "logits" in self.session.audit.capabilities.outputs
        for number in numbers:
            sample = self.samples[number]
            # free words cost more to ask, and are read where there are no logits
            output: Output = "logits" if has_logits and sample.choices else "text"
            trials.append(Trial(sample=sample, outputs=frozenset({output})))
        outcomes = self.session.audit.respond(trials)
        for number, outcome in zip(numbers, outcomes, strict=True):
            self.right[number] = float(outcome.correct())

    def rows(self, numbers: Iterable[int]) -> list[Row]:
        """The answers to samples that were asked."""
        rows = []
        for number in numbers:
            if number in self.right:
                sample = self.samples[number]
                about = {"sample": sample.key, "label": sample.label, "group": None}
                rows.append({**about, "correct": self.right[number]})
        return rows

    @cached_property
    def _with_cue(self) -> tuple[list[int], list[int]]:
        """Samples of the baseline that show a cue that was found there, and those with none."""
        if self.baseline is None:
            raise UserError("gate: rules of cues", expected="--baseline RUN")
        findings = self.baseline.report.findings
        shown = [self.baseline.shows[score.feature] for score in findings]
        showing = frozenset(chain.from_iterable(shown))
        known = {row["sample"] for row in plain_answers(self.baseline)}
        sides: tuple[list[int], list[int]] = ([], [])
        for number in self.order:
            key = self.samples[number].key
            if key in known:
                sides[key not in showing].append(number)
        return sides

    def queue(self, rule: Rule) -> list[int]:
        """The samples that tell of a rule, in the order in which they are asked about."""
        if isinstance(rule, AccuracyAtLeast):
            return self.order
        if isinstance(rule, WorstGroupAtLeast):
            return self.order if rule.by == "label" else self._with_cue[0]
        # as many without a cue as with one
        return list(chain.from_iterable(zip(*self._with_cue, strict=False)))


@dataclass(eq=False)
class Case:
    """A rule that is open, the samples that tell of it, and how many were asked about."""

    rule: AnyRule
    queue: Sequence[int]
    asked: int = 0

    @property
    def looks(self) -> int:
        """How often it may be judged: from the first look on the samples double."""
        return 1 + max(0, -(-len(self.queue) // FIRST) - 1).bit_length()

    def look(self, draws: Draws, budget: int | None) -> tuple[Ruling, bool]:
        """The ruling after more samples, and if it is the last one."""
        self.asked = min(max(FIRST, 2 * self.asked), len(self.queue))
        numbers = self.queue[: self.asked]
        has_all = draws.ask(numbers, budget)
        rows = draws.rows(numbers)
        if not rows:
            return ("undecided", "nothing of the data belongs to it", None), True
        # each look has its share of the error (Bonferroni)
        error = draws.error / self.looks
        run: Run = draws.baseline  # type: ignore[assignment]
        judged = Judged(run, draws.baseline, error, rows)
        outcome, sentence, worst = JUDGES[type(self.rule)](self.rule, judged)
        told = f"{sentence}; {len(rows):,} of {len(self.queue):,} samples"
        is_last = not has_all or self.asked == len(self.queue)
        return (outcome, told, worst), is_last or outcome != "undecided"


def judge_by_asking(
    text: PolicyText, draws: Draws, budget: int | None
) -> tuple[list[Verdict], int]:
    """A verdict a rule, and about how many samples the model was asked."""
    rulings: dict[int, Ruling] = {}
    is_open: dict[int, Case] = {}
    for number, rule in enumerate(text.policy.rules):
        if rule.run is not None:
            run = run_beside(text.folder, rule.run)
            judged = Judged(run, draws.baseline, draws.error)
            rulings[number] = JUDGES[type(rule)](rule, judged)
            continue
        if isinstance(rule, BlindGainAtMost):
            raise UserError(
                f"gate: {rule.rule} asks no model",
                expected="run: a folder of a run, in the rule",
                remedy="Name it, or judge a stored run: `cuescope gate POLICY RUN`",
            )
        queue = draws.queue(rule)
        # no cue was found before: the same words as for a stored run
        if (
            isinstance(rule, CuesCostAtMost | CuesGrewAtMost)
            and not queue
            and draws.baseline is not None
        ):
            rulings[number] = without_cue(draws.baseline, rule.points, draws.error)
        else:
            is_open[number] = Case(rule, queue)
    while is_open:
        # a look a rule: one that asks much must not cost the others the rest of the budget
        for number, case in list(is_open.items()):
            rulings[number], is_last = case.look(draws, budget)
            if is_last:
                del is_open[number]
    verdicts = []
    for number, rule in enumerate(text.policy.rules):
        verdicts.append(Verdict(rule, rule.rule, text.lines[number], *rulings[number]))
    return verdicts, len(draws.right)
