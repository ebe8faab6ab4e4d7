"""Tar shards in the layout of WebDataset: files of one name, with other suffixes, are a sample.

https://github.com/webdataset/webdataset. Nothing in a shard is unpickled.
"""

import gzip
import os
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any

from cuescope_folder.addresses import is_address, name_at, open_address, stamp_of
from cuescope_folder.answers import read_names
from cuescope_folder.cells import MOST_TEXT, parse_modest_json
from cuescope_folder.copies import Copies
from cuescope_folder.tables import FILES, Row
from cuescope_sdk import Context, UserError, digest, inside
from cuescope_sdk.data import Unread, kind_of, printable_name

GZIP = b"\x1f\x8b"
MASKS = ("mask", "seg")  # "0001.mask.png"
TEXTS = ("cls", "txt", "text", "json")
MOST_BYTES = 2**30  # of the files of a sample
# of what stands before a file: its long name, its times. tarfile reads it whole
MOST_HEADERS = 2**17
# A compressed shard may grow without end. Images are compressed already, and hardly grow.
SMALL_SHARD = 2**27
GROWTH = 100
MOST_GROWN = 2**36
MOST_DIGITS = 9  # of the number of a class
CLASS_NAMES = "classnames.txt"  # beside the shards, a name a line


def shard_rows(
    shards: Sequence[str],
    copies: Copies,
    class_names: Path | None,
    context: Context,
) -> tuple[list[Row], Unread]:
    """A row for each sample with an image or video, and what was passed over.

    Images and videos lie in `copies` afterwards, and a shard that was read once is not read again.
    Raises UserError for a shard that cannot be read.
    """
    rows: list[Row] = []
    unread = Unread()
    names = _class_names(shards, class_names)
    titles = Counter(PurePosixPath(shard).name for shard in shards)
    with context.progress("Reading shards", len(shards)) as advance:
        for shard in shards:
            title = PurePosixPath(shard).name
            # shards of two folders may have one name, and names are keys
            if titles[title] > 1:
                title = name_at(shard) if is_address(shard) else shard
            stamp = digest("shard", title, _stamp(shard))
            records = copies.recall_records(stamp)
            if records is None:
                records = list(_records(shard, title, copies))
                copies.remember(stamp, records)
            for record in records:
                if "path" in record["cells"]:
                    rows.append(_row(record, names))
                else:
                    unread.add("samples of shards", "no image or video")
                for suffix in record.get("passed", ()):
                    unread.add(f".{suffix}", "in shards")
            advance(1)
    if not rows:
        raise UserError(
            f"folder: no images or videos in {len(shards)} shards",
            expected="files of one name a sample: 0001.jpg, 0001.cls or 0001.json",
        )
    return rows, unread


def _row(record: Mapping[str, Any], names: Sequence[str]) -> Row:
    cells = dict(record["cells"])
    label = cells.pop("cls", None)
    if label is not None and "label" not in cells:
        number = str(label)
        if names and number.isdecimal():
            # by its length first: int() of a very long number is slow
            if len(number) > MOST_DIGITS or int(number) >= len(names):
                raise UserError(
                    f"folder: {record['location']}: class {number[:MOST_DIGITS]}",
                    expected=f"one of {len(names)} names in {CLASS_NAMES}",
                )
            label = names[int(number)]
        cells["label"] = label
    return Row(record["location"], cells)


def _records(shard: str, title: str, copies: Copies) -> Iterator[dict[str, Any]]:
    """The samples of a shard, in order: cells, where they stand, suffixes that are not read."""
    key = None
    parts = dict[str, bytes]()
    held = 0
    try:
        for archive, member in _members(shard):
            name = printable_name(member.name.removeprefix("./"))
            folder, slash, last = name.rpartition("/")
            # at the first dot: of 0001.mask.png the suffix is mask.png
            stem, dot, suffix = last.partition(".")
            # a sparse file is holes that stand for any number of zeros
            if not member.isfile() or member.issparse() or not dot or not stem:
                continue
            # WebDataset keeps the files of a sample side by side
            if folder + slash + stem != key:
                if key is not None:
                    yield _record(title, key, parts, copies)
                key = folder + slash + stem
                parts = {}
                held = 0
            suffix = suffix.lower()
            parts[suffix] = b""
            is_text = suffix in TEXTS
            # of others the suffix is all that is told
            if not is_text and not kind_of(PurePosixPath(f"a.{suffix}")):
                continue
            held += member.size
            most = MOST_TEXT if is_text else MOST_BYTES
            if member.size > most or held > MOST_BYTES:
                raise UserError(
                    f"folder: {title}: {name}",
                    expected=f"at most {most:,} bytes, and {MOST_BYTES:,} of a sample",
                    got=f"{member.size:,}, and {held:,}",
                )
            content = archive.extractfile(member)
            parts[suffix] = content.read() if content else b""
    except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
        raise UserError(
            f"folder: cannot read the shard {shard}", got=str(error)[:100]
        ) from error
    if key is not None:
        yield _record(title, key, parts, copies)


