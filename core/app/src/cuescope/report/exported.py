"""Rows of a cache file that somebody else made: read within limits, each checked for its kind."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from cuescope_core.errors import UserError
from cuescope_core.store import DAMAGE, TABLE, fits

# bytes; an answer has kilobytes, and what is read inside a model some megabytes
MAX_VALUE = 2**26
MAX_KEY = 200  # characters
LEAST_ROW = 40  # bytes that a row takes at least: its seal has more
# without a new row: the pages of a damaged file may lead in circles
PATIENCE_SECONDS = 10.0
STEPS = 10_000  # of SQLite's machine, between looks at the clock
# as https://www.sqlite.org/security.html advises for files of strangers
SETTINGS = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "query_only = ON",
    "mmap_size = 0",
)
# limits in the query: a value of gigabytes never comes into Python
QUERY = (
    "SELECT key, value, seal FROM rows WHERE typeof(key) = 'text' AND typeof(value) = 'blob' "
    f"AND typeof(seal) = 'text' AND length(value) <= {MAX_VALUE}"
)


def read_export(path: Path) -> Iterator[tuple[str, bytes]]:
    """The sound rows of another cache's file; raises UserError for a file that is none.

    Nothing is written to it, and nothing that it asks SQLite to do is done. Whoever reads a row
    later checks that it is an answer to what it asks.
    """
    # a running audit keeps its newest rows in the log beside the file
    beside = [
        path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal")
    ]
    for file in (path, *beside):
        if file.exists() and not file.is_file():  # SQLite would wait for a pipe
            raise UserError(f"{file} cannot be read", expected="a file", got="none")
    live = beside[0].exists()
    size = sum(file.stat().st_size for file in (path, beside[0]) if file.exists())
    try:
        # SQLite reads a WAL file by way of files beside it; immutable works in any folder
        uri = f"{path.resolve().as_uri()}?mode=ro{'' if live else '&immutable=1'}"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            _make_safe(connection)
            _require_own_table(connection)
            for row in _bounded_rows(connection, most=size // LEAST_ROW):
                key, value, _ = row
                if len(key) <= MAX_KEY and fits(row):
                    yield key, value
    except (*DAMAGE, sqlite3.Error, OSError) as error:
        got = " ".join(str(error).split())
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            got = f"no answer within {PATIENCE_SECONDS:g} seconds"
        raise UserError(
            f"{path} has no answers to import",
            expected="a file of `cuescope cache export`",
            got=got,
        ) from error


def _make_safe(connection: Connection) -> None:
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}").close()
    # a row has a key too
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE + 2**20)
    # a damaged text is a row without its seal, and no reason to stop
    connection.text_factory = lambda text: text.decode(errors="replace")


def _require_own_table(connection: Connection) -> None:
    """Raise sqlite3.DatabaseError unless the file has our table and nothing else.

    A view, a virtual table or a generated column would make rows of its own, without end.
    """
    query = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex_%'"
    # two are enough: a second one is not ours
    if connection.execute(query).fetchmany(2) != [("table", "rows", TABLE)]:
        raise sqlite3.DatabaseError("other tables than those of a cache")


def _bounded_rows(
    connection: Connection, *, most: int
) -> Iterator[tuple[str, bytes, str]]:
    """The rows; raises sqlite3.DatabaseError for more of them than fit into the file."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    cursor = connection.execute(QUERY)
    number = 0
    while (row := cursor.fetchone()) is not None:
        number += 1
        if number > most:
            raise sqlite3.DatabaseError("more rows than fit into it")
        yield row
        # whoever takes the rows may be slow
        deadline = time.monotonic() + PATIENCE_SECONDS
