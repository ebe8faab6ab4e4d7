"""Plain text and JSON on standard output or error; no terminal obeys what is printed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import typer

from cuescope.cli.calling import current_call
from cuescope.cli.log_lines import LOG, PREFIX
from cuescope.printable import printable, printable_json

_held: ContextVar[list[str] | None] = ContextVar("cuescope_held_lines", default=None)


def echo(text: str, *, err: bool = False) -> None:
    """Print plain text."""
    if err:
        LOG.write(text.removeprefix(PREFIX), prefixed=text.startswith(PREFIX))
        return
    call = current_call()
    held = _held.get()
    if call is not None:
        call.lines.append(text)
    elif held is not None:
        held.append(text)
    else:
        typer.echo(printable(text))


def echo_lines(text: str) -> None:
    """Print a text of several lines, each as `echo` does: a line end within one is written out."""
    for line in text.splitlines():
        echo(line)


def echo_json(text: str) -> None:
    """Print JSON."""
    call = current_call()
    if call is not None:
        call.json = text
        return
    typer.echo(printable_json(text))


@contextmanager
def holding_lines() -> Iterator[list[str]]:
    """What `echo` prints to standard output within is kept in the list instead."""
    lines: list[str] = []
    token = _held.set(lines)
    try:
        yield lines
    finally:
        _held.reset(token)
