"""A damaged SQLite file made anew from its rows, read past its indexes and page tree.

Format: https://www.sqlite.org/fileformat2.html, sections 1.3, 1.6, 2.1 and 4. Nothing read here is
trusted: whoever asks checks each record.
"""

import struct
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from cuescope.whole_files import Draft

Record = tuple[str | bytes | int | float | None, ...]
Pages = Callable[[int], bytes]  # the content of a page, by its number from 1
LEAF = 0x0D  # a page that holds rows of a table
TOGETHER = 500  # rows that are written to the new file at a time
USUAL_PAGE_BYTES = 8192  # of our own files, where the header is lost
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def read_records(path: Path, *, columns: int) -> Iterator[Record]:
    """All records of `columns` cells in the file, then those of its write-ahead log."""
    # mmap refuses an empty file
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        size = int.from_bytes(content[16:18], "big")
        # 65536 does not fit into the header's two bytes, which then hold 1
        size = 65536 if size == 1 else size
        if size not in {2**power for power in range(9, 17)}:
            size = USUAL_PAGE_BYTES

        def page_of_file(number: int) -> bytes:
            return content[(number - 1) * size : number * size] if number > 0 else b""

        def newest(number: int) -> bytes:
            return written.get(number) or page_of_file(number)

        for number in range(1, -(-len(content) // size) + 1):
            yield from _of_page(number, page_of_file, size, columns)
        log = path.with_name(path.name + "-wal")
        written = dict(_log_pages(log.read_bytes(), size)) if log.exists() else {}
        for number in written:
            yield from _of_page(number, newest, size, columns)


def _log_pages(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """Page number and content of the frames since the log was last begun anew."""
    salts = log[16:24]
    # a header of 32 bytes, then frames: 24 bytes and a page each
    for start in range(32, len(log) - 24, 24 + size):
        # frames of before the last checkpoint have other salts
        if log[start + 8 : start + 16] == salts:
            number = int.from_bytes(log[start : start + 4], "big")
            yield number, log[start + 24 : start + 24 + size]


def _of_page(number: int, pages: Pages, size: int, columns: int) -> Iterator[Record]:
    page = pages(number)
    head = 100 if number == 1 else 0  # the first page begins with the file's own header
    if page[head : head + 1] != bytes([LEAF]):
        return
    cells = int.from_bytes(page[head + 3 : head + 5], "big")
    # a damaged count may be any; no page has room for more than these
    for cell in range(min(cells, size // 4)):
        place = head + 8 + 2 * cell
        # whatever damage leads to: too few bytes, an overflow without end, a text that is none
        with suppress(IndexError, struct.error, ValueError, OverflowError):
            payload = _payload(
                page, int.from_bytes(page[place : place + 2], "big"), pages, size
            )
            if len(record := _record(payload)) == columns:
                yield record


def _payload(page: bytes, start: int, pages: Pages, size: int) -> bytes:
    """A cell's content, the part on overflow pages too (section 1.6)."""
    length, start = _varint(page, start)
    _, start = _varint(page, start)  # the row's number
    # X, M and K of section 1.6; our files reserve no bytes at the end of a page
    most = size - 35
    if length <= most:
        return page[start : start + length]
    least = (size - 12) * 32 // 255 - 23
    here = least + (length - least) % (size - 4)
    here = here if here <= most else least
    parts = [page[start : start + here]]
    lacking = length - here
    following = int.from_bytes(page[start + here : start + here + 4], "big")
    followed = set[int]()
    while lacking > 0:
        if following in followed:
            raise ValueError("the chain of overflow pages leads in a circle")
        followed.add(following)
        overflow = pages(following)
        if len(overflow) < size:
            raise ValueError("the chain of overflow pages is broken")
        parts.append(overflow[4 : 4 + min(lacking, size - 4)])
        lacking -= size - 4
        following = int.from_bytes(overflow[:4], "big")
    return b"".join(parts)


def _record(payload: bytes) -> Record:
    """The cells of a record (section 2.1)."""
    head, place = _varint(payload, 0)
    kinds = []
    while place < head:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    cells: list[str | bytes | int | float | None] = []
    for kind in kinds:
        # kinds 8 and 9 are the numbers 0 and 1 themselves, and take no bytes
        width = _INTEGER_BYTES.get(kind, 8 if kind == 7 else max(kind - 12, 0) // 2)
        content = payload[place : place + width]
        if len(content) < width:
            raise ValueError("a record that ends too early")
        place += width
        if kind >= 12:
            # odd kinds are texts, even ones are blobs
            cells.append(content.decode() if kind % 2 else content)
        elif kind == 7:
            cells.append(struct.unpack(">d", content)[0])
        else:
            constant = (
                kind - 8 if kind > 7 else int.from_bytes(content, "big", signed=True)
            )
            cells.append(constant if kind else None)
    return tuple(cells)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A variable-length integer, and where it ends."""
    value = 0
    for count in range(9):
        byte = data[place + count]
        # the ninth byte gives all of its eight bits
        if count == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    raise ValueError("unreachable")


def rebuild(
    create: Callable[[Path], Any],
    fits: Callable[[Sequence[object]], bool],
    path: Path,
    fault: str,
) -> None:
    """Set the file aside; a new one has all of its rows that fit their seals."""
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    # a kill while rows are read leaves the damaged file in its place
    with Draft(path) as draft:
        with closing(create(draft.path)) as fresh:
            rows = (row for row in read_records(path, columns=3) if fits(row))
            while chunk := list(islice(rows, TOGETHER)):
                fresh.write({key: value for key, value, _ in chunk})
            saved = fresh.count()
        # a stray log would be played into the new file
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                part = path.with_name(path.name + suffix)
                part.replace(aside.with_name(aside.name + suffix))
    warnings.warn(
        f"{path} was damaged ({fault}): {saved:,} of its rows were saved; "
        f"the damaged file is kept as {aside.name}",
        stacklevel=2,
    )
