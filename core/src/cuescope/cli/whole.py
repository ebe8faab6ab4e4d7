"""One bar over several audits: how much of all is over, and the time that is left."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from cuescope.context import ignore, silent
from cuescope.counted import duration
from cuescope.course import Course, Stage
from cuescope.seen_keys import SeenKeys

if TYPE_CHECKING:
    from cuescope.auditing import Audit
    from cuescope.planning import Plan
    from cuescope.request import Request
    from cuescope.runner import Runner


class Step(Protocol):
    """Runs one of the audits: `with step(name)`; `cues` are what it is about, where it is known."""

    def __call__(
        self, name: str, cues: int | None = None
    ) -> AbstractContextManager[None]:
        """The audit of this name."""


STEPS = 1000  # of the bar


class Whole:
    """A course as progress shows it, beside the work that is under way."""

    total = STEPS

    def __init__(self, course: Course) -> None:
        self.course = course

    @property
    def description(self) -> str:
        """`[3/9] trove`."""
        course = self.course
        # after the last audit a report is written: the bar must not say 10 of 9
        number = min(len(course.done) + 1, len(course.stages))
        name = course.current.name if course.current else "..."
        return f"[{number}/{len(course.stages)}] {name}"

    @property
    def done(self) -> int:
        """Of `STEPS`."""
        return round(STEPS * self.course.share)

    @property
    def seconds_left(self) -> float | None:
        """Of all stages."""
        return self.course.seconds_left

    def count_asked(
        self,
        audit: "Audit",
        total: int,
        cached: int,
        inputs: int,
        all_inputs: int,
    ) -> None:
        """As `responses_progressed` tells it."""
        # inputs, not trials: a clip takes longer than a still
        self.course.count_asked(inputs, all_inputs)
        if inputs == 0 and total > cached:
            each = all_inputs / (total - cached)
            said = audit.more_trials, audit.likely_trials
            more, likely = (None if n is None else each * n for n in said)
            self.course.foresee(more, likely)

    @property
    def words_left(self) -> str | None:
        """`about 3:30`, or `2:10 to 7:00` where it is not known within a third.

        None where nothing tells it, or where it may be this or ten times as much.
        """
        left = self.course.left
        if left is None or not left.is_known:
            return None
        if left.is_sure:
            return f"about {duration(left.seconds)}"
        return " to ".join(map(duration, left.range))

    @property
    def facts(self) -> dict[str, Any]:
        """What a program is told beside the work."""
        facts: dict[str, Any] = {
            "step": self.description,
            "all_seconds_left": None,
            "all_seconds_left_between": None,
        }
        left = self.course.left
        if left is not None and left.is_known:
            facts["all_seconds_left_between"] = left.range
            if left.is_sure:
                facts["all_seconds_left"] = left.seconds
        return facts


def no_step(name: str, cues: int | None = None) -> AbstractContextManager[None]:
    """A step that nobody follows."""
    return nullcontext()


def plan_each(
    audits: "Mapping[str, tuple[Runner, Request]]",
    counted: SeenKeys,
    *,
    again: bool = False,
) -> "tuple[dict[str, Plan], list[Stage]]":
    """The plans of what has not run, by name; and stages for all, in their order.

    Each trial is counted where it is asked first; those of all plans are added to `counted`.
    """
    plans = {}
    stages = []
    for name, (runner, request) in audits.items():
        if not again and runner.folder(request).report_file.exists():
            stages.append(Stage(name, 0.0, 0.0))
            continue
        plans[name] = plan = runner.plan(request, counted)
        stages.append(Stage.of_plan(name, plan, runner.cache, request))
    return plans, stages


@contextmanager
def following(
    runner: "Runner",
    names: Sequence[str],
    foresee: "Callable[[Runner], Sequence[Stage]]",
) -> Iterator[Step]:
    """One bar over the audits of these names; each is run `with step(name)`.

    `foresee` gives their stages, by a runner that says nothing. It is asked only where somebody
    looks, for plans take seconds.
    """
    bars: Any = runner.context.progress
    if not getattr(bars, "is_shown", False):
        yield no_step
        return
    # the audits will say what is to be said
    silenced = replace(runner.context, announce=ignore, progress=silent)
    try:
        stages = foresee(replace(runner, context=silenced))
    except Exception:  # what fails here fails in its turn, with its reason
        stages = [Stage.unknown(name) for name in names]
    first = next((stage for stage in stages if stage.model), None)
    opening = None if first is None else runner.cache.pace(_opening_key(first))
    course = Course(stages, bars.clock, opening or 0.0)
    with bars.following(course):
        yield partial(_step, runner, course)


@contextmanager
def _step(
    runner: "Runner",
    course: Course,
    name: str,
    cues: int | None = None,
) -> Iterator[None]:
    if cues is not None:
        course.scale(name, cues)
    course.begin(name)
    try:
        yield
    except BaseException:
        course.end()
        raise
    stage = course.stages[name]
    if course.opened is not None and len(course.done) == 0 and stage.model:
        # the last time, not a mean: the first time of all it may be downloaded
        opening = course.opening_again or 0.0
        runner.cache.add_first_pace(_opening_key(stage), 1, opening)
    stage.remember(runner.cache, *course.end(), course.timed, course.said)


def _opening_key(stage: Stage) -> str:
    return f"opening of {stage.model}"
