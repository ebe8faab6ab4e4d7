"""Consoles of the command line; no terminal obeys what they print."""

from collections.abc import Iterable

from rich.console import (
    Console,
    ConsoleOptions,
    ConsoleRenderable,
    OverflowMethod,
    RenderHook,
    RenderResult,
)
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from cuescope.report.words import Words
from cuescope_core.printable import printable

MOST_COLUMNS = 2_000  # a line is padded up to the width, which COLUMNS may name


def stdout() -> Console:
    """Standard output; 80 columns and no colour codes in a pipe. Plain text is never markup."""
    return console(stderr=False)


def console(*, stderr: bool) -> Console:
    """Standard output or error; plain text is never markup."""
    # labels are strangers' text: no [markup], no :emoji:, no colour for what looks like a number
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if made.width > MOST_COLUMNS:
        made.width = MOST_COLUMNS
    # one filter for every line, whoever wrote what stands in it (SECURITY.md)
    made.push_render_hook(_PrintableHook())
    return made


def print_table(
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    overflow: OverflowMethod = "ellipsis",
) -> None:
    """Print rows without lines between them."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow=overflow)
    for row in rows:
        table.add_row(*map(Words, row))
    stdout().print(table)


class _PrintableHook(RenderHook):
    def process_renderables(
        self, renderables: list[ConsoleRenderable]
    ) -> list[ConsoleRenderable]:
        return [_Printable(renderable) for renderable in renderables]


class _Printable:
    """A renderable, its control characters written out and no blanks at the ends of lines.

    The codes of rich itself stay.
    """

    def __init__(self, content: ConsoleRenderable) -> None:
        self._content = content

    def __rich_console__(
        self,
        console: Console,
        options: ConsoleOptions,
    ) -> RenderResult:
        for line in Segment.split_lines(console.render(self._content, options)):
            # rich fills lines up to the width, and a pipe would keep that
            while line and not line[-1].control and not line[-1].text.strip(" "):
                line.pop()
            for number, segment in enumerate(line, 1):
                text = segment.text.rstrip(" ") if number == len(line) else segment.text
                yield (
                    segment
                    if segment.control
                    else segment._replace(text=printable(text))
                )
            yield Segment.line()

    def __rich_measure__(
        self,
        console: Console,
        options: ConsoleOptions,
    ) -> Measurement:
        return Measurement.get(console, options, self._content)
