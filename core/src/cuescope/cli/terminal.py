"""Consoles and progress bars of the command line; no terminal obeys what they print."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from cuescope.context import Advance
from cuescope.hookspecs import hookimpl
from cuescope.printable import printable

if TYPE_CHECKING:
    from cuescope.audit import Audit


def stdout() -> Console:
    """Standard output; 80 columns and no colour codes in a pipe. Plain text is never markup."""
    return _console(stderr=False)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    console.push_render_hook(_PrintableHook())
    return console


class _PrintableHook(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Printable(renderable) for renderable in renderables]


class _Printable:
    """What is rendered, with its control characters written out; rich's own codes stay."""

    def __init__(self, content: ConsoleRenderable) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._content, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._content)


class Bars:
    """Progress on standard error, shown in a terminal only. Also the observer of `respond`."""

    def __init__(self) -> None:
        console = _console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,  # the report stands alone on the screen after
            disable=not console.is_terminal,
        )
        self._responses: TaskID | None = None

    @contextmanager
    def __call__(self, description: str, total: int) -> Iterator[Advance]:
        """A bar of `total` steps; yields the function that advances it."""
        self._progress.start()
        task = self._progress.add_task(printable(description), total=total)
        try:
            yield lambda steps: self._progress.advance(task, steps)
        finally:
            self._remove(task)

    @hookimpl
    def responses_progressed(self, audit: "Audit", done: int, total: int) -> None:
        """Move the bar of the model's answers."""
        if self._responses is None:
            self._progress.start()
            self._responses = self._progress.add_task("asking the model", total=total)
        self._progress.update(self._responses, completed=done, total=total)
        if done == total:
            self._remove(self._responses)
            self._responses = None

    def _remove(self, task: TaskID) -> None:
        self._progress.remove_task(task)
        if not self._progress.tasks:
            self._progress.stop()  # a live display would fight with what is printed
