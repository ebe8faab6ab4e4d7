"""`cuescope runs` and `cuescope open RUN`: which audits were run here, and their pages."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.cli.echo import echo, echo_json
from cuescope.cli.options import RUNS, PrintsJson
from cuescope.errors import UserError, nearest
from cuescope.whole_files import read_whole

DEPTH = 3  # folders below the one that is looked at
# in the head of every page of ours
PAGE_MARK = b'<meta name="generator" content="cuescope">'
HEAD_BYTES = 4096  # the mark stands before style and data


def runs(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the runs are.")
    ] = RUNS,
    as_json: PrintsJson = False,
) -> None:
    """List the runs of a folder with what they found; the newest first."""
    if not folder.is_dir():
        if folder != RUNS:
            raise UserError(f"no folder {folder}", expected="a folder of runs")
        echo(f"There are no runs in {folder} yet: `cuescope demo` makes one.")
        return
    rows = sorted(
        map(_row, report_files(folder)),
        key=lambda row: row["date"],
        reverse=True,
    )
    if as_json:
        echo_json(json.dumps(rows, indent=1))
        return
    if not rows:
        echo(f"There are no runs in {folder}.")
        return
    from cuescope.cli.terminal import print_table

    columns = list(rows[0])
    if all(row["made"] == "here" for row in rows):
        # worth a column where some run is a stranger's
        columns.remove("made")
    cells = [[str(row[column]) for column in columns] for row in rows]
    print_table(columns, cells, "fold")


def report_files(folder: Path) -> list[Path]:
    """The reports in a folder and below it, hidden folders aside."""
    found = []
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        # in place: os.walk goes on with what is left here
        folders[:] = [name for name in folders if name[0] != "." and depth < DEPTH]
        found += [Path(place) / name for name in files if name == "report.json"]
    return found


def _row(file: Path) -> dict[str, Any]:
    """What the list says of a run; one that cannot be read is said to be so."""
    from cuescope.context import cache_folder
    from cuescope.runs import MAX_REPORT_BYTES
    from cuescope.trust.maker import is_signed

    try:
        # no Report: runs of another schema version are listed too
        report = json.loads(read_whole(file, most=MAX_REPORT_BYTES))
        origin = report["provenance"]
        metrics = report["metrics"]
        first = metrics[0]["name"] if metrics else None
        found = [s for s in report["scores"] if s["finding"] and s["metric"] == first]
        specs = {kind: origin[kind]["spec"] for kind in ("method", "model", "data")}
        date = str(origin["started"])[:16].replace("T", " ")
        signature = str(report.get("signature"))
        # by its own word: whoever opens the run compares the seal with the content
        is_own = is_signed(str(report.get("seal")), signature, cache_folder())
        made = "here" if is_own else "elsewhere"
        row = {"run": str(file.parent), **specs, "findings": len(found), "date": date}
        return {**row, "made": made}
    # any file may be called report.json
    except (OSError, ValueError, LookupError, TypeError, RecursionError, UserError):
        unknown = dict.fromkeys(("method", "model", "data", "findings"), "-")
        return {"run": str(file.parent), **unknown, "date": "unreadable", "made": "-"}


def open_page(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run folder, its name, or a page.")
    ],
) -> None:
    """Open the page of a run in the browser, and print where it is."""
    import webbrowser

    page = find_page(run)
    echo(str(page))
    try:
        opened = webbrowser.open(page.resolve().as_uri())
    except webbrowser.Error:
        opened = False
    if not opened:
        echo("cuescope: there is no browser here; open this file in one", err=True)


def find_page(run: Path) -> Path:
    """The HTML page of a run folder, of a run's name in `runs`, or a page that we wrote.

    Raises UserError for a page of anybody else: a browser runs what it says.
    """
    for path in (run, RUNS / run):
        has_report = (path / "report.json").is_file()
        page = path / "report.html" if path.is_dir() else path
        if page.is_file() and page.suffix == ".html":
            if path.is_dir() and not has_report:
                raise UserError(
                    f"{path} is no run folder",
                    expected="report.html beside report.json",
                    got="a page without its report",
                )
            require_own_page(page)
            if path.is_dir():
                _require_true_page(path)
            return page
        if has_report:
            raise UserError(
                f"{path} has no page",
                remedy=f"`cuescope report {path} --html {path / 'report.html'}` writes it",
            )
    known = [str(file.parent) for file in report_files(RUNS)] if RUNS.is_dir() else []
    raise UserError(
        f"no run at {run}",
        expected="a run folder, or its name in runs",
        remedy=nearest(str(run), [*known, *(Path(name).name for name in known)])
        or "`cuescope runs` lists them",
    )


def _require_true_page(run: Path) -> None:
    """Raise UserError for the page of a run that was made elsewhere, or that was changed."""
    from cuescope.context import cache_folder
    from cuescope.runs import RunFolder, source_of
    from cuescope.trust.source import ELSEWHERE

    if not source_of(run, cache_folder()).typed_before:
        raise UserError(
            f"{run} was {ELSEWHERE}",
            got="a page that may hold anything",
            remedy=f"`cuescope report {run} --html FILE` writes one from what its report says",
        )
    # raises where the page is not the one that the report has the digest of
    RunFolder(run).read("report.html")


def require_own_page(page: Path) -> None:
    """Raise UserError for a page that no command of cuescope wrote.

    The mark says what a page is, not whose it is.
    """
    try:
        with page.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise UserError(f"{page} cannot be read", got=error.strerror) from error
    if PAGE_MARK not in head:
        raise UserError(
            f"{page} was not opened",
            expected="a page that cuescope wrote",
            got="a page from elsewhere, which may do anything in a browser",
            remedy="If you trust whom it is from, open it in a browser yourself",
        )
