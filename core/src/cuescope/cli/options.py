"""Options that several commands share, and what they make."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.echo import echo

if TYPE_CHECKING:
    from cuescope.request import Request
    from cuescope.runner import Runner

RUNS = Path("runs")

Observers = Annotated[
    list[str] | None,
    typer.Option("--observe", metavar="SPEC", help="Observer plugin that follows the audit."),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither read nor keep responses of the model.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of the report.")]


def announce(line: str) -> None:
    """Print a line that is no part of the result, to standard error."""
    echo(f"cuescope: {line}", err=True)


def open_runner(
    runs: Path = RUNS,
    *,
    out: Path | None = None,
    observe: Iterable[str] = (),
    cache_responses: bool = True,
    trusted: Collection[str] | None = None,
) -> "Runner":
    """A runner with progress bars and the observers asked for; `trusted` is for run files."""
    from cuescope.cli.terminal import Bars
    from cuescope.context import Context
    from cuescope.runner import Runner

    bars = Bars()
    allowed = None if trusted is None else frozenset(trusted)
    context = Context(progress=bars, announce=announce, trusted=allowed)
    observers = [bars, *(context.build("observer", spec) for spec in observe)]
    return Runner(context, runs, observers, cache_responses, out=out)


def make_request(**settings: Any) -> "Request":
    """A request from command-line values; raises UserError for one that does not fit."""
    from pydantic import ValidationError

    from cuescope.request import Request
    from cuescope.spec import fault

    try:
        return Request(**settings)
    except ValidationError as error:
        raise fault("audit", error, Request.model_fields) from error
