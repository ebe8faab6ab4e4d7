"""`cuescope run FILE.yaml`: a matrix of methods, models and data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import (
    RUNS,
    Again,
    Allow,
    NoCache,
    Observers,
    Quiet,
    Verbose,
    open_runner,
)
from cuescope.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuescope.conclusions import Report

LEVEL = 0.05  # of false findings, over all audits of a file


def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="YAML; see `cuescope schema`.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the runs.")
    ] = RUNS,
    again: Again = False,
    allow: Allow = None,
    observe: Observers = None,
    no_cache: NoCache = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run the audits of a YAML file; goes on where it stopped."""
    from cuescope.building import Choices, require_openable_data
    from cuescope.cli.terminal import print_table
    from cuescope.matrix import read_matrix
    from cuescope.trust.source import Source

    requests = list(read_matrix(file).requests())
    folder = file.parent.resolve()
    # a run file may be anybody's: it names what lies beside it, or what --allow says
    source = Source(f"the run file {file}", folder, frozenset(allow or ()))
    rows: list[list[str]] = []
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
        for request in requests:
            Choices.of(request, runner.context)  # a typo ends it before hours of audits
        require_openable_data(requests, runner.context)
        for number, request in enumerate(requests, 1):
            if not quiet:
                echo(
                    f"[{number}/{len(requests)}] {request.slug}: {request.command}",
                    err=True,
                )
            try:
                reports[request.slug] = runner.run(request, resume=not again)
            except (
                UserError
            ) as error:  # one that fails must not cost the night's others
                faults[request.slug] = f"failed: {error}"
    holding = dict(zip(reports, lasting_findings(list(reports.values())), strict=True))
    for slug in (request.slug for request in requests):
        if slug in faults:
            cells = [slug, "-", "-", faults[slug]]
        else:
            report = reports[slug]
            cells = [
                slug,
                str(len(report.findings)),
                str(holding[slug]),
                _strongest(report),
            ]
        rows.append(cells)
    columns = ("run", "findings", "of which hold", "the strongest")
    # what differs between runs is at the end
    print_table(columns, rows, "fold")
    if len(reports) > 1:
        echo(
            f"of which hold: {len(reports)} audits share one error budget, so that in those with "
            f"findings at most {LEVEL:.0%} of these are false on average"
        )
    echo(f"{len(reports)} of {len(requests)} reports are in {out}")
    if faults:
        raise typer.Exit(1)


def lasting_findings(reports: "Sequence[Report]") -> list[int]:
    """How many findings of each audit hold when all audits share one error budget.

    Audits are chosen by the p-value that none of their hypotheses is true (Simes, 1986: the lowest
    q-value), and each chosen one has its share of the level (Benjamini and Bogomolov, 2014).
    A finding without a q-value does not take part.
    """
    tested = [
        [s.q_value for s in report.headlines if s.q_value is not None]
        for report in reports
    ]
    lowest = sorted(min(q_values) for q_values in tested if q_values)
    fitting = [n for n, p in enumerate(lowest, 1) if p <= LEVEL * n / len(lowest)]
    level = LEVEL * max(fitting, default=0) / max(len(lowest), 1)
    return [
        sum(s.q_value is None or s.q_value <= level for s in report.findings)
        for report in reports
    ]


def _strongest(report: "Report") -> str:
    return (
        report.sentence(report.findings[0]) or "" if report.findings else "no cue found"
    )
