"""Lines beside the result, on standard error: words, or with `--log-json` objects."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import typer

from cuescope_core.printable import printable, printable_json

PREFIX = "cuescope: "
WARNING = "warning: "
SCHEMA_VERSION = 1  # of a line, as `outputs.LogLine` describes it


class Log:
    """The lines of one process; threads write them too."""

    def __init__(self) -> None:
        self.as_json = False

    def write(
        self,
        message: str,
        *,
        level: str = "info",
        prefixed: bool = True,
        **facts: Any,
    ) -> None:
        """Write a line; `facts` are fields that only JSON has."""
        if not self.as_json:
            before = PREFIX if prefixed else ""
            typer.echo(printable(before + message), err=True)
            return
        # plugins announce text, and say so themselves
        if message.startswith(WARNING):
            message = message.removeprefix(WARNING)
            level = "warning"
        line = {
            "schema_version": SCHEMA_VERSION,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "level": level,
            "message": message,
            **facts,
        }
        # in one piece: lines of several threads must not mix
        sys.stderr.write(printable_json(json.dumps(line)) + "\n")
        sys.stderr.flush()

    @contextmanager
    def of_command(self, *, as_json: bool) -> Iterator[None]:
        """Lines of one command; with `as_json` what libraries log comes as JSON too."""
        before = self.as_json
        self.as_json = as_json
        handler = _LibraryHandler(level=logging.WARNING)
        if as_json:
            logging.root.addHandler(handler)
        try:
            yield
        finally:
            logging.root.removeHandler(handler)
            self.as_json = before


LOG = Log()


class _LibraryHandler(logging.Handler):
    """Log records of libraries, in the lines of this program."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "error" if record.levelno >= logging.ERROR else "warning"
        LOG.write(f"{record.name}: {record.getMessage()}", level=level)
