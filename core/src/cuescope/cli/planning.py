"""`cuescope audit ... --plan`: what an audit would cost, by counting alone or by a few answers."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuescope.cli.echo import echo
from cuescope_core.engine import Session
from cuescope_core.errors import PlanStopped
from cuescope_core.planning import Plan
from cuescope_core.respond import inputs_of, trial_key
from cuescope_core.types import Outcome, Response, Trial

if TYPE_CHECKING:
    from cuescope.runner import Runner
    from cuescope_core.request import Request

ModelCall = tuple[object, ...]
SURPRISE = "what the method makes of real answers"
MEASURE = "--measure asks a few trials of each kind, keeps their answers, and counts the rest."


@dataclass
class Pace:
    """Model calls of one kind: some really asked, the others counted."""

    answers: list[Response] = field(default_factory=list)
    seconds: float = 0.0
    timed: int = 0
    missing: int = 0
    inputs: int = 0


class Rehearsal:
    """An audit in which a few trials of each kind are asked, and the others answered alike.

    The answers of those few are kept in the cache. A trial that is answered alike gets the answer
    of another one of its kind, so that the method goes on and its later trials can be counted.
    """

    def __init__(self, real: Session) -> None:
        self._real = real
        self._size = real.request.batch_size
        self._responses: dict[str, Response] = {}
        self.paces: dict[ModelCall, Pace] = defaultdict(Pace)
        self.conditions: Counter[str] = Counter()
        self.cached = 0
        self.alike = 0

    def __call__(self, trials: Iterable[Trial]) -> list[Outcome]:
        """Outcomes in the order of the trials, as `respond` gives them."""
        trials = list(trials)
        identity = self._real.respond.identity
        keys = [trial_key(identity, trial) for trial in trials]
        fresh = {
            k: trial
            for k, trial in zip(keys, trials, strict=True)
            if k not in self._responses
        }
        # as in an audit, a trial that is asked again counts once
        self.conditions.update(trial.condition for trial in fresh.values())
        kept = self._real.cache.get(fresh)
        self.cached += len(kept)
        self._responses |= kept
        missing: dict[ModelCall, list[str]] = defaultdict(list)
        for key, trial in fresh.items():
            kind = _kind(trial)
            if key in kept:
                self.paces[kind].answers.append(kept[key])
            else:
                missing[kind].append(key)
        for kind, group in missing.items():
            self._answer(self.paces[kind], group, fresh)
        return [
            Outcome(t, self._responses[key])
            for key, t in zip(keys, trials, strict=True)
        ]

    def _answer(
        self,
        pace: Pace,
        keys: Sequence[str],
        trials: Mapping[str, Trial],
    ) -> None:
        """The answers to trials of one kind, of which none is kept."""
        pace.missing += len(keys)
        pace.inputs += sum(inputs_of(trials[key]) for key in keys)
        asked = 0
        if not pace.timed:
            # trials of a kind show alike many frames, so that a batch has so many of them
            size = max(1, self._size // inputs_of(trials[keys[0]]))
            # the first batch opens the weights: where it is the only one, it is one trial
            warm = min(size, max(1, len(keys) - size)) if len(keys) > 1 else 0
            for start, stop in ((0, warm), (warm, warm + size)):
                part = keys[start:stop]
                since = time.perf_counter()
                outcomes = (
                    self._real.audit.respond([trials[key] for key in part])
                    if part
                    else []
                )
                # not added up: the first batch opens the weights, the second tells the pace
                pace.seconds = time.perf_counter() - since
                pace.timed = len(part)
                pace.answers += [outcome.response for outcome in outcomes]
                self._responses |= {
                    key: outcome.response
                    for key, outcome in zip(part, outcomes, strict=True)
                }
                asked += len(part)
        for number, key in enumerate(keys[asked:]):
            # in turn: as many of each answer as among those that were asked
            self._responses[key] = pace.answers[number % len(pace.answers)]
            self.alike += 1

    @property
    def seconds(self) -> float:
        """How long all missing trials take, each kind at its own pace."""
        timed = [pace for pace in self.paces.values() if pace.timed]
        return sum(pace.seconds / pace.timed * pace.missing for pace in timed)


def _kind(trial: Trial) -> ModelCall:
    """Trials of one kind take alike long, and their answers have the same shape."""
    return (
        trial.readout and trial.readout.name,
        trial.edit and trial.edit.kind,
        trial.outputs,
        len(trial.sample.choices),
        len(trial.sample.frames),
    )


def measure_plan(runner: "Runner", request: "Request") -> Plan:
    """The plan of an audit of which a few answers are asked."""
    real = runner.session(request)
    rehearsal = Rehearsal(real)
    # the second session: it counts and opens nothing, the first one answers
    planned = Session(request, runner.context, runner.cache, planning=True)
    notes: dict[str, str] = {}

    def respond(trials: Iterable[Trial]) -> list[Outcome]:
        # what is noted later is about answers that were not given
        if not rehearsal.alike:
            notes.update(planned.audit.notes)
        return rehearsal(trials)

    planned.audit.respond = respond
    until = None
    try:
        planned.run()
    except PlanStopped as stop:
        until = str(stop)
    except Exception:  # a method may stumble over answers that contradict each other
        if not rehearsal.alike:
            raise
        until = SURPRISE
    paces = rehearsal.paces.values()
    return Plan(
        trials=sum(rehearsal.conditions.values()),
        cached=rehearsal.cached,
        model_calls=sum(pace.missing for pace in paces),
        model_inputs=sum(pace.inputs for pace in paces),
        seconds=rehearsal.seconds,
        until=until,
        conditions=dict(rehearsal.conditions),
        tool_calls=dict(planned.audit.context.tool_calls),
        notes=notes if rehearsal.alike else planned.audit.notes,
        estimate=bool(rehearsal.alike),
    )


def show_plan(
    runner: "Runner",
    request: "Request",
    *,
    as_json: bool = False,
    measure: bool = False,
) -> None:
    """Print what a request would cost."""
    plan = measure_plan(runner, request) if measure else runner.plan(request)
    print_plan(plan, as_json=as_json, measured=measure)


def print_plan(plan: Plan, *, as_json: bool = False, measured: bool = False) -> None:
    """Print a plan."""
    from cuescope.cli.outputs import AuditPlan

    if as_json:
        AuditPlan.of(plan).show()
        return
    for line in str(plan).splitlines():
        echo(line)
    if not measured and (plan.seconds is None or not plan.is_whole):
        echo(MEASURE)
