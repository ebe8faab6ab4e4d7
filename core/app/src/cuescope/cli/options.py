"""Options that several commands share, and what they make."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cuescope.cli.log_lines import LOG
from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from cuescope.cli.progress import Verbosity
    from cuescope.runner import Runner
    from cuescope_core.context import Context
    from cuescope_core.trust.source import Source

RUNS = Path("runs")
Pairs = list[str] | None


def complete(what: Literal["names", "options"], kind: str | None = None) -> Any:
    """A completion, which a shell alone imports: the names of a kind of plugin, or options."""

    def completed(ctx: typer.Context, incomplete: str) -> Any:
        from cuescope.cli import completion

        return getattr(completion, what)(kind, ctx, incomplete)

    return completed


MODEL = typer.Option(
    metavar="SPEC",
    help="Model, NAME[:ARG].",
    autocompletion=complete("names", "model"),
)
DATA = typer.Option(
    metavar="SPEC",
    help="Data set, NAME[:ARG].",
    autocompletion=complete("names", "dataset"),
)
ModelSpec = Annotated[str, MODEL]
DataSpec = Annotated[str, DATA]
ModelOptions = Annotated[
    Pairs,
    typer.Option(
        "-M",
        metavar="KEY=VALUE",
        help="Option of the model.",
        autocompletion=complete("options", "model"),
    ),
]
DataOptions = Annotated[
    Pairs,
    typer.Option(
        "-D",
        metavar="KEY=VALUE",
        help="Option of the data set.",
        autocompletion=complete("options", "dataset"),
    ),
]
Tools = Annotated[
    Pairs,
    typer.Option(metavar="ROLE=SPEC", help="Helper model, by its role."),
]
ToolOptions = Annotated[
    Pairs, typer.Option("-T", metavar="ROLE.KEY=VALUE", help="Option of a tool.")
]
Executor = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Where the model answers.",
        autocompletion=complete("names", "executor"),
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")]
Dtype = Annotated[str, typer.Option(help="float32, float16 or bfloat16.")]
DrawSeed = Annotated[int, typer.Option(min=0, help="Every random draw depends on it.")]
BatchSize = Annotated[
    int, typer.Option(min=1, help="Frames per model call; a clip of 8 frames counts 8.")
]
Observers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SPEC",
        help="Observer plugin that follows the audit.",
        autocompletion=complete("names", "observer"),
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Neither read nor keep responses of the model."),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress and no notes beside the result."),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        metavar="",
        help="Show all of the result, and more of what is done.",
    ),
]
# one word opens one thing: no run file can open a guard by itself (SECURITY.md, rule 4)
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Permission for an untrusted run or file: option, folder, host, variable or hub.",
    ),
]
_ELSEWHERE = "of an untrusted run, or of one that has moved."
# a run of somebody else is asked again with what is typed here alone (docs/adr/0021)
TypedModel = Annotated[
    str | None, typer.Option(metavar="SPEC", help=f"Model {_ELSEWHERE}")
]
TypedData = Annotated[
    str | None, typer.Option(metavar="SPEC", help=f"Data set {_ELSEWHERE}")
]
Planned = Annotated[bool, typer.Option("--plan", help="Say what it would cost.")]
PrintsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Again = Annotated[bool, typer.Option("--again", help="Redo the audits that are done.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of the report.")
]


def announce(line: str) -> None:
    """Print a line that is no part of the result, to standard error."""
    # standard output is the result alone: with --json a program reads it
    LOG.write(line)


def runs_folder() -> Path:
    """The folder of the runs: that of `cuescope.toml`, else `runs`."""
    from cuescope.project import allowed_project, project_file

    project = allowed_project() if project_file() else None
    return RUNS if project is None or project.out is None else project.out


@contextmanager
def open_runner(
    runs: Path | None = None,
    *,
    out: Path | None = None,
    observe: Iterable[str] = (),
    cache_responses: bool = True,
    source: "Source | None" = None,
    allow: Pairs = None,
    quiet: bool = False,
    verbose: int = 0,
) -> Iterator["Runner"]:
    """A runner with progress bars and the observers asked for.

    `source` is where requests come from that nobody typed, `allow` what a stored run may ask for.
    """
    # here, and below: `--help` does not wait for rich and pydantic
    from cuescope.cli.progress import Bars
    from cuescope.runner import Runner
    from cuescope_core.context import Context, ignore

    bars = Bars(verbosity(quiet, verbose))
    say = ignore if quiet else announce
    allowed = frozenset(allow or ())
    context = Context(progress=bars, announce=say, allowed=allowed)
    observers = [bars, *(context.build("observer", spec) for spec in observe)]
    # after the observers, which were typed at this command line
    context = replace(context, source=source)
    try:
        yield Runner(
            context,
            runs or runs_folder(),
            observers,
            cache_responses,
            out=out,
            detail=verbose,
        )
    finally:
        bars.clear()


def open_context(data: str | None, options: Pairs, allow: Pairs = None) -> "Context":
    """A context with the data set that the person typed for a stored run, if any."""
    from cuescope_core.context import Context
    from cuescope_core.spec import pairs
    from cuescope_core.trust.paths import require_own_cache

    context = Context(announce=announce, allowed=frozenset(allow or ()))
    require_own_cache(context.cache)
    given = pairs("-O data.KEY", options or ())
    if data is None:
        if given:
            raise UserError("-O data.KEY without --data", remedy="Add --data SPEC")
        return context
    return context.for_dataset(context.build("dataset", data, given))


def is_made_here(run: Path) -> bool:
    """True if this user made a run; says so where it was made elsewhere: somebody's word."""
    from cuescope_core.runs import source_of
    from cuescope_core.trust.source import ELSEWHERE

    made_here = source_of(run).typed_before
    if not made_here:
        # it is shown all the same: to read a report runs nothing of it (SECURITY.md, rule 6)
        announce(f"{run} was {ELSEWHERE}")
    return made_here


def verbosity(quiet: bool, verbose: int) -> "Verbosity":
    """How much is said; raises UserError for both at once."""
    from cuescope.cli.progress import Verbosity

    if quiet and verbose:
        raise UserError("--quiet and --verbose", expected="one of them")
    return (
        Verbosity.quiet if quiet else Verbosity.verbose if verbose else Verbosity.normal
    )


def by_role(
    options: Mapping[str, str], role: str = "-O tool.ROLE"
) -> dict[str, dict[str, str]]:
    """`{"role.key": value}` by role and key; raises UserError where there is no role."""
    roles: dict[str, dict[str, str]] = {}
    for name, value in options.items():
        own, dot, key = name.partition(".")
        if not dot or not key:
            flag, _, word = role.partition(" ")
            owner, dot, _ = word.rpartition(".")
            raise UserError(
                f"{flag} {owner}{dot}{name}={value}",
                expected=f"{word}.key=value",
                got=f"'{name}'",
            )
        roles.setdefault(own, {})[key] = value
    return roles
