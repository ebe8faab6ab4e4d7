"""`cuescope run FILE.yaml`: a matrix of methods, models and data sets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from cuescope.building import checked_classes
from cuescope.cli import terminal
from cuescope.cli.options import RUNS, NoCache, Observers, open_runner
from cuescope.errors import UserError
from cuescope.types import Report
from cuescope_sdk.matrix import read_matrix

run = typer.Typer(add_completion=False, rich_markup_mode=None)


@run.command(context_settings={"help_option_names": ["-h", "--help"]})
def audits(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML; see `cuescope schema`.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs.")] = RUNS,
    again: Annotated[bool, typer.Option("--again", help="Redo the audits that are done.")] = False,
    observe: Observers = None,
    no_cache: NoCache = False,
) -> None:
    """Audit a matrix of methods, models and data sets; resumes."""
    requests = list(read_matrix(file).requests())
    runner = open_runner(out, observe=observe or (), cache_responses=not no_cache)
    for request in requests:
        checked_classes(request, runner.context.registry)  # a typo is told before hours of audits
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("run", "findings", "the strongest"):
        table.add_column(column, overflow="fold")  # what differs between runs is at the end
    failed = 0
    for place, request in enumerate(requests, 1):
        typer.echo(f"[{place}/{len(requests)}] {request.slug}: {request.command}", err=True)
        try:
            report = runner.run(request) if again else runner.run(request, resume=True)
        except UserError as error:
            failed += 1
            found, strongest = "-", f"failed: {error}"
        else:
            found, strongest = str(len(report.findings)), _strongest(report)
        table.add_row(*map(Text, (request.slug, found, strongest)))
    terminal.out().print(table)
    typer.echo(f"{len(requests) - failed} of {len(requests)} reports are in {out}")
    if failed:
        raise typer.Exit(1)


def _strongest(report: Report) -> str:
    return report.sentence(report.findings[0]) or "" if report.findings else "no cue found"
