"""`cuescope compare RUN RUN ...`: models or methods side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.options import AsJson

if TYPE_CHECKING:
    from cuescope.types import Report


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN ...", help="Run folders.")],
    as_json: AsJson = False,
) -> None:
    """Show the cues of several runs side by side."""
    import json

    from rich.table import Table
    from rich.text import Text

    from cuescope.cli.terminal import out
    from cuescope.errors import UserError
    from cuescope.store import load_report

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


def _head(report: "Report") -> dict[str, str]:
    asked = report.provenance
    return {"method": asked.method.spec, "model": asked.model.spec, "data": asked.data.spec}


def comparison(reports: list["Report"]) -> dict[str, list[str | None]]:
    """Label -> the strongest finding in each report, None where it has none."""
    labels = dict.fromkeys(label for report in reports for label in report.provenance.labels)
    return {label: [_strongest(report, label) for report in reports] for label in labels}


def _strongest(report: "Report", label: str) -> str | None:
    from cuescope.report.bars import figure

    of_label = (score for score in report.findings if score.label == label)
    words = (f"{report.names[score.feature]} {figure(score.value)}" for score in of_label)
    return next(words, None)
