"""`cuescope dev bench NAME [--option value ...]`: a paper's own table or figure, redone."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cuescope.cli.options import (
    Again,
    Device,
    DrawSeed,
    PrintsJson,
    Quiet,
    Verbose,
    announce,
    complete,
    verbosity,
)
from cuescope.cli.paths import page_file
from cuescope.cli.printing import prints
from cuescope_core.atomic_files import write_atomically
from cuescope_core.errors import UserError

# a bench's own options are known once it is imported: typer lets them through


@prints("cuescope.cli.outputs:BenchResult")
def bench(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Bench plugin.",
            autocompletion=complete("names", "bench"),
        ),
    ],
    seed: DrawSeed = 0,
    device: Device = "auto",
    again: Again = False,
    as_json: PrintsJson = False,
    html: Annotated[
        Path | None,
        page_file("Write a page with the pictures here."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Redo a paper's table or figure.

    The bench's own options follow as --option value; `cuescope plugins info NAME` lists them.
    """
    from cuescope.cli.outputs import BenchResult
    from cuescope.cli.progress import Bars
    from cuescope.cli.terminal import stdout
    from cuescope.report import bench_page
    from cuescope.report.tables import render_table
    from cuescope.report.words import Words
    from cuescope_core.conclusions import Table
    from cuescope_core.context import Context, ignore

    context = Context(
        seed=seed,
        device=device,
        progress=Bars(verbosity(quiet, verbose)),
        resume=not again,
        announce=ignore if quiet else announce,
    )
    items = []
    # as texts: the bench's own Options read and check them
    for item in context.build("bench", name, free_options(ctx.args)).run():
        items.append(item)  # printed as they come: a bench takes hours
        if as_json:
            continue
        if isinstance(item, Table):
            stdout().print(Words(item.title, "bold"), render_table(item))
        elif html is None:
            stdout().print(
                Words(item.title, "bold"),
                Words("--html FILE.html shows this picture.", "dim"),
            )
    if as_json:
        tables = [item for item in items if isinstance(item, Table)]
        pictures = [item for item in items if not isinstance(item, Table)]
        BenchResult(bench=name, tables=tuple(tables), pictures=tuple(pictures)).show()
    if html is not None:
        # with the seed even where it is the default: the page says how to make it again
        command = shlex.join(
            ["cuescope", "dev", "bench", name, "--seed", str(seed), *ctx.args]
        )
        write_atomically(html, bench_page.render(name, items, command))
        if not as_json:
            stdout().print(Words(f"wrote {html}", "dim"))


def free_options(words: Sequence[str]) -> dict[str, str]:
    """`--key value`, `--key=value` and bare `--flag` as a mapping."""
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            raise UserError(f"bench: '{word}'", expected="--option value")
        key, equals, value = word[2:].partition("=")
        if not equals:
            # a flag: the next word is another option, or there is none
            value = "true" if not rest or rest[0].startswith("--") else rest.pop(0)
        options[key.replace("-", "_")] = value  # options are Python names
    return options
