"""The command line. Commands import what they need when they run: `--help` stays quick."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from cuescope import __version__
from cuescope.cli import audit, bench, compare, demo, plugins, report, run, schema
from cuescope.cli.external import PluginCommands
from cuescope.errors import UserError

STOPPED = 130  # the shell's code for Ctrl-C

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
app.command("audit")(audit.audit)
app.command("run")(run.run)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("bench", context_settings=bench.FREE_OPTIONS)(bench.bench)
app.add_typer(plugins.app, name="plugins")
app.command("schema")(schema.schema)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cuescope {__version__}")
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
    try:
        code = app(words, prog_name="cuescope", standalone_mode=False)
    except Exception as error:
        if debug:
            raise
        code = _print_error(error)
    except KeyboardInterrupt:
        code = STOPPED
    if code == STOPPED:  # typer answers Ctrl-C with this code, not with the exception
        _print_line("stopped; answers so far are kept, the same command goes on from there")
    sys.exit(code if isinstance(code, int) else 0)  # a command returns None where all is well


def _print_error(error: Exception) -> int:
    """Print an error in one line; returns the exit code."""
    usage = getattr(error, "format_message", None)  # what typer raises for a malformed command
    if isinstance(error, UserError) or usage:
        _print_line(" ".join(str(usage() if usage else error).split()))
        return 2
    if isinstance(error, BrokenPipeError):  # `| head` has seen enough; nothing is left to flush to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    _print_line(f"internal error ({type(error).__name__}: {error}); `--debug` shows the traceback")
    return 1


def _print_line(line: str) -> None:
    typer.echo(f"cuescope: {line}", err=True)


def _print_warning(message: Warning | str, *_: object) -> None:
    _print_line(f"warning: {message}")
