"""Progress on standard error: bars in a terminal, a line now and then where there is none."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from enum import Enum
from functools import partial
from threading import Event, RLock, Thread, Timer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn
from rich.text import Text

from cuescope.cli.log_lines import LOG
from cuescope.cli.terminal import console
from cuescope.cli.whole import Whole
from cuescope.context import Advance, ignore, silent
from cuescope.counted import count_of, duration
from cuescope.course import LONGER, Course
from cuescope.hookspecs import hookimpl
from cuescope.printable import printable
from cuescope.time_left import longer_than

if TYPE_CHECKING:
    from rich.progress import Task

    from cuescope.auditing import Audit
    from cuescope.conclusions import Report

Clock = Callable[[], float]
FIRST_SECONDS = 10.0  # until the first line,
SECONDS = 60.0  # between lines,
VERBOSE_SECONDS = 10.0  # and with --verbose
MARKS = 17  # the pace is that of the last sixteen batches
BATCH_DOUBT = 0.25  # of the seconds of a batch, as a natural logarithm


class Verbosity(Enum):
    """How much is said beside the result."""

    quiet = 0
    normal = 1
    verbose = 2


class HeldWarnings:
    """Warnings of an audit wait a little, so that what is refused is told in one line.

    What was announced with "warning: " is said when the model has been at work for
    `FIRST_SECONDS`, or before the report.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._lines: list[str] = []
        self._timer: Timer | None = None
        self._released = False

    def __reduce__(self) -> Any:
        return partial(
            SimpleNamespace, announce=ignore
        ), ()  # an executor's workers say nothing

    def announce(self, line: str) -> None:
        """Say a line, a warning when its time has come."""
        if line.startswith("warning: ") and not self._released:
            self._lines.append(line)
        else:
            self._say(line)

    def release(self) -> None:
        """Say what was held."""
        self._released = True
        while self._lines:
            # taken out: the timer's thread may come here as well
            self._say(self._lines.pop(0))

    def drop(self) -> None:
        """Nothing is to be said of what was refused."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._released = False
        self._lines.clear()

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """Another audit: what one that was refused left is not said."""
        self.drop()

    @hookimpl
    def responses_progressed(self, audit: "Audit") -> None:
        """The model is asked."""
        if self._timer is None:
            self._timer = Timer(FIRST_SECONDS, self.release)
            # the process must not wait for it at its end
            self._timer.daemon = True
            self._timer.start()

    @hookimpl
    def audit_finished(self, report: "Report") -> None:
        """The report is shown next."""
        self.release()


class Work:
    """Something under way: `done` of `total`, and the pace of its last batches.

    Where steps are unlike, `effort` is what has taken the time so far (inputs of a model), of
    `all_effort`; the time left goes by it.
    """

    def __init__(
        self,
        description: str,
        total: int,
        unit: str = "",
        clock: Clock = time.monotonic,
    ):
        self.description = description
        self.total = total
        self.unit = unit
        self.done = 0
        self.effort = 0
        self.all_effort = total
        self.note = ""
        self._clock = clock
        self._marks: deque[tuple[float, int, int]] = deque([(clock(), 0, 0)], MARKS)

    def begin(self, done: int, effort: int | None = None) -> None:
        """So many are done before anything was worked on."""
        self._marks.clear()
        self.update(done, effort)

    def update(self, done: int, effort: int | None = None) -> None:
        """A batch is done."""
        self.done = done
        self.effort = done if effort is None else effort
        self._marks.append((self._clock(), done, self.effort))

    @property
    def rate(self) -> float | None:
        """How many a second, None before the first batch is done.

        The first batch also opens weights: it has no part as soon as there are two more.
        """
        first, *_, last = self._told_by
        seconds = last[0] - first[0]
        steps = last[1] - first[1]
        return steps / seconds if steps > 0 and seconds > 0 else None

    @property
    def _told_by(self) -> Sequence[tuple[float, int, int]]:
        """The moments between which the pace is taken, two at least: a batch ended at each."""
        marks = list(self._marks)
        if 3 < len(marks) < MARKS:
            del marks[0]
        return marks if len(marks) > 1 else marks * 2

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this pace, less the time since the last batch.

        A batch that takes longer than usual takes longer still, and makes the pace a slower one: as
        if it ended now.
        """
        marks = self._told_by
        first, *_, last = marks
        effort = last[2] - first[2]
        seconds = last[0] - first[0]
        if effort <= 0 or seconds <= 0:
            return None
        waited = self._clock() - last[0]
        rest = self.all_effort - self.effort
        batch = min(effort / (len(marks) - 1), rest)
        foreseen = batch * seconds / effort
        of_batch, _ = longer_than(waited, foreseen, BATCH_DOUBT)
        of_batch = max(of_batch, LONGER * (waited - foreseen))
        pace = max(seconds / effort, (seconds + waited) / (effort + batch))
        return of_batch + (rest - batch) * pace

    @property
    def facts(self) -> dict[str, Any]:
        """The same as `words`, for programs."""
        return {
            "work": self.description,
            "done": self.done,
            "total": self.total,
            "unit": self.unit,
            "per_second": self.rate,
            "seconds_left": self.seconds_left,
        }

    @property
    def words(self) -> str:
        """`asking the model: 128 of 400 answers (32%), 12 a second, about 0:23 left`."""
        parts = [self.count]
        if (rate := self.rate) is not None:
            parts.append(_pace(rate))
        if (left := self.seconds_left) is not None and self.done < self.total:
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)

    @property
    def count(self) -> str:
        """`asking the model: 128 of 400 answers (32%)`."""
        unit = f" {self.unit}" if self.unit else ""
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        done = f"{self.done:,} of {self.total:,}{unit}{share}{self.note}"
        return f"{self.description}: {done}"