def _members(shard: str) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The members of a shard as they come."""
    with _open(shard) as file:
        stream = _unpack(file)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            # typeshed does not name it
            kept: list[tarfile.TarInfo] = getattr(archive, "members")  # noqa: B009
            for member in archive:
                # where the next header stands
                stream.until = archive.offset
                yield archive, member
                # it would keep millions of them
                kept.clear()


def _record(
    shard: str,
    key: str,
    parts: Mapping[str, bytes],
    copies: Copies,
) -> dict[str, Any]:
    location = f"{shard}: '{key}'"
    shown: list[str] = []
    masks: list[str] = []
    passed = []
    for suffix in parts:
        if kind_of(PurePosixPath(f"a.{suffix}")):
            is_mask = suffix.split(".")[0] in MASKS
            (masks if is_mask else shown).append(suffix)
        elif suffix not in TEXTS:
            passed.append(suffix)
    if len(shown) > 1:
        raise UserError(
            f"folder: {location} has several images",
            expected="one image or video a sample, and perhaps one called mask.png",
            got=", ".join(shown),
        )
    cells: dict[str, Any] = {}
    for column, suffixes in (("path", shown), ("mask", masks[:1])):
        for suffix in suffixes:
            name = f"{shard}/{key}.{suffix}"
            copies.add(name, parts[suffix])
            cells[column] = name
    for suffix, column in (("cls", "cls"), ("txt", "text"), ("text", "text")):
        if suffix in parts:
            cells[column] = parts[suffix].decode("utf-8", "replace").strip()
    if "json" in parts:
        # what a file of its own says wins over the .json
        cells = _json(parts["json"], location) | cells
    return {
        "location": location,
        "cells": cells,
        "passed": passed,
        "files": copies.of(cells),
    }


def _json(content: bytes, location: str) -> dict[str, Any]:
    cells = parse_modest_json(content, f"folder: {location}.json")
    if not isinstance(cells, dict):
        raise UserError(f"folder: {location}.json", expected="a JSON object")
    # in any spelling: a shard has its files in it, and names none
    files = {"path", "mask", *FILES}
    return {
        name: cell for name, cell in cells.items() if name.strip().lower() not in files
    }


def _class_names(shards: Sequence[str], given: Path | None) -> list[str]:
    """The names of classes by their numbers: of a given file, or of one beside local shards."""
    if given is not None:
        return read_names(given.expanduser(), "names")
    if is_address(shards[0]):
        return []
    for folder in Path(shards[0]).expanduser().absolute().parents[:2]:
        file = folder / CLASS_NAMES
        if file.is_file():
            # nobody typed its name, and it may be a link
            inside(folder, file, f"folder: {CLASS_NAMES}")
            return read_names(file, "names")
    return []


class _Unpacked:
    """A shard while it is read, uncompressed; raises ValueError where it grows without end.

    Or where its headers do: `until` is where the one that is awaited begins.
    """

    def __init__(self, file: Any, most: int | None) -> None:
        self._file = file
        self._most = most
        self._done = 0
        self.until = 0

    def read(self, size: int) -> bytes:
        """The next bytes."""
        content: bytes = self._file.read(size)
        self._done += len(content)
        if self._most is not None and self._done > self._most:
            raise ValueError("it unpacks to far more than it is large")
        # tarfile reads ahead by one such part
        if self._done > self.until + MOST_HEADERS + size:
            raise ValueError("a header in it is longer than a file's name and facts")
        return content


def _unpack(file: Any) -> Any:
    """The bytes of a tar file, which may be compressed by gzip."""
    whole = BufferedReader(file)
    # by its first bytes, for a name may say anything
    if not whole.peek(len(GZIP)).startswith(GZIP):
        return _Unpacked(whole, None)
    most = min(MOST_GROWN, SMALL_SHARD + GROWTH * _stored_size(file))
    return _Unpacked(gzip.GzipFile(fileobj=whole), most)


def _stored_size(file: Any) -> int:
    """The bytes of a file that is open, or what is taken for them where a server does not say."""
    size = getattr(file, "size", None)
    if size is not None:
        return int(size)
    try:
        return os.fstat(file.fileno()).st_size
    # what a server sends has no descriptor
    except (OSError, AttributeError):
        return SMALL_SHARD


def _open(shard: str) -> Any:
    if is_address(shard):
        return open_address(shard)
    path = Path(shard).expanduser()
    if not path.is_file():  # a pipe would be waited for
        raise UserError(f"folder: shard {shard}", expected="a file")
    return path.open("rb")


def _stamp(shard: str) -> str:
    if is_address(shard):
        return stamp_of(shard)
    path = Path(shard).expanduser()
    try:
        status = path.stat()
    except OSError as error:
        raise UserError(f"folder: no shard {shard}", got=error.strerror) from None
    return digest(str(path.resolve()), status.st_size, status.st_mtime_ns)
