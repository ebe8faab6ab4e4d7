"""All files looked at, several at once, and only those that have changed since the last time."""

import os
import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b, file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Self

from cuescope_sdk import Context
from cuescope_sdk.data._media.files import MAX_PIXELS, Kind, kind_of, printable_name, reason
from cuescope_sdk.data._media.images import measure_animation, measure_image
from cuescope_sdk.data._media.video import measure_video

_MEASURES: dict[Kind, Callable[[Path, int], int]] = {
    "image": measure_image,
    "animation": measure_animation,
    "video": measure_video,
}


@dataclass(frozen=True, slots=True)
class Probe:
    """The digest of a file's bytes ("" where they cannot be had), its frames, its problem."""

    digest: str
    frames: int
    problem: str | None = None


def probe(path: Path, max_pixels: int) -> Probe:
    """Read and decode the file; whatever is wrong with it becomes the `problem`."""
    kind = kind_of(path)
    if kind is None:
        return Probe("", 0, f"'{path.suffix}' is no image or video that is known here")
    if not path.is_file():
        return Probe("", 0, "no such file")
    try:
        with path.open("rb") as file:
            content = file_digest(file, partial(blake2b, digest_size=16)).hexdigest()
    except OSError as error:
        return Probe("", 0, error.strerror or type(error).__name__)
    try:
        return Probe(content, _MEASURES[kind](path, max_pixels))
    except Exception as error:  # decoders meet strangers' bytes, and raise anything at all
        return Probe(content, 0, reason(error))


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
        known = {}
        for path in paths:
            row = self._connection.execute(
                query, (printable_name(str(path)), self._terms)
            ).fetchone()
            if row is None:
                continue
            size, changed, *probe = row
            if Stamp(path, size, changed) == self.stamp(path):
                known[path] = Probe(*probe)
        return known

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


# ------------------------------------------------------------------------------------------ survey


_SAVE_EVERY = 256


def probe_all(
    paths: Iterable[Path], context: Context, max_pixels: int = MAX_PIXELS
) -> dict[Path, Probe]:
    """The probes of all the files, from memory where a file has not changed since.

    The memory is in the context's cache folder, one for all data sets.
    """
    wanted = list(dict.fromkeys(paths))
    with Memory.opened(context.cache / "media", max_pixels) as memory:
        probes = memory.recall(wanted)
        unknown = [path for path in wanted if path not in probes]
        if not unknown:
            return probes
        with (
            context.progress("Checking files", len(unknown)) as advance,
            warnings.catch_warnings(),
            ThreadPoolExecutor(os.cpu_count()) as pool,
        ):
            # Set here and not in the threads, where it would leak: filters belong to the process.
            warnings.simplefilter("ignore")
            for start in range(0, len(unknown), _SAVE_EVERY):
                chunk = unknown[start : start + _SAVE_EVERY]
                stamped = [memory.stamp(path) for path in chunk]
                fresh = list(pool.map(partial(probe, max_pixels=max_pixels), chunk))
                memory.keep(zip(stamped, fresh, strict=True))
                probes.update(zip(chunk, fresh, strict=True))
                advance(len(chunk))
    return probes
