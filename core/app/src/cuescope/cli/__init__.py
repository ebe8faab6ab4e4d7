"""The command line. Commands import what they need when they run: `--help` stays quick."""

import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from cuescope import __version__
from cuescope.cli.echo import echo
from cuescope.cli.external import (
    DEVELOPERS,
    FREE_OPTIONS,
    AuditCommand,
    PluginCommands,
    parser_of,
)
from cuescope.cli.log_lines import LOG, WARNING
from cuescope.cli.stopping import Stops
from cuescope.project import with_project
from cuescope_core.atomic_files import NO_ROOM
from cuescope_core.errors import UserError

STOPPED = 130  # default of typer after Ctrl-C
DEBUG = "--debug"
LOG_JSON = "--log-json"
MAX_LINE = 2000  # characters of an error


class Commands(PluginCommands):
    """The commands of this package, by the module that has them."""

    own: ClassVar = {
        "demo": ("cuescope.cli.demo:demo", {}),
        "audit": ("cuescope.cli.audit:audit", {"cls": AuditCommand}),
        "run": ("cuescope.cli.run:run", {"cls": AuditCommand}),
        "show": ("cuescope.cli.show:show", {}),
        "list": ("cuescope.cli.runs:list_runs", {}),
        "explain": ("cuescope.cli.explain:explain", {}),
        "export": ("cuescope.cli.export:export", {}),
        "plugins": ("cuescope.cli.plugins:app", {}),
        "cache": ("cuescope.cli.cache:app", {}),
        "init": ("cuescope.cli.init:init", {}),
        "dev": ("cuescope.cli:dev", {}),
    }
    former: ClassVar = {
        "report": "show",
        "runs": "list",
        "open": "show --page",
        **{name: f"dev {name}" for name in DEVELOPERS},
    }


class DeveloperCommands(PluginCommands):
    """The commands of `cuescope dev`."""

    own: ClassVar = {
        "bench": ("cuescope.cli.bench:bench", {"context_settings": FREE_OPTIONS}),
        "schema": ("cuescope.cli.schema:schema", {}),
    }
    first = ()
    for_developers = True


dev = typer.Typer(
    cls=DeveloperCommands,
    help="Commands of those who write plugins.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


app = typer.Typer(
    cls=Commands,
    help="Find the cues that a vision-language model is really using.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich panels would triple the time to the first line
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"cuescope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show the traceback of an error.")
    ] = False,
    log_json: Annotated[
        bool,
        typer.Option(
            LOG_JSON, help="Write progress, notes and errors as JSON, an object a line."
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    """Options of every command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the process ends with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed: what is opened next would take its place
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    debug = DEBUG in words
    as_json = LOG_JSON in words
    # welcome anywhere on the line
    words = [word for word in words if word not in (DEBUG, LOG_JSON)] or ["--help"]
    warnings.showwarning = _print_warning  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a pipe may speak no UTF-8
            stream.reconfigure(errors="replace")
    stops = Stops()
    log = LOG.of_command(as_json=as_json)
    with log, stops.heard(to_the_end=arguments is None):
        try:
            stops.begun = True
            code = _run(words, debug=debug, stops=stops)
            stops.code = code
            stops.done = True
            if as_json and stops.number is None:
                LOG.write("ended", exit_code=code)
        except KeyboardInterrupt:  # it comes once
            stops.code = code = stops.tell()
            stops.done = True
    sys.exit(code)


def _run(words: Sequence[str], *, debug: bool, stops: Stops) -> int:
    """Run a command; the code with which the process ends."""
    code: object
    try:
        _require_output()
        words, own = with_project(words)
        code = parser_of(app)(
            words, prog_name="cuescope", standalone_mode=False, default_map=own
        )
        sys.stdout.flush()
    except Exception as error:
        # what fails because it was stopped has no fault of its own
        code = STOPPED if stops.number is not None else _print_error(error, debug=debug)
    except SystemExit as ended:  # click and rich end so where nobody reads on
        code = 0 if isinstance(ended.__context__, BrokenPipeError) else ended.code
    if code == STOPPED:  # typer answers Ctrl-C with this code, not with the exception
        return stops.tell()
    # a command returns None where all is well
    return code if isinstance(code, int) else 0


def _require_output() -> None:
    """Raise UserError where standard output is closed: the next open file would take its place."""
    if sys.stdout is None:
        raise UserError(
            "standard output is closed",
            expected="a terminal, a pipe or a file",
            remedy="Leave `>&-` out; `>/dev/null` throws the result away",
        )


def _failed_output(error: Exception) -> UserError | None:
    """Return the error of a result that cannot be written; None where that is not the reason."""
    # of a file that we open, the error has the name
    if not isinstance(error, OSError) or error.filename is not None:
        return None
    if error.errno not in NO_ROOM:
        return None
    # at its end Python would write once more what is left
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UserError(
        "the result cannot be written",
        got=error.strerror,
        remedy="Make room on the disk, or send standard output elsewhere",
    )


def _print_error(error: Exception, *, debug: bool) -> int:
    """Print an error in one line, or with its traceback; returns the exit code."""
    # what typer raises for a malformed command
    usage = getattr(error, "format_message", None)
    of_file = isinstance(error, OSError) and error.filename is not None
    mendable = isinstance(error, UserError) or usage is not None or of_file
    # `| head` has seen enough; nothing is left to flush to
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if not debug and (failed := _failed_output(error)) is not None:
        error = failed
        mendable = True
    if not (mendable or debug) and (blamed := _blamed(error)) is not None:
        error = blamed
        mendable = True
    if debug:
        shown = traceback.format_exc()
        # a line of words holds no other; an object of JSON holds them all
        for part in [shown] if LOG.as_json else shown.splitlines():
            LOG.write(part, level="error", prefixed=False)
    elif isinstance(error, OSError) and of_file:
        _print_line(f"{error.filename} cannot be used: got {error.strerror}")
    elif mendable:
        from cuescope.cli.usage import usage_words

        _print_line(usage_words(error) if usage else str(error))
    else:
        name = type(error).__name__
        _print_line(f"internal error ({name}: {error}); `--debug` shows the traceback")
    return 2 if mendable else 1


def _blamed(error: Exception) -> UserError | None:
    """The line that names somebody else's plugin; what fails in ours is an error of cuescope."""
    from cuescope.installing import is_own
    from cuescope_core.registry import Registry, blame

    entry = Registry().owner_of(error)
    return None if entry is None or is_own(entry.dist) else blame(entry, error)


def _print_line(text: str, level: str = "error") -> None:
    line = " ".join(text.split())
    if len(line) > MAX_LINE:  # it quotes what was typed; the remedy is at its end
        line = f"{line[: MAX_LINE // 2]} ... {line[-MAX_LINE // 2 :]}"
    LOG.write(line, level=level)


def _print_warning(message: Warning | str, *_: object) -> None:
    _print_line(f"{WARNING}{message}", "warning")
