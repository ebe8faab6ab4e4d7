"""A damaged SQLite file made anew from its rows: SQLite reads each of its pages by itself.

A page that holds rows is one whatever leads to it: a sound first page, of a table like ours, names
one after the other as the root of its table. Nothing that is read so is trusted: whoever asks
checks each row.
"""

import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import IO, Any

from cuescope_core.atomic_files import Draft, set_aside

Record = tuple[str | bytes | int | float | None, ...]
LEAF = 0x0D  # a page that holds rows of a table (fileformat2.html, section 1.6)
TOGETHER = 500  # rows that are written to the new file at a time
USUAL_PAGE_BYTES = 8192  # of our own files, where the header is lost
_DECODED = {"encoding": "utf-8", "errors": "replace"}


def read_records(path: Path) -> Iterator[Record]:
    """All rows of three cells in the file, then those of its write-ahead log."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file:
        file.seek(16)
        size = int.from_bytes(file.read(2), "big")
    # 65536 does not fit into the header's two bytes, which then hold 1
    size = 65536 if size == 1 else size
    if size not in {2**power for power in range(9, 17)}:
        size = USUAL_PAGE_BYTES
    log = path.with_name(f"{path.name}-wal")
    # in the same folder: it has room for a file of this size
    with TemporaryDirectory(dir=path.parent, prefix=".cuescope-salvage-") as place:
        image = Path(place) / "image.sqlite"
        with path.open("rb") as file, image.open("w+b") as copy:
            copyfileobj(file, copy)
            count = _mend(copy, size)
        yield from _rows_of_pages(image, range(2, count + 1), size)
        if log.exists():
            written = dict(_log_pages(log.read_bytes(), size, count))
            with image.open("r+b") as copy:
                for number, page in written.items():
                    copy.seek((number - 1) * size)
                    copy.write(page)
                _mend(copy, size)
            yield from _rows_of_pages(image, written, size)


def _mend(image: IO[bytes], size: int) -> int:
    """Give a file the first page of a table like ours, and whole pages; how many there are then."""
    # the first page and one of the table are always there
    count = max(-(-image.seek(0, 2) // size), 2)
    image.truncate(count * size)
    with closing(sqlite3.connect(":memory:")) as blank:
        blank.execute(f"PRAGMA page_size = {size}")
        blank.execute("CREATE TABLE rows (key TEXT, value BLOB, seal TEXT)")
        first = bytearray(blank.serialize()[:size])
    first[28:32] = count.to_bytes(4, "big")  # how many pages there are
    image.seek(0)
    image.write(first)
    return count


def _rows_of_pages(image: Path, pages: Iterable[int], size: int) -> Iterator[Record]:
    with (
        image.open("rb") as file,
        closing(sqlite3.connect(image, isolation_level=None)) as connection,
    ):
        # half a letter of a text that is damaged is no reason to stop
        connection.text_factory = lambda text: text.decode(**_DECODED)
        # no row is longer than all of the file: what a damaged one says of itself may be any
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, image.stat().st_size)
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA writable_schema = ON")
        for number in pages:
            file.seek((number - 1) * size)
            if number > 1 and file.read(1) == bytes([LEAF]):
                yield from _rows_of_page(connection, number)


def _rows_of_page(connection: sqlite3.Connection, number: int) -> Iterator[Record]:
    """The rows of a page, from its first and from its last one up to what is damaged."""
    connection.execute("UPDATE sqlite_schema SET rootpage = ?", [number])
    # the schema is read again
    connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("PRAGMA writable_schema = ON")
    for direction in ("ASC", "DESC"):
        query = f"SELECT key, value, seal FROM rows ORDER BY rowid {direction}"
        try:
            yield from connection.execute(query)
            return
        except sqlite3.DatabaseError:
            continue


def _log_pages(log: bytes, size: int, count: int) -> Iterator[tuple[int, bytes]]:
    """Page number and content of the frames since the log was last begun anew.

    The file has `count` pages, and each frame adds one at most. SQLite itself reads none behind a
    damaged one.
    """
    salts = log[16:24]
    # a header of 32 bytes, then frames: 24 bytes and a page each (section 4.1)
    starts = range(32, len(log) - 24 - size + 1, 24 + size)
    for start in starts:
        number = int.from_bytes(log[start : start + 4], "big")
        # frames of before the last checkpoint have other salts; a damaged number may be any
        is_frame = log[start + 8 : start + 16] == salts
        if is_frame and 0 < number <= count + len(starts):
            yield number, log[start + 24 : start + 24 + size]


def rebuild(
    create: Callable[[Path], Any],
    fits: Callable[[Sequence[object]], bool],
    path: Path,
    fault: str,
) -> None:
    """Set the file aside; a new one has all of its rows that fit their seals."""
    # a kill while rows are read leaves the damaged file in its place
    with Draft(path) as draft:
        with closing(create(draft.path)) as fresh:
            rows = (row for row in read_records(path) if fits(row))
            while chunk := list(islice(rows, TOGETHER)):
                fresh.write({key: value for key, value, _ in chunk})
            saved = fresh.count()
        # a stray log would be played into the new file
        aside = set_aside(path, "-wal", "-shm")
    warnings.warn(
        f"{path} was damaged ({fault}): {saved:,} of its rows were saved; "
        f"the damaged file is kept as {aside.name}",
        stacklevel=2,
    )
