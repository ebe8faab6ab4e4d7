"""Values that outlive a process, by key in SQLite files of the user's cache, each row sealed."""

import json
import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from math import prod
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, TypeGuard, TypeVar
from weakref import finalize

import numpy as np

from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.trust.paths import ANOTHER_CACHE, require_own_place
from cuescope_core.types import NUMERIC, Response

T = TypeVar("T")
Connection = sqlite3.Connection
Row = tuple[str, bytes, str]
VERSION = 1  # of the table below; SQLite keeps it as `user_version`
CHUNK = 500  # older SQLite takes 999 marks in a query
WAL_PAGES = 32_000  # 256 MB; each checkpoint waits for the disk, and writes a page once
PAGE_CACHE_KIB = 2**16  # the index of a million answers
LARGEST = 1e15  # of seconds and inputs that are kept
DURABLE_WAL_PAGES = 100  # a flipped bit in the log hides all that came after it
# three answers of 40 logits and 512 dims; SQLite's 4096 would hold one
PAGE_BYTES = 8192
# a write takes milliseconds: whoever holds the file longer is stuck
LOCK_SECONDS = 30.0
# SQLite waits this long inside one try, and hears no Ctrl-C meanwhile
TRY_SECONDS = 1.0

TABLE = "CREATE TABLE rows (key TEXT PRIMARY KEY, value BLOB, seal TEXT)"
# the latter from the texts of its errors
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
_INSERT = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
_HELD = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_CLOSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_REMEDIES = {
    sqlite3.SQLITE_FULL: "Free disk space, or set CUESCOPE_CACHE to another folder",
    sqlite3.SQLITE_IOERR: "The drive is full, or fails; set CUESCOPE_CACHE to another one",
    **dict.fromkeys(
        _HELD,
        "Another process holds it, or its drive has no locks (some network "
        "drives): wait, or set CUESCOPE_CACHE to a folder on a local drive",
    ),
    **dict.fromkeys(_CLOSED, "Set CUESCOPE_CACHE to a folder that you can write to"),
}


class NewerFileError(Exception):
    """A later version of cuescope made this file."""


