"""Plain text and JSON on standard output or error; no terminal obeys what is printed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import typer

from cuescope.cli.log_lines import LOG, PREFIX
from cuescope_core.printable import printable, printable_json

_held: ContextVar[list[str] | None] = ContextVar("cuescope_held_lines", default=None)


def echo(text: str, *, err: bool = False) -> None:
    """Print plain text."""
    if err:
        LOG.write(text.removeprefix(PREFIX), prefixed=text.startswith(PREFIX))
        return
    held = _held.get()
    if held is not None:
        held.append(text)
    else:
        typer.echo(printable(text))


def echo_lines(text: str) -> None:
    """Print a text of several lines, each as `echo` does: a line end within one is written out."""
    for line in text.splitlines():
        echo(line)


def echo_json(text: str) -> None:
    """Print JSON."""
    typer.echo(printable_json(text))


@contextmanager
def holding_lines() -> Iterator[list[str]]:
    """Keep in a list what `echo` prints to standard output within."""
    lines: list[str] = []
    token = _held.set(lines)
    try:
        yield lines
    finally:
        _held.reset(token)
