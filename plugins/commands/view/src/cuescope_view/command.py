"""`cuescope view`: serve the page over the folder of runs, until Ctrl-C."""

import os
import secrets
import socket
import sys
from contextlib import suppress
from html import escape
from pathlib import Path
from tempfile import mkstemp
from typing import Annotated

import typer

from cuescope.application import RUNS, PrintsJson, echo, prints
from cuescope_sdk import UserError

command = typer.Typer(add_completion=False, rich_markup_mode=None)
HOST = "127.0.0.1"


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@prints("cuescope_view.outputs:ServedPage")
def view(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the runs are.")
    ] = RUNS,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="by default any that is free", show_default=False
        ),
    ] = 0,
    open_data: Annotated[
        bool,
        typer.Option(
            "--open-data",
            help="Show every sample: opens the data of runs that were made here. [default: the "
            "pictures that the runs keep]",
        ),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")
    ] = True,
    as_json: PrintsJson = False,
) -> None:
    """Show the runs of a folder on a page in the browser, and work with them.

    List and search runs and cues, look at samples with a cue and without it, set two runs side by
    side, and name cues. The page is for this
    computer alone: its address holds a random token. Ctrl-C ends it.
    """
    import uvicorn

    from cuescope_view.outputs import ServedPage
    from cuescope_view.runs import RunsFolder
    from cuescope_view.server import make_app

    if not folder.is_dir():
        raise UserError(
            f"no folder {folder}",
            expected="a folder of runs",
            remedy="`cuescope demo` makes a run in the folder runs",
        )
    runs = RunsFolder(folder, opens_data=open_data)
    runs.refresh()
    token = secrets.token_urlsafe(24)
    # before the server runs: the address must name the port that was free
    listener = listen(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
    config = uvicorn.Config(
        make_app(runs, token),
        lifespan="off",
        # its lines would print the token
        access_log=False,
        log_level="error",
        server_header=False,
    )
    if as_json:
        ServedPage(folder=str(folder), address=address).show()
        # whoever started it waits for the address
        sys.stdout.flush()
    else:
        echo(f"The runs in {folder} are at {address}")
        echo("Ctrl-C ends it.")
    shortcut = _open(address) if browser else None
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        # with --json, standard output holds JSON alone
        echo("ended", err=as_json)
    finally:
        listener.close()
        # it holds the token
        if shortcut is not None:
            shortcut.unlink(missing_ok=True)


def listen(port: int) -> socket.socket:
    """A socket of this computer alone; raises UserError where the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # a port that was just left can be taken again at once
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # before the address is printed: who reads it may ask at once, and waits in line
        listener.listen()
    except OSError as error:
        listener.close()
        raise UserError(
            f"--port {port} cannot be used",
            got=error.strerror,
            remedy="Leave --port out: any port that is free is taken",
        ) from error
    return listener


def _open(address: str) -> Path | None:
    """Open the address in a browser by way of a file that only this user can read.

    As a word of a command line the token could be read by everybody on this computer.
    """
    import webbrowser

    handle, name = mkstemp(prefix="cuescope-view-", suffix=".html")
    shortcut = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        link = escape(address, quote=True)
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}">')
    # without a browser the printed address is enough
    with suppress(webbrowser.Error):
        webbrowser.open(shortcut.as_uri())
    return shortcut
