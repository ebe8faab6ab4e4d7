"""Cost of an audit, counted without asking the model."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from cuescope_core.amounts import by_condition, duration
from cuescope_core.context import Context
from cuescope_core.engine import Session
from cuescope_core.errors import PlanStopped
from cuescope_core.request import Request
from cuescope_core.store import ResponseCache
from cuescope_core.types import Sample


@dataclass(frozen=True)
class Plan:
    """Cost of an audit, as far as it can be known without asking the model.

    It ends before the work `until`, None where it is whole; after that come at most `more` trials,
    None where the method does not say how many. `seconds` is None for a model that has never been
    timed here. `conditions` counts the trials of each condition, `tool_calls` the work of tools so
    far, `notes` is what the method says of the rest. `model_inputs` are the pictures of the calls,
    each counted once a call. `samples` are those looked at, with so
    many `frames`, of which the first has so many `pixels`, and so many different `questions`.
    """

    trials: int = 0
    cached: int = 0
    model_calls: int = 0
    model_inputs: int = 0
    seconds: float | None = None
    until: str | None = None
    more: int | None = None
    conditions: Mapping[str, int] = field(default_factory=dict)
    tool_calls: Mapping[str, int] = field(default_factory=dict)
    # plain values: a plan is printed as JSON and pickled to workers
    notes: Mapping[str, str] = field(default_factory=dict)
    samples: int = 0
    frames: int = 0
    pixels: int = 0
    questions: int = 0

    @property
    def is_whole(self) -> bool:
        """True if no trial can follow."""
        return self.until is None or self.more == 0

    @property
    def model_time(self) -> str:
        """How long the model takes at the pace that it had here: `at least 1:40, at most 12:05`."""
        if self.seconds is None:
            return "unknown"
        if self.is_whole:
            return f"about {_time(self.seconds)}"
        least = f"at least {_time(self.seconds)}"
        if not self.more or not self.model_calls:
            return least
        most = self.seconds * (self.model_calls + self.more) / self.model_calls
        return f"{least}, at most {_time(most)}"

    def __str__(self) -> str:
        lines = {
            "trials": f"{self._between(self.trials)}{by_condition(self.conditions)}",
            "cache hits": f"{self.cached:,}",
            "model calls": self._between(self.model_calls),
            "inputs": f"{self._between(self.model_inputs)} frames that the model sees; one that "
            "two calls share counts twice",
            "time": "unknown until this model was timed here"
            if self.seconds is None
            else f"{self.model_time} of the model",
            **{work: f"{times:,}" for work, times in self.tool_calls.items()},
        }
        width = max(map(len, lines))
        told = [f"{name:<{width}}  {words}" for name, words in lines.items()]
        if not self.is_whole:
            told.append(f"What follows depends on {self.until}.")
        told += [f"{key}: {text}" for key, text in self.notes.items()]
        return "\n".join(told)

    # a prompt shows what `print` does
    __repr__ = __str__

    def _between(self, known: int) -> str:
        """Return the count that is known so far, and the most that it may be."""
        if self.is_whole:
            return f"{known:,}"
        most = f", at most {known + self.more:,}" if self.more else ""
        return f"at least {known:,}{most}"


def plan(
    request: Request,
    context: Context,
    cache: ResponseCache,
    counted: set[str] | None = None,
) -> Plan:
    """Return the cost of a request; nothing is known where a plugin must work to be built.

    Trials that are `counted` already cost nothing more; those of this plan are added.
    """
    try:
        session = Session(request, context, cache, planning=True)
        if counted is not None:
            session.respond.seen = counted
        return plan_of(session)
    except PlanStopped as stop:
        return Plan(until=str(stop))


def plan_of(session: Session, work: Callable[[], object] | None = None) -> Plan:
    """Return the plan of a session that is planning, or of this `work` in it."""
    until = None
    try:
        # the very same code: what is not cached ends it
        (work or session.run)()
    except PlanStopped as stop:
        until = str(stop)
    respond = session.respond
    # of what this model took here before: a plan itself asks nothing
    pace = session.cache.pace(respond.identity)
    inputs = respond.model_inputs
    return Plan(
        trials=respond.trials,
        cached=respond.cache_hits,
        model_calls=respond.model_calls,
        model_inputs=inputs,
        seconds=pace * inputs if pace is not None else (None if inputs else 0.0),
        until=until,
        more=session.audit.more_trials if until else 0,
        conditions=dict(respond.conditions),
        tool_calls=dict(session.parts.context.tool_calls) | session.eye_calls,
        notes=session.audit.notes,
        samples=len(session.samples),
        frames=sum(len(sample.frames) for sample in session.samples),
        pixels=pixels_of(session.samples),
        questions=count_questions(session.samples),
    )


def pixels_of(samples: Sequence[Sample]) -> int:
    """Pixels of the first frame; 0 where there is none, or where it cannot be opened."""
    frames = next((sample.frames for sample in samples if sample.frames), ())
    for frame in frames:
        # a plan must not fail where the run would say why
        with suppress(Exception):
            width, height = frame.load().size
            return width * height
        break
    return 0


def count_questions(samples: Sequence[Sample]) -> int:
    """How many different questions they ask."""
    return len({sample.question for sample in samples if sample.question})


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else duration(seconds)
