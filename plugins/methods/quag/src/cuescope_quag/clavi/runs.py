"""`cuescope dev bench quag-runs`: tables of several audits in one, as mean and standard deviation.

Tables 3 and 15 of the paper are of models that were fine-tuned three times.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import mean, stdev

from pydantic import Field

from cuescope_sdk import Cell, Options, Plugin, Report, StoredRun, Table, UserError
from cuescope_sdk.report import count_of

COMBINED = (
    "Accuracy under each condition",
    "Consistent accuracy on complements",
    "Accuracy by video and question",
    "Distance of complements' attention",
)
# what a cell with an interval or an arrow begins with
FIGURE = re.compile(r"-?\d+\.\d+")


class RunsOptions(Options):
    """`cuescope dev bench quag-runs --runs RUN,RUN,RUN`."""

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
        reports = [StoredRun(run.expanduser()).report for run in self.options.runs]
        require_alike(self.options.runs, reports)
        for title in COMBINED:
            every = chain.from_iterable(report.tables for report in reports)
            # a title may go on, as with ", %"
            tables = [table for table in every if table.title.startswith(title)]
            # what one run lacks has no mean over all runs
            if len(tables) == len(reports):
                yield combine(tables)


def require_alike(runs: Sequence[Path], reports: Sequence[Report]) -> None:
    """Raises UserError for runs that are not of QUAG, of one data set, or of different weights."""
    first = reports[0].provenance
    by_weights: dict[str | None, Path] = {}
    for run, report in zip(runs, reports, strict=True):
        stamp = report.provenance
        if stamp.method.spec.partition(":")[0] != "quag":
            raise UserError(
                f"quag-runs: {run}",
                expected="an audit of quag",
                got=stamp.method.spec,
            )
        if stamp.data.fingerprint != first.data.fingerprint:
            raise UserError(
                f"quag-runs: {run} and {runs[0]} are of different data",
                expected="the same samples in all runs",
                got=f"{stamp.data.spec} and {first.data.spec}",
            )
        # one training counted twice would make the deviation too small
        twin = by_weights.get(stamp.model.fingerprint)
        if twin is not None:
            raise UserError(
                f"quag-runs: {run} and {twin} are of the same weights",
                expected="a training of its own for each run",
            )
        by_weights[stamp.model.fingerprint] = run


def combine(tables: Sequence[Table]) -> Table:
    """One table of several with the same rows; raises UserError where they have others."""
    first = tables[0]
    names = _row_names(first)
    for table in tables:
        if table.columns != first.columns or _row_names(table) != names:
            raise UserError(
                f"quag-runs: the runs have other rows or columns in '{first.title}'",
                expected="audits with the same options",
            )
    rows = []
    for of_runs in zip(*(table.rows for table in tables), strict=True):
        cells: dict[str, Cell] = {}
        for column in first.columns:
            cells[column] = _combine_cells(
                [row.get(column) for row in of_runs], first.decimals
            )
        rows.append(cells)
    note = (
        f"Mean \N{PLUS-MINUS SIGN} standard deviation over {count_of(len(tables), 'runs')} "
        "(divided by "
        f"{len(tables) - 1})."
    )
    if first.paper:
        note += " In brackets: the paper's mean."
    # its notes are of one run, and name figures of that run
    return first.model_copy(update={"rows": tuple(rows), "notes": (note,)})


def _row_names(table: Table) -> list[Cell]:
    return [row[table.columns[0]] for row in table.rows]


def _combine_cells(cells: Sequence[Cell], decimals: int) -> Cell:
    """Figures as mean and deviation, equal words and counts as they are, others not at all."""
    figures = [figure for figure in map(_figure, cells) if figure is not None]
    if len(figures) == len(cells):
        deviation = f"{stdev(figures):.{decimals}f}"
        return f"{mean(figures):.{decimals}f} \N{PLUS-MINUS SIGN} {deviation}"
    return cells[0] if len(set(cells)) == 1 else None


def _figure(cell: Cell) -> float | None:
    """The figure of a cell; None of a count, words or nothing."""
    if isinstance(cell, float):
        return cell
    match = FIGURE.match(cell) if isinstance(cell, str) else None
    return None if match is None else float(match[0])
