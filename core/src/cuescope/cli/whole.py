"""One bar over several audits: how much of all is over, and the time that is left."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from cuescope.course import Course, Stage

if TYPE_CHECKING:
    from cuescope.auditing import Audit
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
            more = getattr(audit, "more_trials", None)
            self.course.foresee(None if more is None else each * more)

    @property
    def facts(self) -> dict[str, Any]:
        """What a program is told beside the work."""
        return {"step": self.description, "all_seconds_left": self.seconds_left}


@contextmanager
def following(
    runner: "Runner",
    foresee: Callable[[], tuple[Sequence[Stage], float | None]],
) -> Iterator[Step]:
    """One bar over the audits within; each is run `with step(name)`.

    `foresee` gives the stages and the pace of the model here. It is asked only where somebody
    looks, for plans take seconds.
    """
    bars: Any = runner.context.progress
    if not getattr(bars, "is_shown", False):
        yield lambda name, cues=None: nullcontext()
        return
    stages, pace = foresee()
    course = Course(stages, pace, bars.clock)
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
    course.stages[name].remember(runner.cache, *course.end())
