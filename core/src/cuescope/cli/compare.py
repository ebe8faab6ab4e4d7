"""`cuescope compare RUN RUN ...`: models or methods side by side."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo_json
from cuescope.cli.options import AsJson
from cuescope.errors import UserError

if TYPE_CHECKING:
    from cuescope.types import Report, Score

Rows = dict[str, list[str | None]]


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN ...", help="Run folders.")],
    as_json: AsJson = False,
) -> None:
    """Show the findings of several runs side by side."""
    from rich.table import Table
    from rich.text import Text

    from cuescope.cli.terminal import stdout
    from cuescope.runs import load_report

    if len(runs) < 2:
        raise UserError("compare", expected="two runs or more", got=str(len(runs)))
    reports = [load_report(run) for run in runs]
    facts, labels, features = verdicts(reports), strongest(reports), about_no_label(reports)
    if as_json:
        heads = [{"run": str(run), **_head(r)} for run, r in zip(runs, reports, strict=True)]
        echo_json(json.dumps({"runs": heads, "labels": labels, "features": features}, indent=1))
        return
    table = Table("", box=None, padding=(0, 2, 0, 0))
    for run, report in zip(runs, reports, strict=True):
        table.add_column(Text("\n".join([run.name, *_head(report).values()]), overflow="fold"))
    table.add_row("findings", *[str(len(report.findings)) for report in reports])
    for name, cells in (facts | labels | features).items():
        table.add_row(*map(Text, (name, *(cell or "-" for cell in cells))))
    stdout().print(table)


def _head(report: "Report") -> dict[str, str]:
    origin = report.provenance
    return {"method": origin.method.spec, "model": origin.model.spec, "data": origin.data.spec}


def verdicts(reports: Sequence["Report"]) -> Rows:
    """What a method says of the model as a whole, where any does."""
    of_runs = [report.notes.get("verdict") for report in reports]
    return {"verdict": of_runs} if any(of_runs) else {}


def strongest(reports: Sequence["Report"]) -> Rows:
    """Label -> the strongest finding about it in each report, None where there is none."""
    if all(score.label is None for report in reports for score in report.findings):
        return {}
    labels = dict.fromkeys(label for report in reports for label in report.provenance.labels)
    return {label: [_strongest(report, label) for report in reports] for label in labels}


def about_no_label(reports: Sequence["Report"]) -> Rows:
    """Feature -> its headline figure in each report, of those that are about no one label."""
    of_runs = [
        {report.names[s.feature]: _figure(s) for s in report.headlines if s.label is None}
        for report in reports
    ]
    names = dict.fromkeys(name for of_run in of_runs for name in of_run)
    return {name: [of_run.get(name) for of_run in of_runs] for name in names}


def _strongest(report: "Report", label: str) -> str | None:
    from cuescope.report.bars import figure

    of_label = (score for score in report.findings if score.label == label)
    words = (f"{report.names[score.feature]} {figure(score.value)}" for score in of_label)
    return next(words, None)


def _figure(score: "Score") -> str | None:
    """With its interval, and a star where it is a finding."""
    from cuescope.report.bars import figure

    if score.value is None:
        return None
    bounds = score.low is not None and score.high is not None
    interval = f" [{figure(score.low)}, {figure(score.high)}]" if bounds else ""
    return f"{figure(score.value)}{interval}{' *' * score.finding}"
