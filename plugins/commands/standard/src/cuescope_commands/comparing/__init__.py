"""`cuescope compare RUN RUN ...`: what differs between runs, and whether it is more than chance."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.application import (
    Allow,
    DataOptions,
    PrintsJson,
    TypedData,
    announce,
    is_made_here,
    open_context,
    page_file,
    prints,
)
from cuescope_sdk import UserError

if TYPE_CHECKING:
    # for types alone: numpy and scipy load with the command, not with its help
    from cuescope_commands.comparing._runs import Run, Runs
    from cuescope_sdk import Context, Picture, Table

command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints("cuescope_commands.outputs:Comparison")
def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN ...", help="Run folders.")
    ],
    consensus: Annotated[
        bool,
        typer.Option(
            "--consensus",
            help="Labels and cues found by all, some or none of the runs.",
        ),
    ] = False,
    by_name: Annotated[
        bool,
        typer.Option(
            "--by-name",
            help="Pair samples of one name also where their pictures differ.",
        ),
    ] = False,
    as_json: PrintsJson = False,
    html: Annotated[
        Path | None,
        page_file("Write a page with the pictures here."),
    ] = None,
    data: TypedData = None,
    data_option: DataOptions = None,
    allow: Allow = None,
) -> None:
    """Show several runs side by side; the answers of each are paired with the first run's.

    Samples are paired by their keys, and must show the same pictures. Intervals and p-values are
    those of paired answers, and count groups of samples as drawn together.
    """
    from cuescope.application import Words, bench_page, render_table, stdout, write_page
    from cuescope_commands.comparing._runs import load_runs
    from cuescope_commands.outputs import Comparison
    from cuescope_sdk import Table

    if len(runs) < 2:
        raise UserError(
            "compare",
            expected="two runs or more",
            got=str(len(runs)),
            remedy="`cuescope compare RUN RUN` names both; `cuescope runs` lists yours",
        )
    # a consensus shows no pictures, so the data stay closed
    shows_pictures = html is not None and not consensus
    if (data or data_option) and not shows_pictures:
        raise UserError(
            "compare --data is for the pictures of a page",
            expected="it with --html FILE, and without --consensus",
        )
    loaded = load_runs(runs)
    for run in runs:
        # a report by mail is somebody's word: this says so, and goes on (docs/adr/0021)
        is_made_here(run)
    context = None
    if shows_pictures:
        # what a run names outside of its folder is opened only as typed or allowed here
        context = open_context(data, data_option, allow)
    items = list(_items(loaded, consensus, context, by_name=by_name))
    tables = [item for item in items if isinstance(item, Table)]
    if as_json:
        Comparison(tables=tuple(tables)).show()
    else:
        for table in tables:
            stdout().print(Words(table.title, "bold"), render_table(table))
    if html is not None:
        # the page says by which words it was made
        flag = ["--consensus"] if consensus else []
        line = shlex.join(["cuescope", "compare", *flag, *map(str, runs)])
        write_page(html, bench_page.render("comparison of runs", items, line))
        # standard output is JSON alone then
        if not as_json:
            stdout().print(Words(f"wrote {html}", "dim"))


def _items(
    runs: "Runs",
    consensus: bool,
    context: "Context | None",
    *,
    by_name: bool,
) -> Iterator["Table | Picture"]:
    """Tables, and with a `context` to open the data in, pictures too."""
    from cuescope_commands.comparing._consensus import consensus_tables
    from cuescope_commands.comparing._tables import settings, verdicts

    yield settings(runs)
    if consensus:
        yield from consensus_tables(runs)
        return
    yield from verdicts(runs)
    for run in runs[1:]:
        yield from _pair_items(runs[0], run, context, by_name=by_name)


def _pair_items(
    first: "Run",
    second: "Run",
    context: "Context | None",
    *,
    by_name: bool,
) -> Iterator["Table | Picture"]:
    """The paired answers of two runs; why not, where they cannot be paired."""
    from cuescope_commands.comparing._pairs import Pairs
    from cuescope_commands.comparing._pictures import flipped_samples
    from cuescope_commands.comparing._tables import changes, unlike, unpaired_table
    from cuescope_sdk import StoredRun

    try:
        pairs = Pairs(first.answers, second.answers, by_name=by_name)
        refusal = unlike(first, second, pairs)
    except UserError as fault:  # what the reports say can be compared all the same
        refusal = str(fault)
    if refusal:
        yield unpaired_table(first, second, refusal)
        return
    yield changes(first, second, pairs)
    if context is not None:
        try:
            samples = StoredRun(first.folder, context).samples
            yield from flipped_samples(first.name, second.name, pairs, samples)
        except UserError as fault:  # the tables stand without them
            announce(f"no pictures: {fault}")
