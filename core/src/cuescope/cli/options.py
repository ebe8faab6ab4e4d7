"""Options that several commands share, and what they make."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.cli.completion import complete_observer
from cuescope.cli.echo import echo
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.cli.progress import Verbosity
    from cuescope.request import Request
    from cuescope.runner import Runner

RUNS = Path("runs")

Observers = Annotated[
    list[str] | None,
    typer.Option(
        "--observe",
        metavar="SPEC",
        help="Observer plugin that follows the audit.",
        autocompletion=complete_observer,
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither read nor keep responses of the model.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes beside the result.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say more of what is done, and more often.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of the report.")]


def announce(line: str) -> None:
    """Print a line that is no part of the result, to standard error."""
    echo(f"cuescope: {line}", err=True)


@contextmanager
def open_runner(
    runs: Path = RUNS,
    *,
    out: Path | None = None,
    observe: Iterable[str] = (),
    cache_responses: bool = True,
    trusted: Collection[str] | None = None,
    quiet: bool = False,
    verbose: bool = False,
) -> Iterator["Runner"]:
    """A runner with progress bars and the observers asked for; `trusted` is for run files."""
    from cuescope.cli.progress import Bars, HeldWarnings
    from cuescope.context import Context, ignore
    from cuescope.runner import Runner

    bars = Bars(verbosity(quiet, verbose))
    warnings = HeldWarnings(ignore if quiet else announce)
    allowed = None if trusted is None else frozenset(trusted)
    context = Context(progress=bars, announce=warnings.announce, trusted=allowed)
    observers = [warnings, bars, *(context.build("observer", spec) for spec in observe)]
    try:
        yield Runner(context, runs, observers, cache_responses, out=out)
        warnings.release()
    finally:
        warnings.drop()
        bars.clear()


def verbosity(quiet: bool, verbose: bool) -> "Verbosity":
    """How much is said; raises UserError for both at once."""
    from cuescope.cli.progress import Verbosity

    if quiet and verbose:
        raise UserError("--quiet and --verbose", expected="one of them")
    return Verbosity.quiet if quiet else Verbosity.verbose if verbose else Verbosity.normal


def by_role(options: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """`{"role.key": value}` by role and key; raises UserError where there is no role."""
    roles: dict[str, dict[str, str]] = {}
    for name, value in options.items():
        role, dot, key = name.partition(".")
        if not dot or not key:
            raise UserError(f"-T {name}={value}", expected="role.key=value", got=f"'{name}'")
        roles.setdefault(role, {})[key] = value
    return roles


def make_request(**settings: Any) -> "Request":
    """A request from command-line values; raises UserError for one that does not fit."""
    from pydantic import ValidationError

    from cuescope.request import Request
    from cuescope.spec import fault

    try:
        return Request(**settings)
    except ValidationError as error:
        raise fault("audit", error, Request.model_fields) from error
