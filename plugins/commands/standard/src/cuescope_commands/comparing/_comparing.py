"""Runs side by side: tables of what differs, and pictures of answers that flipped."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cuescope.application import (
    OutputFile,
    Runner,
    bench_page,
    is_made_here,
    write_atomically,
)
from cuescope_commands.comparing._consensus import consensus_tables
from cuescope_commands.comparing._pairs import Pairs
from cuescope_commands.comparing._pictures import flipped_samples
from cuescope_commands.comparing._runs import Run, Runs, load_runs
from cuescope_commands.comparing._tables import (
    changes,
    settings,
    unlike,
    unpaired_table,
    verdicts,
)
from cuescope_commands.outputs import Comparison
from cuescope_sdk import Context, Picture, StoredRun, Table, UserError

PAGES = (".html", ".htm")


def compare(
    runner: Runner,
    *,
    runs: Sequence[Path],
    consensus: bool = False,
    by_name: bool = False,
    html: Annotated[Path | None, OutputFile(*PAGES)] = None,
    data: str | None = None,
    data_options: Mapping[str, Any] | None = None,
    allow: Sequence[str] = (),
) -> Comparison:
    """Tables of several runs side by side; a page has the pictures whose answers flipped.

    What a run names outside of its folder is opened only as given here, or allowed.
    """
    if len(runs) < 2:
        raise UserError(
            "compare",
            expected="two runs or more",
            got=str(len(runs)),
            remedy="`cuescope compare RUN RUN` names both; `cuescope list` lists yours",
        )
    # a consensus shows no pictures, so the data stay closed
    shows_pictures = html is not None and not consensus
    if (data or data_options) and not shows_pictures:
        raise UserError(
            "compare --data is for the pictures of a page",
            expected="it with --html FILE, and without --consensus",
        )
    loaded = load_runs(list(runs))
    for run in runs:
        # a report by mail is somebody's word: this says so, and goes on (docs/adr/0021)
        is_made_here(run)
    context = None
    if shows_pictures:
        context = _open_data(runner, data, data_options or {}, allow)
    items = list(_items(loaded, consensus, context, by_name=by_name))
    if html is not None:
        # the page says by which words it was made
        flag = ["--consensus"] if consensus else []
        line = shlex.join(["cuescope", "compare", *flag, *map(str, runs)])
        write_atomically(html, bench_page.render("comparison of runs", items, line))
    return Comparison(tables=tuple(item for item in items if isinstance(item, Table)))


def _open_data(
    runner: Runner,
    data: str | None,
    options: Mapping[str, Any],
    allow: Sequence[str],
) -> Context:
    """A context with the data set that a person named, if any."""
    if options and data is None:
        raise UserError("-O data.without --data", remedy="Add --data SPEC")
    context = replace(runner.context, allowed=frozenset(allow))
    if data is None:
        return context
    return context.for_dataset(context.build("dataset", data, options))


def _items(
    runs: Runs,
    consensus: bool,
    context: Context | None,
    *,
    by_name: bool,
) -> Iterator[Table | Picture]:
    """Tables, and with a `context` to open the data in, pictures too."""
    yield settings(runs)
    if consensus:
        yield from consensus_tables(runs)
        return
    yield from verdicts(runs)
    for run in runs[1:]:
        yield from _pair_items(runs[0], run, context, by_name=by_name)


def _pair_items(
    first: Run,
    second: Run,
    context: Context | None,
    *,
    by_name: bool,
) -> Iterator[Table | Picture]:
    """The paired answers of two runs; why not, where they cannot be paired."""
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
            context.announce(f"no pictures: {fault}")
