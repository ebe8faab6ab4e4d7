"""What outlives a process: answers and texts in SQLite files of the user's cache (WAL)."""

import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from zlib import crc32

import numpy as np

from cuescope.errors import UserError
from cuescope.types import Response

T = TypeVar("T")
CHUNK = 500  # older SQLite takes 999 marks in a query
WAL_PAGES = 4000  # each checkpoint waits for the disk
PAGE_BYTES = 8192  # three answers of 40 logits and 512 dims; SQLite's 4096 would hold one

_SETTINGS = f"PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {WAL_PAGES};"


def _write_ahead(connection: sqlite3.Connection) -> object:
    """Wait for others that open the file at this moment, for which sqlite itself does not wait."""
    for _ in range(50):
        with suppress(sqlite3.OperationalError):
            return connection.execute("PRAGMA journal_mode = WAL")
        time.sleep(0.1)
    return None


class CacheFile:
    """A SQLite file of the user's cache; `path` None keeps its content in this process alone.

    What is written together is one transaction, so a kill loses the batch in flight and no more.
    A corrupt file is set aside with a warning, and a new one begun.
    """

    tables: ClassVar[str]

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection = self._open()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def _select(self, query: str, keys: Iterable[str]) -> Iterator[Any]:
        """Rows of a query that ends in `IN ({marks})`, for any number of keys."""
        remaining = iter(keys)
        while chunk := list(islice(remaining, CHUNK)):
            yield from self._rows(query.format(marks=",".join("?" * len(chunk))), chunk)

    def _rows(self, query: str, values: Sequence[str]) -> list[Any]:
        return self._guarded(lambda connection: connection.execute(query, values).fetchall())

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            # audits side by side share the file
            connection = sqlite3.connect(self.path or ":memory:", timeout=60)
        except (OSError, sqlite3.OperationalError) as error:
            raise UserError(
                f"cannot open the cache {self.path}",
                got=str(error),
                remedy="Set CUESCOPE_CACHE to a folder that you can write to",
            ) from error
        try:
            # before the first table, or never
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            _write_ahead(connection)
            connection.executescript(_SETTINGS + self.tables)
        except BaseException:
            connection.close()
            raise
        return connection

    def _guarded(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """The action as one transaction; once more on a new file where this one is corrupt."""
        try:
            with self._connection:
                return action(self._connection)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            self._set_aside(error)
            self._connection = self._connect()
            with self._connection:
                return action(self._connection)

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Move a corrupt file away; raise UserError for trouble that is not corruption."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary of extended codes
        if self.path is None or code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise UserError(
                f"the cache {self.path} cannot be used",
                got=str(error),
                remedy="Free disk space, or set CUESCOPE_CACHE to another folder",
            ) from error
        aside = self.path.with_name(f"{self.path.name}.corrupt-{time.time_ns()}")
        for suffix in ("", "-wal", "-shm"):  # a stray log would be played into the new file
            part = self.path.with_name(self.path.name + suffix)
            with suppress(FileNotFoundError):
                part.replace(aside.with_name(aside.name + suffix))
        warnings.warn(
            f"the cache was corrupt ({error}); set aside as {aside}, starting a new one",
            stacklevel=2,
        )


class TextCache(CacheFile):
    """Texts by key: what a language model wrote, what a detector found as JSON."""

    tables = "CREATE TABLE IF NOT EXISTS texts (key TEXT PRIMARY KEY, text TEXT, crc INTEGER);"

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """The cached ones among `keys`; a damaged row is a miss."""
        rows = self._select("SELECT key, text, crc FROM texts WHERE key IN ({marks})", keys)
        return {key: text for key, text, crc in rows if crc == _checksum(key, text)}

    def put(self, texts: Mapping[str, str]) -> None:
        """Keep texts by key."""
        rows = [(key, text, _checksum(key, text)) for key, text in texts.items()]
        statement = "INSERT OR REPLACE INTO texts VALUES (?, ?, ?)"
        self._guarded(lambda connection: connection.executemany(statement, rows))


class ResponseCache(CacheFile):
    """Responses by trial key, shared by every audit of this user.

    Arrays are raw little-endian float32: a replayed response equals the answered one bit by bit.
    """

    tables = """
    CREATE TABLE IF NOT EXISTS responses
        (key TEXT PRIMARY KEY, logits BLOB, text TEXT, embedding BLOB, readout BLOB, crc INTEGER);
    CREATE TABLE IF NOT EXISTS pace (model TEXT PRIMARY KEY, calls INTEGER, seconds REAL);
    """

    def get(self, keys: Iterable[str]) -> dict[str, Response]:
        """The cached ones among `keys`."""
        responses: dict[str, Response] = {}
        query = "SELECT * FROM responses WHERE key IN ({marks})"
        for *row, crc in self._select(query, keys):
            if crc == _checksum(*row):  # a damaged row is a miss
                key, logits, text, embedding, readout = row
                responses[key] = Response(
                    _vector(logits), text, _vector(embedding), _array(readout)
                )
        return responses

    def put(self, responses: Mapping[str, Response]) -> None:
        """Keep a batch."""
        cells = [
            (
                key,
                _blob(answer.logits),
                answer.text,
                _blob(answer.embedding),
                _packed(answer.readout),
            )
            for key, answer in responses.items()
        ]
        rows = [(*row, _checksum(*row)) for row in cells]
        statement = "INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?, ?, ?)"
        self._guarded(lambda connection: connection.executemany(statement, rows))

    def add_pace(self, model: str, calls: int, seconds: float) -> None:
        """Keep how long a model took over so many calls."""
        statement = (
            "INSERT INTO pace VALUES (?, ?, ?) ON CONFLICT (model) DO UPDATE SET "
            "calls = calls + excluded.calls, seconds = seconds + excluded.seconds"
        )

        self._guarded(lambda connection: connection.execute(statement, (model, calls, seconds)))

    def pace(self, model: str) -> float | None:
        """Mean seconds a call of this model has taken, None before its first."""
        query = "SELECT seconds / calls FROM pace WHERE model = ? AND calls > 0"
        return next((float(seconds) for (seconds,) in self._rows(query, [model])), None)


def _checksum(*cells: str | bytes | None) -> int:
    parts = [cell.encode() if isinstance(cell, str) else cell for cell in cells]
    # the parts' lengths enter, so that no byte can move from one to the next
    crc = crc32(repr([part and len(part) for part in parts]).encode())
    for part in parts:
        crc = crc32(part or b"", crc)
    return crc


def _blob(vector: np.ndarray | None) -> bytes | None:
    # raw: np.save's head is 128 bytes
    return None if vector is None else vector.astype("<f4", copy=False).tobytes()


def _vector(blob: bytes | None) -> np.ndarray | None:
    return None if blob is None else np.frombuffer(blob, "<f4")


def _packed(array: np.ndarray | None) -> bytes | None:
    if array is None:
        return None
    # with shape and dtype, which a readout chooses
    np.save(stream := BytesIO(), array, allow_pickle=False)
    return stream.getvalue()


def _array(packed: bytes | None) -> np.ndarray | None:
    return None if packed is None else np.load(BytesIO(packed), allow_pickle=False)
