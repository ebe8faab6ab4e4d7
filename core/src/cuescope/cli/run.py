"""`cuescope run FILE.yaml`: a matrix of methods, models and data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import RUNS, NoCache, Observers, open_runner
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.types import Report


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML; see `cuescope schema`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs.")] = RUNS,
    again: Annotated[bool, typer.Option("--again", help="Redo the audits that are done.")] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Option or key variable that a file may not ask for."),
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
    runner = open_runner(
        out, observe=observe or (), cache_responses=not no_cache, trusted=allow or ()
    )
    for request in requests:
        checked_classes(request, runner.context)  # a typo ends it before hours of audits
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


def _strongest(report: "Report") -> str:
    return report.sentence(report.findings[0]) or "" if report.findings else "no cue found"
