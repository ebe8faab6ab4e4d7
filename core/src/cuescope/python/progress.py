"""Progress of an audit in a notebook: one line that is written again, with nothing to install."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cuescope.cli.whole import Whole
from cuescope.context import Advance, silent
from cuescope.course import Course
from cuescope.hookspecs import hookimpl

if TYPE_CHECKING:
    from cuescope.auditing import Audit

PAUSE = 0.25  # seconds between two updates: each is a message to the browser
WIDTH = 30


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code: in a terminal, IPython's shell has no kernel."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    shell = ipython and ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBars:
    """Bars for a context, and the observer of what the model answered. Call `clear` at the end."""

    is_shown = True
    clock = staticmethod(time.monotonic)

    def __init__(self) -> None:
        self._whole: Whole | None = None
        self._line: Any = None
        self._shown = 0.0
        self._started = time.monotonic()

    def __reduce__(self) -> Any:
        return copy, (silent,)  # an executor's workers have no notebook

    @contextmanager
    def __call__(self, description: str, total: int) -> Iterator[Advance]:
        """A bar of `total` steps; yields the function that advances it."""
        done = 0
        self._started = time.monotonic()

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            self._show(description, done, total, done, total)

        yield advance

    @contextmanager
    def following(self, course: Course) -> Iterator[None]:
        """One line over all stages of a course, with the time left of all."""
        self._whole = Whole(course)
        try:
            yield
        finally:
            self._whole = None

    @hookimpl
    def audit_started(self, audit: "Audit") -> None:
        """The model is open."""
        if self._whole is not None:
            self._whole.course.open()

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
        """Of what the model is asked."""
        if self._whole is not None:
            self._whole.count_asked(audit, total, cached, inputs, all_inputs)
        # nothing is asked yet: the pace begins here, not when the last bar did
        if inputs == 0:
            self._started = time.monotonic()
        self._show("the model answers", done, total, inputs, all_inputs)

    def clear(self) -> None:
        """Take the line away: the report stands alone in the cell."""
        if self._line is not None:
            self._line.update({"text/plain": ""}, raw=True)

    def _show(
        self,
        description: str,
        done: int,
        total: int,
        effort: int,
        all_effort: int,
    ) -> None:
        now = time.monotonic()
        # the last one is always shown, or a bar would end short of its end
        if now - self._shown < PAUSE and done < total:
            return
        self._shown = now
        seconds = now - self._started
        text = bar_line(description, done, total, effort, all_effort, seconds)
        if self._whole is not None:
            left = self._whole.words_left
            of_all = "" if left is None else f", {left} left in all"
            text = f"{self._whole.description}{of_all}: {text}"
        if self._line is None:
            display: Any = import_module("IPython.display").display
            # display makes one line with a number of its own, and what comes later changes that
            # line
            self._line = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._line.update({"text/plain": text}, raw=True)


def bar_line(
    description: str,
    done: int,
    total: int,
    effort: int,
    all_effort: int,
    seconds: float,
) -> str:
    """A bar in words, with the time that remains at the pace so far.

    What took the time is `effort` of `all_effort`: cached answers came at once.

    >>> bar_line("the model answers", 60, 120, 40, 100, 8.0)
    'the model answers [###############               ] 60/120, 12 s left'
    """
    share = done / total if total else 1.0
    full = round(WIDTH * share)
    remains = ""
    if effort and done < total:
        left = seconds / effort * (all_effort - effort)
        remains = f", {left:.0f} s left"
    return f"{description} [{'#' * full:<{WIDTH}}] {done:,}/{total:,}{remains}"