class CacheFile:
    """Values by key in a SQLite file; `path` None keeps them in this process alone.

    What is written together is one transaction, so a kill loses the batch in flight and no more.
    Each row carries a seal, the digest of its key and value: a row that does not fit its seal is
    not there. A damaged file is set aside, and all of its rows that fit their seals go on in a new
    one. `durable` files are on the disk before `write` returns. Threads may share an instance.

    Files of an older table are taken over by `migrations`: for a version, the rows of such a file.
    """

    durable: ClassVar[bool] = False
    migrations: ClassVar[
        Mapping[int, Callable[[Connection], Iterable[tuple[str, bytes]]]]
    ] = {
        0: lambda _: ()  # of before the first release: keys that nobody asks for any more
    }

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = RLock()
        self._inode: int | None = None
        self._connection = self._open()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def read(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that are there."""
        remaining = iter(sorted(keys))  # in order, so that each page is read once
        values: dict[str, bytes] = {}
        while chunk := list(islice(remaining, CHUNK)):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT key, value, seal FROM rows WHERE key IN ({marks})"
            values |= self._sound_rows(query, chunk)
        return values

    def scan(self, prefix: str) -> dict[str, bytes]:
        """All values whose key begins with `prefix`."""
        query = (
            "SELECT key, value, seal FROM rows WHERE key >= ? AND key < ? ORDER BY key"
        )
        # the last character that there is: every key with this prefix stands before it
        return self._sound_rows(query, [prefix, prefix + "\U0010ffff"])

    def write(self, values: Mapping[str, bytes]) -> None:
        """Keep values by key, all of them or none."""
        rows = [_seal(key, value) for key, value in values.items()]
        # closed under the lock: a cursor that is freed later disturbs another thread's statement
        self._transact(lambda connection: connection.executemany(_INSERT, rows).close())

    def repair(self) -> tuple[int, int]:
        """Make the file anew from its readable rows; how many there are, and how many were lost.

        A sound file stays as it is. Raises UserError where the file cannot be used at all.
        """
        before = self.count()
        # one fault is enough to make the file anew
        fault = self._rows("PRAGMA integrity_check(1)")[0][0]
        if fault == "ok" and self._transact(_count_fitting) < self.count():
            fault = "rows that do not fit their seals"
        if self.path is not None and fault != "ok":
            self._connection.close()
            self._rebuild(self.path, fault)
            self._connection = self._open()
        kept = self.count()
        return kept, max(before - kept, 0)

    def count(self) -> int:
        """How many rows there are, sealed or not."""
        return int(self._rows("SELECT count(*) FROM rows")[0][0])

    def _sound_rows(self, query: str, values: list[str]) -> dict[str, bytes]:
        return {row[0]: row[1] for row in self._rows(query, values) if fits(row)}

    def _rows(self, query: str, values: Sequence[str] = ()) -> list[Any]:
        return self._transact(
            lambda connection: connection.execute(query, values).fetchall()
        )

    def _transact(self, action: Callable[[Connection], T]) -> T:
        """The action as one transaction; once more on a new file where this one is damaged."""

        def transaction() -> T:
            with self._connection:
                return action(self._connection)

        with self._lock:
            try:
                return self._patiently(transaction)
            except DAMAGE as error:
                self._connection.close()
                self._recover(error)
                self._connection = self._open()
                return transaction()

    def _patiently(self, action: Callable[[], T]) -> T:
        """Try again while others hold the file, for so long; say so."""
        since = time.monotonic()
        announced = False
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - since
                if _code(error) not in _HELD or waited > LOCK_SECONDS:
                    raise
            # seconds: what is shorter is not worth a line
            if not announced and waited > 2:
                announced = True
                warnings.warn(
                    f"waiting for {self.path}, which another process holds",
                    stacklevel=2,
                )
            time.sleep(0.02)

    # ---------------------------------------------------------------------------------- opening

    def _open(self) -> Connection:
        try:
            return self._connect()
        except DAMAGE as error:
            self._recover(error)
            return self._connect()
        except NewerFileError:
            warnings.warn(
                f"a newer cuescope made {self.path}: nothing is read from it or kept in it",
                stacklevel=2,
            )
            # its table may mean something else: this process keeps its rows in memory
            self.path = None
            return self._connect()

    def _connect(self) -> Connection:
        if self.path is not None:
            self._require_own(self.path)
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise self._trouble(error, sqlite3.SQLITE_CANTOPEN) from error
        connection = sqlite3.connect(
            self.path or ":memory:",
            timeout=TRY_SECONDS,
            check_same_thread=False,
        )
        # a damaged text is a row without its seal, and no reason to stop
        connection.text_factory = lambda text: text.decode(errors="replace")
        try:
            self._patiently(lambda: self._prepare(connection))
        except BaseException:
            connection.close()
            raise
        finalize(self, connection.close)  # many a cache is used until the process ends
        self._inode = self.path.stat().st_ino if self.path else None
        return connection

    def _require_own(self, path: Path) -> None:
        """Raise UserError where the file, or one that SQLite keeps beside it, is a link elsewhere.

        What is elsewhere may be any database of the user, whose tables would make place for ours.
        """
        for suffix in ("", "-wal", "-shm", "-journal"):
            file = path.with_name(path.name + suffix)
            require_own_place(file, path.parent, ANOTHER_CACHE)

    def _prepare(self, connection: Connection) -> None:
        # NORMAL with a log: a power cut may cost the last answers, but not the file
        synchronous = "FULL" if self.durable else "NORMAL"
        wal_pages = DURABLE_WAL_PAGES if self.durable else WAL_PAGES
        # before the first table, or never
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {wal_pages}")
        connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
        # a stranger's file would run them with each row that is written
        if strange := _programs(connection):
            raise sqlite3.DatabaseError(f"a {strange[0]} is in it")
        if _tables(connection).get("rows") == TABLE:
            return
        with connection:
            # of several processes that open it, one makes the table
            connection.execute("BEGIN IMMEDIATE")
            self._migrate(connection)

    def _migrate(self, connection: Connection) -> None:
        """Make the table, with the rows of the older ones that it replaces."""
        tables = _tables(connection)
        if tables.get("rows") == TABLE:
            return
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if VERSION < version < 100:  # larger numbers come from damage
            raise NewerFileError
        rows: list[Row] = []
        if tables:
            if version not in self.migrations:
                raise sqlite3.DatabaseError(f"unknown tables: {', '.join(tables)}")
            old = self.migrations[version](connection)
            rows = [_seal(key, value) for key, value in old]
        connection.execute(TABLE)
        connection.executemany(_INSERT, rows)
        for name in tables:
            connection.execute(f'DROP TABLE "{name}"')
        connection.execute(f"PRAGMA user_version = {VERSION}")

    # ----------------------------------------------------------------------------------- damage

    def _recover(self, error: Exception) -> None:
        """Mend the file, or raise UserError for trouble that lies around it."""
        code = _code(error)
        if self.path is None:
            raise self._trouble(error, code) from error
        usable = self.path.is_file() and os.access(self.path, os.R_OK | os.W_OK)
        # SQLite calls some damage a file that cannot be opened
        damaged = code not in _REMEDIES or (code in _CLOSED and usable)
        if not damaged:
            raise self._trouble(error, code) from error
        # another inode: another process has mended it meanwhile
        if self._inode in (None, self.path.stat().st_ino):
            self._rebuild(self.path, str(error))

    def _rebuild(self, path: Path, fault: str) -> None:
        from cuescope_core.cache_recovery import rebuild  # few files are damaged

        rebuild(CacheFile, fits, path, fault)

    def _trouble(self, error: Exception, code: int) -> UserError:
        return UserError(
            f"cannot use the cache {self.path}",
            got=str(error),
            remedy=_REMEDIES.get(code),
        )


def _seal(key: str, value: bytes) -> Row:
    """The row of a value; no checksum that other programs compute fits it."""
    # without a key: whoever can write the file could read one beside it (docs/adr/0014)
    return key, value, digest("cuescope row", key, value)


def fits(row: Sequence[object]) -> TypeGuard[Row]:
    """True if this is a row as it was written: its seal is that of its key and value."""
    key, value, seal = row
    return (
        isinstance(key, str)
        and isinstance(value, bytes)
        and _seal(key, value)[2] == seal
    )


def _count_fitting(connection: Connection) -> int:
    return sum(map(fits, connection.execute("SELECT * FROM rows")))


def _code(error: Exception) -> int:
    """SQLite's primary result code."""
    extended: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if extended == sqlite3.SQLITE_IOERR_SHORT_READ:
        # a file that ends too early is damaged, its drive is not
        return sqlite3.SQLITE_CORRUPT
    return extended & 0xFF


def _tables(connection: Connection) -> dict[str, str]:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return dict(connection.execute(query).fetchall())


# by what the reader of a stranger's bytes fails
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)


