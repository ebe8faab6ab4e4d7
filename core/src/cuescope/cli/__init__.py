"""The command line. Commands import what they need when they run: `--help` stays quick."""

import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from typing import Annotated

import typer

from cuescope import __version__
from cuescope.cli import audit, bench, cache, demo, export, plugins, report, run, runs, schema
from cuescope.cli.echo import echo
from cuescope.cli.external import AuditCommand, PluginCommands
from cuescope.errors import UserError

STOPPED = 130  # what typer returns after Ctrl-C
STOP_SECONDS = 1.5
LEFT_BEHIND = "answers so far are kept, the same command goes on from there"

app = typer.Typer(
    cls=PluginCommands,
    help="Find the cues that a vision-language model is really using.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich panels would triple the time to the first line
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("audit", cls=AuditCommand)(audit.audit)
app.command("run", cls=AuditCommand)(run.run)
app.command("report")(report.report)
app.command("runs")(runs.runs)
app.command("open")(runs.open_page)
app.command("export")(export.export)
app.command("bench", context_settings=bench.FREE_OPTIONS)(bench.bench)
app.add_typer(plugins.app, name="plugins")
app.add_typer(cache.app, name="cache")
app.command("schema")(schema.schema)


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"cuescope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options of every command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the process ends with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    # --debug is welcome anywhere on the line
    words = [word for word in words if word != "--debug"] or ["--help"]
    warnings.showwarning = _print_warning  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a pipe may speak no UTF-8
            stream.reconfigure(errors="replace")
    with stops() as received:
        try:
            code = app(words, prog_name="cuescope", standalone_mode=False)
            sys.stdout.flush()
        except Exception as error:
            code = _print_error(error, debug=debug)
        except SystemExit as ended:  # click and rich end so where nobody reads on
            code = 0 if isinstance(ended.__context__, BrokenPipeError) else ended.code
        except KeyboardInterrupt:
            code = STOPPED
        if code == STOPPED:  # typer answers Ctrl-C with this code, not with the exception
            _print_line(f"stopped; {LEFT_BEHIND}")
            code = 128 + (received or [signal.SIGINT])[0]  # the shell's code for a signal
    sys.exit(code if isinstance(code, int) else 0)  # a command returns None where all is well


@contextmanager
def stops() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM end the work alike; gives the signals that came.

    What does not end within `STOP_SECONDS` (a thread that waits for a server) is left behind:
    every answer is in its file as soon as it came, so nothing is lost by that.
    """
    received: list[int] = []

    def leave() -> None:
        _print_line(f"stopped; {LEFT_BEHIND}")
        os._exit(128 + received[0])

    def stop(number: int, frame: object) -> None:
        if not received:
            received.append(number)
            timer = Timer(STOP_SECONDS, leave)
            timer.daemon = True
            timer.start()
        raise KeyboardInterrupt

    if current_thread() is not main_thread():  # only there may signals be handled
        yield received
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        if not received:  # else threads may hold up the end of the process
            for number, handler in before.items():
                signal.signal(number, handler)


def _print_error(error: Exception, *, debug: bool) -> int:
    """Print an error in one line, or with its traceback; returns the exit code."""
    usage = getattr(error, "format_message", None)  # what typer raises for a malformed command
    mendable = isinstance(error, UserError) or usage is not None
    if isinstance(error, BrokenPipeError):  # `| head` has seen enough; nothing is left to flush to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if debug:
        echo(traceback.format_exc(), err=True)
    elif mendable:
        _print_line(" ".join(str(usage() if usage else error).split()))
    else:
        name = type(error).__name__
        _print_line(f"internal error ({name}: {error}); `--debug` shows the traceback")
    return 2 if mendable else 1


def _print_line(line: str) -> None:
    echo(f"cuescope: {line}", err=True)


def _print_warning(message: Warning | str, *_: object) -> None:
    _print_line(f"warning: {message}")
