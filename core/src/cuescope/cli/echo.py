"""Plain text and JSON on standard output or error; no terminal obeys what is printed."""

import typer

from cuescope.cli.calling import current_call
from cuescope.printable import printable, printable_json


def echo(text: str, *, err: bool = False) -> None:
    """Print plain text."""
    call = current_call()
    if call is not None and not err:
        call.lines.append(text)
        return
    typer.echo(printable(text), err=err)


def echo_json(text: str) -> None:
    """Print JSON."""
    call = current_call()
    if call is not None:
        call.json = text
        return
    typer.echo(printable_json(text))
