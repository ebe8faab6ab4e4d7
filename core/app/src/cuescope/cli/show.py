"""`cuescope show RUN`: look at a stored report again, or at its page."""

from pathlib import Path
from typing import Annotated

import typer

from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import AsJson, Pairs, Verbose, is_made_here, runs_folder
from cuescope.cli.paths import file_of_run, page_file
from cuescope.cli.printing import prints
from cuescope.cli.program import program
from cuescope_core.atomic_files import write_atomically
from cuescope_core.errors import UserError, nearest


@prints("cuescope_core.conclusions:Report", "cuescope.cli.outputs:OpenedPage")
def show(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Run folder or report.json."),
    ],
    page: Annotated[
        bool, typer.Option("--page", help="Open its page in the browser.")
    ] = False,
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
    """Show a stored report, or its page."""
    if page:
        _open_page(run, as_json=as_json)
        return
    from cuescope.cli.terminal import stdout
    from cuescope.cue_names import give_names, read_names, renamed
    from cuescope.report.html import render
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
        write_atomically(
            html, render(stored, folder.pictures(stored), str(folder.path))
        )
        echo(f"wrote {html}")
    elif as_json:
        echo_json(stored.model_dump_json(indent=1))
    else:
        show_report(stored, stdout(), str(folder.path), program(), verbose)


def _open_page(run: Path, *, as_json: bool) -> None:
    """Open the page of a run in the browser, and print where it is."""
    import webbrowser

    page = find_page(run)
    if not as_json:
        echo(str(page))
    try:
        opened = webbrowser.open(page.resolve().as_uri())
    except webbrowser.Error:
        opened = False
    if as_json:
        from cuescope.cli.outputs import OpenedPage

        OpenedPage(page=str(page), opened=opened).show()
    elif not opened:
        echo("cuescope: there is no browser here; open this file in one", err=True)


def find_page(run: Path) -> Path:
    """The HTML page of a run folder, or of a run's name in `runs`.

    Raises UserError for a page of anybody else: a browser runs what it says.
    """
    from cuescope.report.own_pages import command_for_page, require_own_page
    from cuescope_core.runs import own_file

    folder = runs_folder()
    for path in (run, folder / run):
        if not (path / "report.json").is_file():
            continue
        page = own_file(path, "report.html")
        if not page.is_file():
            raise UserError(
                f"{path} has no page",
                remedy=f"`{command_for_page(path, path / 'report.html')}` writes it",
            )
        require_own_page(path)
        return page
    from cuescope.report.listing import report_files

    files = report_files(folder) if folder.is_dir() else []
    known = [str(file.parent) for file in files]
    raise UserError(
        f"no run at {run}",
        expected="a run folder, or its name in runs",
        remedy=nearest(str(run), [*known, *(Path(name).name for name in known)])
        or "`cuescope list` lists them",
    )
