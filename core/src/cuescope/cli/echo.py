"""Plain text and JSON on standard output or error; no terminal obeys what is printed."""

import typer

from cuescope.printable import printable, printable_json


def echo(text: str, *, err: bool = False) -> None:
    """Print plain text."""
    typer.echo(printable(text), err=err)


def echo_json(text: str) -> None:
    """Print JSON."""
    typer.echo(printable_json(text))
