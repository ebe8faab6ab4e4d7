"""`cuescope runs` and `cuescope open RUN`: which audits were run here, and their pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import RUNS, PrintsJson
from cuescope.cli.printing import prints
from cuescope_core.errors import UserError, nearest


@prints("cuescope.cli.outputs:RunList")
def runs(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the runs are.")
    ] = RUNS,
    as_json: PrintsJson = False,
) -> None:
    """List the runs of a folder with what they found; the newest first."""
    from cuescope.cli.outputs import RunList, RunRow

    if not folder.is_dir():
        if folder != RUNS:
            raise UserError(f"no folder {folder}", expected="a folder of runs")
        if as_json:
            RunList(runs=()).show()
            return
        echo(f"There are no runs in {folder} yet: `cuescope demo` makes one.")
        return
    from cuescope.report.listing import list_run, report_files

    rows = [list_run(file).row for file in report_files(folder)]
    rows.sort(key=lambda row: str(row["date"]), reverse=True)
    if as_json:
        RunList(runs=tuple(RunRow(**row) for row in rows)).show()
        return
    if not rows:
        echo(f"There are no runs in {folder}.")
        return
    # worth a word where some run is a stranger's
    strangers = any(row["made"] == "elsewhere" for row in rows)
    for row in rows:
        # a line of its own, and never folded: a folder is there to be copied
        echo(row["run"])
        for words in _words(row, strangers=strangers):
            echo(f"    {words}")


def _words(row: dict[str, Any], *, strangers: bool) -> Iterator[str]:
    """Lines below the folder of a run."""
    if not isinstance(row["findings"], int):
        yield f"{row['date']}: {row['fault']}"  # unreadable
        return
    made = f", made {row['made']}" if strangers else ""
    yield f"{row['date']}  {row['method']}: {row['model']} on {row['data']}{made}"
    yield row["verdict"] or "No cue found."


@prints("cuescope.cli.outputs:OpenedPage")
def open_page(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run folder, its name, or a page.")
    ],
    as_json: PrintsJson = False,
) -> None:
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
    """The HTML page of a run folder, of a run's name in `runs`, or a page that we wrote.

    Raises UserError for a page of anybody else: a browser runs what it says.
    """
    from cuescope.report.own_pages import command_for_page, require_own_page
    from cuescope_core.runs import own_file

    for path in (run, RUNS / run):
        has_report = (path / "report.json").is_file()
        page = own_file(path, "report.html") if path.is_dir() else path
        if page.is_file() and page.suffix == ".html":
            if path.is_dir() and not has_report:
                raise UserError(
                    f"{path} is no run folder",
                    expected="report.html beside report.json",
                    got="a page without its report",
                )
            require_own_page(page)
            return page
        if has_report:
            raise UserError(
                f"{path} has no page",
                remedy=f"`{command_for_page(path, path / 'report.html')}` writes it",
            )
    from cuescope.report.listing import report_files

    known = [str(file.parent) for file in report_files(RUNS)] if RUNS.is_dir() else []
    raise UserError(
        f"no run at {run}",
        expected="a run folder, or its name in runs",
        remedy=nearest(str(run), [*known, *(Path(name).name for name in known)])
        or "`cuescope runs` lists them",
    )
