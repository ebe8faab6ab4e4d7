"""`cuescope list`: which audits were run here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import PrintsJson, runs_folder
from cuescope.cli.printing import prints
from cuescope_core.errors import UserError


@prints("cuescope.cli.outputs:RunList")
def list_runs(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Where the runs are. [default: runs]"),
    ] = None,
    as_json: PrintsJson = False,
) -> None:
    """List the runs of a folder with what they found; the newest first."""
    from cuescope.cli.outputs import RunList, RunRow

    is_named = folder is not None
    folder = folder or runs_folder()
    if not folder.is_dir():
        if is_named:
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
