"""What outlives a process: the response cache (SQLite, WAL) and the folder of a run."""

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from pydantic import ValidationError

from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope.types import SCHEMA_VERSION, Occurrence, Report, Response

T = TypeVar("T")
CHUNK = 500
WAL_PAGES = 4000  # each checkpoint waits for the disk
PAGE_BYTES = 8192  # three answers of 40 logits and 512 dims; SQLite's 4096 would hold one
PICTURED_FEATURES, PICTURES_EACH = 40, 24

_SETTINGS_AND_TABLES = f"""PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {WAL_PAGES};
CREATE TABLE IF NOT EXISTS responses
    (key TEXT PRIMARY KEY, logits BLOB, text TEXT, embedding BLOB, readout BLOB, crc INTEGER);
CREATE TABLE IF NOT EXISTS pace (model TEXT PRIMARY KEY, calls INTEGER, seconds REAL);
"""


def _write_ahead(connection: sqlite3.Connection) -> object:
    """Wait for others that open the file at this moment, for which sqlite itself does not wait."""
    for _ in range(50):
        with suppress(sqlite3.OperationalError):
            return connection.execute("PRAGMA journal_mode = WAL")
        time.sleep(0.1)
    return None


class ResponseCache:
    """Responses by trial key, shared by every audit of this user; `path` None keeps nothing.

    A batch is one transaction, so a kill loses the batch in flight and no more. Arrays are raw
    little-endian float32: a replayed response equals the answered one bit by bit.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection = self._open()

    def get(self, keys: Iterable[str]) -> dict[str, Response]:
        """The cached ones among `keys`."""
        found: dict[str, Response] = {}
        remaining = iter(keys)
        while chunk := list(islice(remaining, CHUNK)):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT * FROM responses WHERE key IN ({marks})"
            for *row, crc in self._rows(query, chunk):
                if crc == _checksum(*row):  # a damaged row is a miss
                    key, logits, text, embedding, readout = row
                    found[key] = Response(
                        _vector(logits), text, _vector(embedding), _array(readout)
                    )
        return found

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

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

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
            connection = sqlite3.connect(self.path or ":memory:", timeout=60)
        except (OSError, sqlite3.OperationalError) as error:
            raise UserError(
                f"cannot open the response cache {self.path}",
                got=str(error),
                remedy="Set CUESCOPE_CACHE to a folder that you can write to",
            ) from error
        try:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            _write_ahead(connection)
            connection.executescript(_SETTINGS_AND_TABLES)
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
                f"the response cache {self.path} cannot be used",
                got=str(error),
                remedy="Free disk space, or set CUESCOPE_CACHE to another folder",
            ) from error
        aside = self.path.with_name(f"{self.path.name}.corrupt-{time.time_ns()}")
        for suffix in ("", "-wal", "-shm"):
            part = self.path.with_name(self.path.name + suffix)
            with suppress(FileNotFoundError):
                part.replace(aside.with_name(aside.name + suffix))
        warnings.warn(
            f"the response cache was corrupt ({error}); set aside as {aside}, starting a new one",
            stacklevel=2,
        )


def _checksum(*cells: str | bytes | None) -> int:
    parts = [cell.encode() if isinstance(cell, str) else cell for cell in cells]
    # the parts' lengths enter, so that no byte can move from one to the next
    crc = crc32(repr([part and len(part) for part in parts]).encode())
    for part in parts:
        crc = crc32(part or b"", crc)
    return crc


def _blob(vector: np.ndarray | None) -> bytes | None:
    return None if vector is None else vector.astype("<f4", copy=False).tobytes()


def _vector(blob: bytes | None) -> np.ndarray | None:
    return None if blob is None else np.frombuffer(blob, "<f4")


def _packed(array: np.ndarray | None) -> bytes | None:
    if array is None:
        return None
    np.save(stream := BytesIO(), array, allow_pickle=False)
    return stream.getvalue()


def _array(packed: bytes | None) -> np.ndarray | None:
    return None if packed is None else np.load(BytesIO(packed), allow_pickle=False)


# ------------------------------------------------------------------------------------ run folders


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; raises UserError where the folder cannot be written."""
    data = content.encode() if isinstance(content, str) else content
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise UserError(
            f"cannot write to {path.parent}",
            got=error.strerror,
            remedy="Choose another folder with --out",
        ) from error


class RunFolder:
    """`report.json`, `report.html` and the pictures of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def report_file(self) -> Path:
        """The JSON report, there once the run is whole."""
        return self.path / "report.json"

    def prepare(self) -> None:
        """Raise UserError now, not after the audit, where nothing can be written here."""
        write_atomically(self.path / ".started", "")

    def save(self, report: Report, pictures: Mapping[str, bytes]) -> None:
        """Store pictures first and the report last: a report that is there is whole."""
        for key, jpeg in pictures.items():
            write_atomically(self._picture(key), jpeg)
        write_atomically(self.report_file, report.model_dump_json(indent=1))
        (self.path / ".started").unlink(missing_ok=True)

    def pictures(self, report: Report) -> dict[str, bytes]:
        """The stored thumbnails, JPEG, by `picture_key`."""
        files = {key: self._picture(key) for key in map(picture_key, illustrations(report))}
        return {key: file.read_bytes() for key, file in files.items() if file.exists()}

    def _picture(self, key: str) -> Path:
        return self.path / "pictures" / f"{digest(key)}.jpg"


def load_report(path: Path) -> Report:
    """From a run folder or a report.json; raises UserError where it is none."""
    file = path / "report.json" if path.is_dir() else path
    if not file.is_file():
        raise UserError(
            f"no report at {path}",
            expected="a run folder or a report.json",
            remedy="`cuescope audit --out DIR` writes one",
        )
    try:
        return Report.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"{file} is no report of schema version {SCHEMA_VERSION}",
            got=" ".join([*map(str, first["loc"]), first["msg"]]),
            remedy="Run the audit again with this version of cuescope",
        ) from error


def picture_key(occurrence: Occurrence) -> str:
    """`sample#frame`, the name of an occurrence's picture; a region is part of it."""
    region = "" if occurrence.region is None else f"@{occurrence.region}"
    return f"{occurrence.sample}#{occurrence.frame or 0}{region}"


def illustrations(report: Report) -> Sequence[Occurrence]:
    """The occurrences that a report shows: the strongest of the best-ranked features."""
    rank = {key: place for place, key in enumerate(dict.fromkeys(s.feature for s in report.scores))}
    ranked = sorted(report.features, key=lambda feature: rank.get(feature.key, len(rank)))
    return [o for f in ranked[:PICTURED_FEATURES] for o in f.occurrences[:PICTURES_EACH]]
