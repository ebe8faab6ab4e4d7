"""`cuescope compare RUN RUN ...`: what differs between runs, and whether it is more than chance."""

import json
import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.application import (
    Allow,
    DataOptions,
    TypedData,
    announce,
    echo_json,
    is_made_here,
    typed_context,
)
from cuescope_sdk import UserError

if TYPE_CHECKING:
    from cuescope_sdk import Context, Picture, Report, Table

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN ...", help="Run folders.")],
    consensus: Annotated[
        bool,
        typer.Option("--consensus", help="Labels and cues found by all, some or none of the runs."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with the pictures here.")
    ] = None,
    data: TypedData = None,
    data_option: DataOptions = None,
    allow: Allow = None,
) -> None:
    """Show several runs side by side; the answers of each are paired with the first run's.

    Samples are paired by their keys. Intervals and p-values are those of paired answers, count
    groups of samples as drawn together, and are corrected for all rows of a table.
    """
    from rich.text import Text

    from cuescope.application import bench_page, render_table, stdout, write_atomically
    from cuescope_sdk import Table, load_report

    if len(runs) < 2:
        raise UserError("compare", expected="two runs or more", got=str(len(runs)))
    reports = [load_report(run) for run in runs]
    for run in runs:
        is_made_here(run)
    if consensus:
        items = list(_agreed(runs, reports))
    else:
        context = typed_context(data, data_option, allow) if html is not None else None
        items = list(_items(runs, reports, context))
    tables = [item for item in items if isinstance(item, Table)]
    if as_json:
        echo_json(json.dumps({table.title: list(table.rows) for table in tables}, indent=1))
    else:
        for table in tables:
            stdout().print(Text(table.title, "bold"), render_table(table))
    if html is not None:
        flag = ["--consensus"] * consensus
        line = shlex.join(["cuescope", "compare", *flag, *map(str, runs)])
        write_atomically(html, bench_page.render("comparison of runs", items, line))
        if not as_json:
            stdout().print(Text(f"wrote {html}", "dim"))


def _agreed(runs: Sequence[Path], reports: Sequence["Report"]) -> "Iterator[Table | Picture]":
    from cuescope_commands.comparing._consensus import consensus
    from cuescope_commands.comparing._pairs import plain_accuracy
    from cuescope_commands.comparing._tables import settings

    names = _names(runs)
    yield settings(names, reports, [plain_accuracy(run) for run in runs])
    yield from consensus(names, runs, reports)


def _items(
    runs: Sequence[Path], reports: Sequence["Report"], context: "Context | None"
) -> Iterator["Table | Picture"]:
    """Tables, and with a `context` to open the data in, pictures too."""
    from cuescope.application import open_samples
    from cuescope_commands.comparing._pairs import pair_answers, plain_accuracy
    from cuescope_commands.comparing._pictures import flipped_samples
    from cuescope_commands.comparing._tables import changes, not_paired, settings, verdicts

    names = _names(runs)
    yield settings(names, reports, [plain_accuracy(run) for run in runs])
    yield from verdicts(names, reports)
    for position in range(1, len(runs)):
        both = (names[0], names[position]), (reports[0], reports[position])
        try:
            pairs = pair_answers(runs[0], runs[position])
        except UserError as fault:  # what the reports say can be compared all the same
            yield not_paired(both[0], str(fault))
            continue
        yield changes(*both, pairs)
        if context is None:
            continue
        try:
            yield from flipped_samples(*both, pairs, partial(open_samples, runs[0], context))
        except UserError as fault:  # the tables stand without them
            announce(f"no pictures: {fault}")


def _names(runs: Sequence[Path]) -> list[str]:
    """The folders' own names, or their whole paths where two are alike."""
    names = sorted(run.name for run in runs)
    twice = any(first == second for first, second in pairwise(names))
    return [str(run) if twice else run.name for run in runs]