def _pace(rate: float) -> str:
    """`12 a second`, or `3.4 a minute` where it is slower than one a second."""
    each = f"{60 * rate:.2g} a minute" if rate < 1 else f"{rate:,.1f} a second"
    return each if rate < 10 else f"{rate:,.0f} a second"


class _Left(ProgressColumn):
    """Pace and time left, by the last batches."""

    # rich draws ten times a second: such a figure could not be read
    max_refresh = 1.0

    def render(self, task: "Task") -> Text:
        work: Work | Whole = task.fields["work"]
        if isinstance(work, Whole):
            # it grows by itself: nobody advances it
            task.completed = work.done
            of_all = work.words_left
            return Text("" if of_all is None else f"{of_all} left", "bold")
        left = work.seconds_left
        unit = f" {work.unit}" if work.unit else ""
        words = f"{work.done:,}/{work.total:,}{unit}{work.note}"
        # of several audits the time left of all is the one to be read
        if left is not None and not task.fields["is_part"]:
            words += f", {duration(left)} left"
        return Text(words, "dim")


class Bars:
    """The progress bar that plugins are handed, and the observer of `respond`.

    In a terminal they are bars that vanish. Elsewhere it is a line on standard error after
    `FIRST_SECONDS` of work, then one a minute at most, however long a batch takes; verbose, six.
    """

    def __init__(
        self,
        verbosity: Verbosity = Verbosity.normal,
        *,
        clock: Clock = time.monotonic,
        say: Callable[..., None] = LOG.write,
    ) -> None:
        screen = console(stderr=True)
        self._verbosity = verbosity
        self.clock = clock
        self._say = say
        draws = screen.is_terminal and not LOG.as_json
        self._shows_bars = draws and verbosity is not Verbosity.quiet
        # an audit of hours can be followed in a log as well
        self._shows_lines = not draws and verbosity is not Verbosity.quiet
        self._every = VERBOSE_SECONDS if verbosity is Verbosity.verbose else SECONDS
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _Left(),
            console=screen,
            transient=True,  # the report stands alone on the screen after
            disable=not self._shows_bars,
        )
        self._started = clock()
        self._due: float | None = None  # until there is work
        self._works: dict[TaskID, Work] = {}
        self._answers: TaskID | None = None
        self._whole: Whole | None = None
        # `_watch` prints from a thread of its own
        self._lock = RLock()
        self._busy_since = 0.0  # when the first of the works under way began
        self._idle = Event()
        self._idle.set()

    def __reduce__(self) -> Any:
        return copy, (silent,)  # an executor's workers have no terminal

    @contextmanager
    def __call__(self, description: str, total: int) -> Iterator[Advance]:
        """A bar of `total` steps; yields the function that advances it."""
        work = Work(printable(description), total, clock=self.clock)
        task = self._add(work)
        try:
            yield lambda steps: self._update(task, work.done + steps)
        finally:
            self._remove(task)

    @property
    def is_shown(self) -> bool:
        """Whether anybody sees it: what only progress needs is worth no work else."""
        return self._shows_bars or self._shows_lines

    @contextmanager
    def following(self, course: Course) -> Iterator[None]:
        """One bar over all stages of a course, with the time left of all."""
        self._whole = whole = Whole(course)
        course.seconds_of_bars = self._seconds_of_bars
        task = None
        if self._shows_bars:
            with self._lock:
                self._progress.start()
                task = self._progress.add_task(
                    whole.description, total=whole.total, work=whole
                )
        try:
            yield
        finally:
            self._whole = None
            with self._lock:
                if task is not None:
                    self._progress.remove_task(task)
                    self._progress.stop()

    def _seconds_of_bars(self) -> float:
        """What is left of the work that is under way beside the model, as far as it tells."""
        # no lock: rich draws while it holds one of its own
        works = list(self._works.items())
        left = [work.seconds_left for task, work in works if task != self._answers]
        return max((seconds or 0.0 for seconds in left), default=0.0)

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """Say what is audited; what an audit that failed left is taken away."""
        self.clear()
        if self._whole is not None:
            self._whole.course.open()
        self._tell(
            f"{count_of(len(audit.samples), 'samples')}, {count_of(len(audit.labels), 'labels')}"
        )

    @hookimpl
    def responses_progressed(
        self,
        audit: "Audit",
        done: int,
        total: int,
        cached: int,
        inputs: int,
        all_inputs: int,
    ) -> None:
        """Move the bar of the model's answers."""
        if self._whole is not None:
            self._whole.count_asked(audit, total, cached, inputs, all_inputs)
        if self._answers is None:
            work = Work("asking the model", total, "answers", self.clock)
            # what was in the cache came at once, and says nothing of the pace
            work.begin(done, inputs)
            self._answers = self._add(work)
            self._tell(
                f"asking the model for {count_of(total, 'answers')}, {cached:,} of them in "
                "the cache"
            )
        else:
            self._update(self._answers, done, inputs)
        work = self._works[self._answers]
        work.all_effort = all_inputs
        samples = count_of(len(audit.samples), "samples")
        work.note = f" about {samples}, {inputs:,} of {all_inputs:,} inputs"
        if done == total:
            self.clear()

    @hookimpl
    def audit_finished(self, report: "Report") -> None:
        """Say how long it took."""
        self._tell(f"report {report.hash} is stored")

    def clear(self) -> None:
        """Take the bar of the answers away: they are there, or the audit has failed."""
        if self._answers is not None:
            self._remove(self._answers)
            self._answers = None

    def show_line_if_due(self) -> None:
        """Print how far the latest work is, where it is time for a line."""
        with self._lock:
            now = self.clock()
            if (
                not self._shows_lines
                or not self._works
                or self._due is None
                or now < self._due
            ):
                return
            self._due = now + self._every
            # the innermost: those around it wait for it
            work = list(self._works.values())[-1]
            self._say_progress(duration(now - self._started), work)

    def _say_progress(self, time_so_far: str, work: Work) -> None:
        words = work.words
        facts = work.facts
        if self._whole is not None:
            facts |= self._whole.facts
            left = self._whole.words_left
            of_all = "" if left is None else f"{left} left in all; "
            words = f"{self._whole.description}: {of_all}{work.count}"
        if LOG.as_json:
            self._say(f"{time_so_far} {words}", level="progress", progress=facts)
        else:
            self._say(f"{time_so_far} {words}")

    def _tell(self, line: str) -> None:
        if self._verbosity is Verbosity.verbose:
            self._say(f"{duration(self.clock() - self._started)} {line}")

    def _add(self, work: Work) -> TaskID:
        with self._lock:
            if self._shows_bars:
                self._progress.start()
            if not self._works:
                self._busy_since = self.clock()
            task = self._progress.add_task(
                work.description,
                total=work.total,
                work=work,
                is_part=self._whole is not None,
            )
            self._progress.update(task, completed=work.done)
            self._works[task] = work
            # once: another piece of work begins no new wait
            self._due = self._due or self.clock() + FIRST_SECONDS
            if self._shows_lines and self._idle.is_set():
                self._idle.clear()
                Thread(target=self._watch, args=(self._idle,), daemon=True).start()
        return task

    def _watch(self, idle: Event) -> None:
        """Lines while one batch takes long."""
        while not idle.wait(1.0):
            self.show_line_if_due()

    def _update(self, task: TaskID, done: int, effort: int | None = None) -> None:
        with self._lock:
            self._works[task].update(done, effort)
            self._progress.update(task, completed=done)
        self.show_line_if_due()

    def _remove(self, task: TaskID) -> None:
        self.show_line_if_due()
        with self._lock:
            self._works.pop(task, None)
            self._progress.remove_task(task)
            if not self._works:
                if self._whole is not None:
                    self._whole.course.count_bars(self.clock() - self._busy_since)
                # a live display would fight with what is printed
                if self._whole is None:
                    self._progress.stop()
                self._idle.set()
                # a new one, for a thread may still wait for the old one
                self._idle = Event()
                self._idle.set()
