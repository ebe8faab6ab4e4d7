"""`cuescope run FILE.yaml`: a matrix of methods, models and data sets."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import RUNS, NoCache, Observers, open_runner
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.registry import Registry
    from cuescope.request import Request
    from cuescope.types import Report


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML; see `cuescope schema`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs.")] = RUNS,
    again: Annotated[bool, typer.Option("--again", help="Redo the audits that are done.")] = False,
    allow_env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Environment variable that the file may send elsewhere."),
    ] = None,
    observe: Observers = None,
    no_cache: NoCache = False,
) -> None:
    """Audit every method on every model and data set of a YAML file; resumes."""
    from rich.table import Table
    from rich.text import Text

    from cuescope.building import checked_classes
    from cuescope.cli.terminal import stdout
    from cuescope.matrix import read_matrix

    requests = list(read_matrix(file).requests())
    runner = open_runner(out, observe=observe or (), cache_responses=not no_cache)
    for request in requests:
        checked_classes(request, runner.context.registry)  # a typo ends it before hours of audits
        refuse_unknown_variables(request, runner.context.registry, allow_env or ())
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("run", "findings", "the strongest"):
        table.add_column(column, overflow="fold")  # what differs between runs is at the end
    failed = 0
    for number, request in enumerate(requests, 1):
        echo(f"[{number}/{len(requests)}] {request.slug}: {request.command}", err=True)
        try:
            report = runner.run(request, resume=not again)
        except UserError as error:  # one that fails must not cost the night's others
            failed += 1
            cells = [request.slug, "-", f"failed: {error}"]
        else:
            cells = [request.slug, str(len(report.findings)), _strongest(report)]
        table.add_row(*map(Text, cells))
    stdout().print(table)
    echo(f"{len(requests) - failed} of {len(requests)} reports are in {out}")
    if failed:
        raise typer.Exit(1)


def refuse_unknown_variables(
    request: "Request", registry: "Registry", allowed: Iterable[str]
) -> None:
    """Raise UserError where a run file names an environment variable that nobody expects there."""
    from cuescope.building import KINDS
    from cuescope.spec import Spec
    from cuescope.types import EnvironmentName

    tools = [(spec, request.tool_options.get(role, {})) for role, spec in request.tools.items()]
    kinds = [*KINDS, *["tool"] * len(tools)]
    for kind, (spec, options) in zip(kinds, (*request.plugins, *tools), strict=True):
        plugin = registry.load(registry.find(kind, Spec.parse(spec).name))
        for name, field in plugin.Options.model_fields.items():
            for mark in field.metadata:
                if isinstance(mark, EnvironmentName) and name in options:
                    variable = options[name]
                    if variable not in (*mark.known, *allowed):
                        raise UserError(
                            f"{spec}: {name} {variable} in a run file",
                            expected=f"one of {', '.join(mark.known)}",
                            remedy=f"--allow-env {variable} sends its value where the file says",
                        )


def _strongest(report: "Report") -> str:
    return report.sentence(report.findings[0]) or "" if report.findings else "no cue found"
