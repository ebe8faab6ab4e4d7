"""What is known of files already looked at, so that a large folder opens quickly the next time."""

import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

from cuescope_sdk.data._media.names import printable_name
from cuescope_sdk.data._media.probe import Probe

_TABLE = """
    CREATE TABLE IF NOT EXISTS probe (
        path TEXT PRIMARY KEY, size INTEGER, changed INTEGER, terms TEXT,
        digest TEXT, frames INTEGER, problem TEXT
    ) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was when looked at; `changed` is its mtime in nanoseconds, None if missing."""

    path: Path
    size: int = 0
    changed: int | None = None


class Memory:
    """Probes by path, size and time of change, under `terms`: the decoders and their limits."""

    def __init__(self, connection: sqlite3.Connection, terms: str) -> None:
        self._connection = connection
        self._terms = terms

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, max_pixels: int) -> Iterator[Self]:
        """The memory kept in `folder`; where it cannot be written, one for this time only."""
        terms = f"1 pillow-{version('pillow')} av-{version('av')} max-{max_pixels}"
        with closing(_connect(folder)) as connection:
            yield cls(connection, terms)

    def stamp(self, path: Path) -> Stamp:
        """The file as it is now."""
        try:
            status = path.stat()
        except OSError:
            return Stamp(path)
        return Stamp(path, status.st_size, status.st_mtime_ns)

    def recall(self, paths: Sequence[Path]) -> dict[Path, Probe]:
        """The probes of those files that have not changed since."""
        query = "SELECT size, changed, digest, frames, problem FROM probe WHERE path=? AND terms=?"
        found = {}
        for path in paths:
            row = self._connection.execute(
                query, (printable_name(str(path)), self._terms)
            ).fetchone()
            if row is None:
                continue
            size, changed, *probe = row
            if Stamp(path, size, changed) == self.stamp(path):
                found[path] = Probe(*probe)
        return found

    def keep(self, probes: Iterable[tuple[Stamp, Probe]]) -> None:
        """Remember them; a file that could not be read at all is asked again next time."""
        rows = [
            (
                printable_name(str(stamp.path)),
                stamp.size,
                stamp.changed,
                self._terms,
                probe.digest,
                probe.frames,
                probe.problem,
            )
            for stamp, probe in probes
            if probe.digest and stamp.changed is not None
        ]
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO probe VALUES (?, ?, ?, ?, ?, ?, ?)", rows
            )


def _connect(folder: Path) -> sqlite3.Connection:
    file = folder / "probes.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _prepared(file)
    except (OSError, sqlite3.OperationalError):
        return _prepared(Path(":memory:"))
    except sqlite3.DatabaseError:
        aside = file.with_suffix(".corrupt")
        file.replace(aside)
        warnings.warn(f"corrupt cache set aside as {aside}", stacklevel=2)
        return _prepared(file)


def _prepared(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=30)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_TABLE)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
