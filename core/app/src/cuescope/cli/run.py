"""`cuescope run FILE`: a matrix of methods, models and data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import (
    Again,
    Allow,
    NoCache,
    Observers,
    PrintsJson,
    Quiet,
    Verbose,
    open_runner,
    runs_folder,
)
from cuescope.cli.paths import output_folder
from cuescope.cli.printing import prints
from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuescope.cli.outputs import MatrixResult
    from cuescope_core.conclusions import Report

LEVEL = 0.05  # of false findings, over all audits of a file


@prints("cuescope.cli.outputs:MatrixResult")
def run(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="YAML or TOML; see `cuescope dev schema`. [default: cuescope.toml]",
        ),
    ] = None,
    out: Annotated[
        Path | None, output_folder("Folder of the runs. [default: runs]")
    ] = None,
    again: Again = False,
    allow: Allow = None,
    observe: Observers = None,
    no_cache: NoCache = False,
    as_json: PrintsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Run the audits of a file; goes on where it stopped."""
    from cuescope.cli.outputs import MatrixResult, MatrixRow
    from cuescope.matrix import read_matrix
    from cuescope.project import allowed_project, project_file
    from cuescope_core.building import Choices, require_openable_data
    from cuescope_core.trust.source import Source

    source = None
    if file is None:
        file = project_file()
        if file is None or allowed_project() is None:
            raise UserError(
                "FILE is missing",
                remedy="Name one, or allow cuescope.toml: cuescope init",
            )
    else:
        # a run file may be anybody's: it names what lies beside it, or what --allow says
        folder = file.parent.resolve()
        source = Source(f"the run file {file}", folder, frozenset(allow or ()))
    matrix = read_matrix(file)
    requests = list(matrix.requests())
    out = out or runs_folder()
    reports: dict[str, Report] = {}
    faults: dict[str, str] = {}
    with open_runner(
        out,
        observe=observe or (),
        cache_responses=not no_cache,
        source=source,
        quiet=quiet,
        verbose=verbose,
    ) as runner:
        # all of them first: the last line of a file would else fail at dawn
        for request in requests:
            Choices.of(request, runner.context)  # a typo ends it before hours of audits
        require_openable_data(requests, runner.context)
        with runner.context.progress("audits", len(requests)) as advance:
            for number, request in enumerate(requests, 1):
                if not quiet:
                    echo(
                        f"[{number}/{len(requests)}] {request.slug}: {request.command}",
                        err=True,
                    )
                try:
                    reports[request.slug] = runner.run(request, resume=not again)
                # one that fails must not cost the night's others
                except UserError as error:
                    faults[request.slug] = f"failed: {error}"
                advance(1)
    # over all audits at once: more audits find more by luck
    holding = dict(zip(reports, lasting_findings(list(reports.values())), strict=True))
    rows = []
    for request in requests:
        slug = request.slug
        if slug in faults:
            rows.append(MatrixRow(run=slug, fault=faults[slug]))
            continue
        report = reports[slug]
        row = MatrixRow(
            run=slug,
            findings=len(report.findings),
            lasting=holding[slug],
            strongest=_strongest(report),
        )
        rows.append(row)
    result = MatrixResult(folder=str(out), runs=tuple(rows))
    if as_json:
        result.show()
    else:
        show_matrix(result)
    if faults:
        # the others are there, but a pipeline must see that one is missing
        raise typer.Exit(1)


def show_matrix(result: "MatrixResult") -> None:
    """Print the rows, and how many of their findings hold together."""
    from cuescope.cli.terminal import print_table

    done = 0
    rows = []
    for row in result.runs:
        if row.fault is not None:
            rows.append([row.run, "-", "-", row.fault])
            continue
        done += 1
        strongest = "no cue found" if row.strongest is None else row.strongest
        rows.append([row.run, str(row.findings), str(row.lasting), strongest])
    # what differs between runs is at the end
    print_table(("run", "findings", "of which hold", "the strongest"), rows, "fold")
    if done > 1:
        echo(
            f"of which hold: {done} audits share one error budget, so that in those with "
            f"findings at most {LEVEL:.0%} of these are false on average"
        )
    echo(f"{done} of {len(result.runs)} reports are in {result.folder}")


def lasting_findings(reports: "Sequence[Report]") -> list[int]:
    """How many findings of each audit hold when all audits share one error budget.

    Audits are chosen by the p-value that none of their hypotheses is true (Simes, 1986: the lowest
    q-value), and each chosen one has its share of the level (Benjamini and Bogomolov, 2014).
    A finding without a q-value does not take part.
    """
    tested = [
        [s.q_value for s in report.headlines if s.q_value is not None]
        # sorted by their lowest: Simes compares the n-th with n times the level
        for report in reports
    ]
    lowest = sorted(min(q_values) for q_values in tested if q_values)
    fitting = [n for n, p in enumerate(lowest, 1) if p <= LEVEL * n / len(lowest)]
    level = LEVEL * max(fitting, default=0) / max(len(lowest), 1)
    return [
        sum(s.q_value is None or s.q_value <= level for s in report.findings)
        for report in reports
    ]


def _strongest(report: "Report") -> str | None:
    return report.sentence(report.findings[0]) or "" if report.findings else None