def _programs(connection: Connection) -> list[str]:
    """The kinds of what a file holds beside tables: triggers, views, indices of expressions."""
    # the index that a table's own key makes has no words
    query = "SELECT type FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"
    return [kind for (kind,) in connection.execute(query)]


class ResponseCache(CacheFile):
    """Responses by trial key, shared by every audit of this user.

    Arrays are raw numbers: a replayed response equals the answered one bit by bit.
    """

    def get(self, keys: Iterable[str]) -> dict[str, Response]:
        """The cached ones among `keys`; a row that holds no response is asked again."""
        responses = {}
        for key, value in self.read(keys).items():
            # the seal fits whatever a stranger's file holds
            with suppress(*UNREADABLE):
                responses[key] = unpack(value)
        return responses

    def put(self, responses: Mapping[str, Response]) -> None:
        """Keep a batch."""
        self.write({key: _pack(response) for key, response in responses.items()})

    def add_pace(self, model: str, inputs: int, seconds: float) -> None:
        """Keep how long a model took over so many inputs."""
        before, spent = self._pace(model)
        pace = [before + inputs, spent + seconds]
        self.write({_pace_key(model): json.dumps(pace).encode()})

    def pace(self, model: str) -> float | None:
        """Mean seconds that an input of a model has taken here; None where nothing is known."""
        inputs, seconds = self._pace(model)
        return seconds / inputs if inputs else None

    def _pace(self, model: str) -> tuple[float, float]:
        match self._numbers(_pace_key(model)):
            case [inputs, seconds] if inputs >= 0 and seconds >= 0:
                return inputs, seconds
        return 0, 0

    def _numbers(self, key: str) -> list[float]:
        """The numbers of a row; none where it holds anything else, whose seal may fit."""
        with suppress(*UNREADABLE):
            numbers = json.loads(self.read([key]).get(key, b"[]"))
            if all(type(n) in (int, float) and abs(n) < LARGEST for n in numbers):
                return list(numbers)
        return []


def _pace_key(model: str) -> str:
    # "pace MODEL" alone has the seconds of trials, from before inputs were counted
    return f"pace {model} inputs"


def _pack(response: Response) -> bytes:
    """A line of JSON (text, dtype and shape of each array), then the numbers."""
    arrays = [response.logits, response.embedding, response.readout]
    heads = [
        array if array is None else (array.dtype.str, array.shape) for array in arrays
    ]
    numbers = [array.tobytes() for array in arrays if array is not None]
    return json.dumps([response.text, *heads]).encode() + b"\n" + b"".join(numbers)


@lru_cache  # without texts they are all alike
def _head(line: bytes) -> tuple[str | None, list[tuple[np.dtype, list[int]] | None]]:
    """The text, and dtype and shape of each array."""
    text, *heads = json.loads(line)
    arrays = [head and (np.dtype(head[0]), head[1]) for head in heads]
    if not isinstance(text, str | None):
        raise TypeError("its text is none")
    if any(head and head[0].kind not in NUMERIC for head in arrays):
        raise TypeError("its arrays hold no real numbers")
    return text, arrays


def unpack(value: bytes) -> Response:
    """The response that `_pack` made this of."""
    start = value.index(b"\n") + 1
    text, heads = _head(value[:start])
    arrays: list[np.ndarray | None] = []
    for head in heads:
        if head is None:
            arrays.append(None)
            continue
        dtype, shape = head
        array = np.frombuffer(value, dtype, prod(shape), start)
        start += array.nbytes
        # most are vectors, which have their shape already
        arrays.append(array if len(shape) == 1 else array.reshape(shape))
    logits, embedding, readout = arrays
    return Response(logits, text, embedding, readout)
