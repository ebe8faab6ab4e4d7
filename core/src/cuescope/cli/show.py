"""`cuescope show RUN`: look at a stored report again."""

import warnings
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import AsJson, Pairs, Verbose, is_made_here
from cuescope.cli.paths import file_of_run, page_file
from cuescope.cli.program import program


def show(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run folder or report.json.")
    ],
    cue: Annotated[
        str | None,
        typer.Option(metavar="N", help="One finding, by its number or name."),
    ] = None,
    html: Annotated[
        Path | None,
        page_file("Write the page with the pictures here.", own=("report.html",)),
    ] = None,
    name: Annotated[
        Pairs,
        typer.Option(
            metavar="KEY=WORDS",
            help="What a cue is called from now on, in reports, comparisons and the view.",
        ),
    ] = None,
    as_json: AsJson = False,
    verbose: Verbose = 0,
) -> None:
    """Show a stored report, or write its HTML page."""
    from cuescope.cli.terminal import stdout
    from cuescope.cue_names import give_names, read_names, renamed
    from cuescope.report.html import render
    from cuescope.report.own_pages import write_page
    from cuescope.report.terminal import show as show_report
    from cuescope_core.findings import find_cue
    from cuescope_core.runs import RunFolder, load_report, run_around
    from cuescope_core.spec import pairs

    stored = load_report(run)
    folder = RunFolder(run if run.is_dir() else run.parent)
    if name:
        give_names(folder.path, stored, pairs("--name", name))
    stored = renamed(stored, read_names(folder.path))
    is_made_here(run)  # says so where it is not
    if cue is not None:
        stored = stored.model_copy(update={"cues": (find_cue(stored, cue),)})
    if html is not None:
        around = run_around(html)
        if around is not None and not around.samefile(folder.path):
            raise file_of_run("--html", html, around)
        write_page(html, render(stored, folder.pictures(stored), str(folder.path)))
        echo(f"wrote {html}")
    elif as_json:
        echo_json(stored.model_dump_json(indent=1))
    else:
        show_report(stored, stdout(), str(folder.path), program(), verbose)


@wraps(show)
def report(**words: Any) -> None:
    """Show a stored report by the name that the command had before."""
    warnings.warn(
        "use `cuescope show`, `cuescope report` ends in 0.3",
        FutureWarning,
        stacklevel=1,
    )
    show(**words)
