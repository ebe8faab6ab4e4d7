"""`cuescope bench quag-runs`: tables of several audits in one, as mean and standard deviation.

Tables 3 and 15 of the paper are of models that were fine-tuned three times.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev

from pydantic import Field

from cuescope_sdk import Cell, Options, Plugin, Report, Table, UserError, load_report

COMBINED = (
    "Accuracy under each condition",
    "Consistent accuracy on complements",
    "Accuracy by video and question",
    "Distance of complements' attention",
)
FIGURE = re.compile(r"-?\d+\.\d+")  # what a cell with an interval or an arrow begins with


class RunsOptions(Options):
    """`cuescope bench quag-runs --runs RUN,RUN,RUN`."""

    runs: tuple[Path, ...] = Field(
        min_length=2,
        description="run folders of QUAG audits of one model, trained with different seeds",
    )


class QUAGRuns(Plugin):
    """The figures of each audit, as mean and standard deviation over the runs."""

    Options = RunsOptions
    options: RunsOptions

    def run(self) -> Iterator[Table]:
        """A table for each that all of the reports have."""
        reports = [load_report(run.expanduser()) for run in self.options.runs]
        require_alike(self.options.runs, reports)
        for title in COMBINED:
            tables = [
                table
                for report in reports
                for table in report.tables
                if table.title[: len(title)] == title
            ]
            if len(tables) == len(reports):
                yield combine(tables)


def require_alike(runs: Sequence[Path], reports: Sequence[Report]) -> None:
    """Raises UserError for runs that are not of QUAG, of one data set, or of different weights."""
    stamps = [report.provenance for report in reports]
    for run, stamp in zip(runs, stamps, strict=True):
        if stamp.method.spec.partition(":")[0] != "quag":
            raise UserError(f"quag-runs: {run}", expected="an audit of quag", got=stamp.method.spec)
        if stamp.data.fingerprint != stamps[0].data.fingerprint:
            raise UserError(
                f"quag-runs: {run} and {runs[0]} are of different data",
                expected="the same samples in all runs",
                got=f"{stamp.data.spec} and {stamps[0].data.spec}",
            )
    weights = [stamp.model.fingerprint for stamp in stamps]
    for place, run in enumerate(runs):
        if (first := weights.index(weights[place])) < place:
            raise UserError(
                f"quag-runs: {run} and {runs[first]} are of the same weights",
                expected="a training of its own for each run",
            )


def combine(tables: Sequence[Table]) -> Table:
    """One table of several with the same rows; raises UserError where they have others."""
    first = tables[0]
    name = first.columns[0]
    names = [[row[name] for row in table.rows] for table in tables]
    if any(table.columns != first.columns for table in tables) or any(n != names[0] for n in names):
        raise UserError(
            f"quag-runs: the runs have other rows or columns in '{first.title}'",
            expected="audits with the same options",
        )
    rows: list[dict[str, Cell]] = []
    for of_runs in zip(*(table.rows for table in tables), strict=True):
        cells = {
            c: _combined([row.get(c) for row in of_runs], first.decimals) for c in first.columns
        }
        rows.append(cells)
    return Table(
        title=first.title,
        columns=first.columns,
        rows=tuple(rows),
        paper=first.paper,
        notes=(
            f"Mean \N{PLUS-MINUS SIGN} standard deviation over {len(tables)} runs (divided by "
            f"{len(tables) - 1})." + (" In brackets: the paper's mean." if first.paper else ""),
        ),
        decimals=first.decimals,
    )


def _combined(cells: Sequence[Cell], decimals: int) -> Cell:
    """Figures as mean and deviation, equal words and counts as they are, others not at all."""
    figures = [_figure(cell) for cell in cells]
    known = [figure for figure in figures if figure is not None]
    if len(known) == len(cells):
        both = mean(known), stdev(known)
        return " \N{PLUS-MINUS SIGN} ".join(f"{value:.{decimals}f}" for value in both)
    return cells[0] if all(cell == cells[0] for cell in cells) else None


def _figure(cell: Cell) -> float | None:
    """The figure of a cell; None of a count, words or nothing."""
    if isinstance(cell, float):
        return cell
    match = FIGURE.match(cell) if isinstance(cell, str) else None
    return None if match is None else float(match[0])
