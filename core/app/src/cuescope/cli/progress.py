"""Progress on standard error: rich's bars in a terminal, now and then a line elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from enum import Enum
from importlib.util import find_spec
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from cuescope.cli.log_lines import LOG
from cuescope.cli.terminal import console
from cuescope_core.amounts import count_of, duration
from cuescope_core.context import Advance, silent
from cuescope_core.hookspecs import hookimpl
from cuescope_core.printable import printable

if TYPE_CHECKING:
    from cuescope_core.auditing import Audit
    from cuescope_core.conclusions import Report

Clock = Callable[[], float]
FIRST_SECONDS = 10.0  # until the first line,
SECONDS = 60.0  # between lines,
VERBOSE_SECONDS = 10.0  # and with --verbose
# a batch of a large model takes minutes: the pace is that of the last ten
PACE_SECONDS = 600.0


class Verbosity(Enum):
    """How much is said beside the result."""

    quiet = 0
    normal = 1
    verbose = 2


class Bars:
    """The progress bars that plugins are handed, and the observer of `respond`.

    In a terminal, and in a notebook with ipywidgets, they are bars that vanish. Elsewhere it is a
    line on standard error after `FIRST_SECONDS` of work, then one a minute, verbose six.
    """

    def __init__(
        self,
        verbosity: Verbosity = Verbosity.normal,
        *,
        clock: Clock = time.monotonic,
        say: Callable[..., None] = LOG.write,
    ) -> None:
        screen = console(stderr=True)
        has_widgets = screen.is_jupyter and find_spec("ipywidgets") is not None
        draws = (screen.is_terminal or has_widgets) and not LOG.as_json
        self._verbosity = verbosity
        self.clock = clock
        self._say = say
        self._shows_bars = draws and verbosity is not Verbosity.quiet
        # an audit of hours can be followed in a log as well
        self._shows_lines = not draws and verbosity is not Verbosity.quiet
        self._every = VERBOSE_SECONDS if verbosity is Verbosity.verbose else SECONDS
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[count]}", markup=False),
            _TimeLeft(compact=True),
            console=screen,
            transient=True,  # the report stands alone on the screen after
            disable=not self._shows_bars,
            get_time=lambda: self.clock(),
            speed_estimate_period=PACE_SECONDS,
        )
        self._started = clock()
        self._due: float | None = None  # until there is work
        self._answers: TaskID | None = None
        # `_watch` prints from a thread of its own
        self._lock = RLock()
        self._idle = Event()
        self._idle.set()

    def __reduce__(self) -> Any:
        return copy, (silent,)  # an executor's workers have no terminal

    @contextmanager
    def __call__(self, description: str, total: int) -> Iterator[Advance]:
        """A bar of `total` steps; yields the function that advances it."""
        task = self._add(printable(description), total, _count(0, total))

        def advance(steps: int) -> None:
            done = int(self._task(task).completed) + steps
            self._update(task, done, _count(done, total))

        try:
            yield advance
        finally:
            self._remove(task)

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """Say what is audited; what an audit that failed left is taken away."""
        self.clear()
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
        """Move the bar of the model's answers; it goes by inputs, since a clip takes longer."""
        samples = count_of(len(audit.samples), "samples")
        count = (
            f"{_count(done, total, 'answers')} about {samples}, {inputs:,} of {all_inputs:,} "
            "inputs"
        )
        if self._answers is None:
            self._answers = self._add("asking the model", all_inputs, count)
            self._tell(
                f"asking the model for {count_of(total, 'answers')}, {cached:,} of them in "
                "the cache"
            )
        self._update(self._answers, inputs, count)
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
        """Print how far the work is, the outermost first, where it is time for a line."""
        with self._lock:
            now = self.clock()
            tasks = self._progress.tasks
            if not (self._shows_lines and tasks and self._due is not None):
                return
            if now < self._due:
                return
            self._due = now + self._every
            words = "; ".join(map(_words, tasks))
            line = f"{duration(now - self._started)} {words}"
            if LOG.as_json:
                facts = _facts(tasks[-1], tasks[0] if len(tasks) > 1 else None)
                self._say(line, level="progress", progress=facts)
            else:
                self._say(line)

    def _tell(self, line: str) -> None:
        if self._verbosity is Verbosity.verbose:
            self._say(f"{duration(self.clock() - self._started)} {line}")

    def _task(self, task: TaskID) -> Task:
        return next(each for each in self._progress.tasks if each.id == task)

    def _add(self, description: str, total: int, count: str) -> TaskID:
        with self._lock:
            if self._shows_bars:
                self._progress.start()
            # one method asks a hundred times what another does: how long its steps took says
            # nothing of the next one
            for outer in self._progress.task_ids:
                self._progress.update(outer, unlike=True)
            task = self._progress.add_task(description, total=total, count=count)
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

    def _update(self, task: TaskID, done: int, count: str) -> None:
        with self._lock:
            self._progress.update(task, completed=done, count=count)
        self.show_line_if_due()

    def _remove(self, task: TaskID) -> None:
        self.show_line_if_due()
        with self._lock:
            self._progress.remove_task(task)
            if not self._progress.tasks:
                # a live display would fight with what is printed
                self._progress.stop()
                self._idle.set()
                # a new one, for a thread may still wait for the old one
                self._idle = Event()
                self._idle.set()


def _count(done: int, total: int, unit: str = "") -> str:
    """`128 of 400 answers (32%)`."""
    share = f" ({done / total:.0%})" if total else ""
    return f"{done:,} of {total:,}{' ' if unit else ''}{unit}{share}"


class _TimeLeft(TimeRemainingColumn):
    """Time left, where the steps are alike."""

    def render(self, task: Task) -> Text:
        """The words, or none."""
        return Text() if task.fields.get("unlike") else super().render(task)


def _words(task: Task) -> str:
    """`asking the model: 128 of 400 answers (32%), about 0:23 left`."""
    words = f"{task.description}: {task.fields['count']}"
    left = task.time_remaining
    if left is None or task.finished or task.fields.get("unlike"):
        return words
    return f"{words}, about {duration(left)} left"


def _facts(task: Task, outer: Task | None) -> dict[str, Any]:
    """The same for programs, as `outputs.Progress` describes it."""
    return {
        "work": task.description,
        "done": int(task.completed),
        "total": int(task.total or 0),
        "unit": "inputs" if task.description == "asking the model" else "",
        "per_second": task.speed,
        "seconds_left": task.time_remaining,
        "step": None if outer is None else _words(outer),
    }
