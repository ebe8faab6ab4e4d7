"""`cuescope compare RUN RUN ...`: models or methods side by side."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from cuescope.cli.options import AsJson
from cuescope.cli.terminal import out
from cuescope.errors import UserError
from cuescope.report.bars import figure
from cuescope.store import load_report
from cuescope.types import Report

compare = typer.Typer(add_completion=False, rich_markup_mode=None)


@compare.command(context_settings={"help_option_names": ["-h", "--help"]})
def run(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN ...", help="Run folders.")],
    as_json: AsJson = False,
) -> None:
    """Show the cues of several runs side by side."""
    if len(runs) < 2:
        raise UserError("compare", expected="two runs or more", got=str(len(runs)))
    reports = [load_report(run) for run in runs]
    rows = comparison(reports)
    if as_json:
        named = [{"run": str(run), **_head(r)} for run, r in zip(runs, reports, strict=True)]
        typer.echo(json.dumps({"runs": named, "labels": rows}, indent=1))
        return
    table = Table("label", box=None, padding=(0, 2, 0, 0))
    for run, report in zip(runs, reports, strict=True):
        table.add_column(Text("\n".join([run.name, *_head(report).values()])))
    table.add_row("findings", *[str(len(report.findings)) for report in reports])
    for label, cells in rows.items():
        table.add_row(label, *[cell or "-" for cell in cells])
    out().print(table)


def _head(report: Report) -> dict[str, str]:
    asked = report.provenance
    return {"method": asked.method.spec, "model": asked.model.spec, "data": asked.data.spec}


def comparison(reports: list[Report]) -> dict[str, list[str | None]]:
    """Label -> the strongest finding in each report, None where it has none."""
    labels = dict.fromkeys(label for report in reports for label in report.provenance.labels)
    return {label: [_strongest(report, label) for report in reports] for label in labels}


def _strongest(report: Report, label: str) -> str | None:
    of_label = (score for score in report.findings if score.label == label)
    words = (f"{report.names[score.feature]} {figure(score.value)}" for score in of_label)
    return next(words, None)
