"""Tar shards in the layout of WebDataset: files of one name, with other suffixes, are a sample.

https://github.com/webdataset/webdataset. Nothing in a shard is unpickled.
"""

import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from cuescope_folder.addresses import is_address, name_at, open_address, stamp_of
from cuescope_folder.answers import read_names
from cuescope_folder.copies import Copies, Record
from cuescope_folder.roots import Roots
from cuescope_folder.tables import FILES
from cuescope_sdk import Context, UserError, digest, inside
from cuescope_sdk.data import Unread, kind_of, printable_name
from cuescope_sdk.logs import Row, parse_json

MASKS = ("mask", "seg")  # "0001.mask.png"
TEXTS = {"cls": "cls", "txt": "text", "text": "text"}  # suffix -> column
# of a file: one that unpacks to more would fill the memory; the usual length of a whole shard
# (the default of webdataset's ShardWriter, maxsize=3e9)
MOST_BYTES = 3_000_000_000
CLASS_NAMES = "classnames.txt"  # beside the shards, a name a line


def shard_rows(
    shards: Sequence[str],
    copies: Copies,
    roots: Roots,
    context: Context,
) -> tuple[list[Row], Unread]:
    """A row for each sample with an image or video, and what was passed over.

    Images and videos lie in `copies` afterwards, and a shard that was read once is not read again.
    Raises UserError for a shard that cannot be read.
    """
    rows: list[Row] = []
    unread = Unread()
    names = _class_names(shards)
    titles = Counter(PurePosixPath(shard).name for shard in shards)
    with context.progress("Reading shards", len(shards)) as advance:
        for shard in shards:
            title = PurePosixPath(shard).name
            # shards of two folders may have one name, and names are keys
            if titles[title] > 1:
                title = name_at(shard) if is_address(shard) else shard
            stamp = digest("shard", title, _stamp(shard, roots))
            read = partial(_records, shard, title, copies, roots)
            for record in copies.read_once(stamp, read):
                if "path" in record.cells:
                    rows.append(_row(record, names))
                else:
                    unread.add("samples of shards", "no image or video")
                for suffix in record.passed:
                    unread.add(f".{suffix}", "in shards")
            advance(1)
    if not rows:
        raise UserError(
            f"folder: no images or videos in {len(shards)} shards",
            expected="files of one name a sample: 0001.jpg, 0001.cls or 0001.json",
        )
    return rows, unread


def _row(record: Record, names: Mapping[str, str]) -> Row:
    cells = dict(record.cells)
    label = cells.pop("cls", None)
    if label is not None and "label" not in cells:
        if names and label.isdecimal() and label not in names:
            raise UserError(
                f"folder: {record.location}: class {label:.9}",
                expected=f"one of {len(names)} names in {CLASS_NAMES}",
            )
        cells["label"] = names.get(label, label)
    return Row(record.location, cells)


def _records(shard: str, title: str, copies: Copies, roots: Roots) -> Iterator[Record]:
    """The samples of a shard, in order: cells, where they stand, suffixes that are not read."""
    try:
        # WebDataset keeps the files of a sample side by side
        for key, members in groupby(_members(shard, roots), itemgetter(0)):
            parts = {suffix: content for _, suffix, content in members}
            yield _record(title, key, parts, copies)
    except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
        raise UserError(
            f"folder: cannot read the shard {shard}", got=str(error)[:100]
        ) from error


def _members(shard: str, roots: Roots) -> Iterator[tuple[str, str, bytes]]:
    """The sample, suffix and content of each file as they come; "" of what is not read."""
    with _open(shard, roots) as file, tarfile.open(fileobj=file, mode="r|*") as archive:
        # typeshed does not name it
        kept: list[tarfile.TarInfo] = getattr(archive, "members")  # noqa: B009
        for member in archive:
            # it would keep millions of them
            kept.clear()
            name = printable_name(member.name.removeprefix("./"))
            folder, slash, last = name.rpartition("/")
            # at the first dot: of 0001.mask.png the suffix is mask.png
            stem, dot, suffix = last.partition(".")
            # a sparse file is holes that stand for any number of zeros
            if not member.isfile() or member.issparse() or not dot or not stem:
                continue
            suffix = suffix.lower()
            is_read = suffix in (*TEXTS, "json") or kind_of(
                PurePosixPath(f"a.{suffix}")
            )
            content = archive.extractfile(member) if is_read else None
            if content is not None and member.size > MOST_BYTES:
                raise ValueError(f"{name} has {member.size:,} bytes")
            yield folder + slash + stem, suffix, content.read() if content else b""


def _record(
    shard: str,
    key: str,
    parts: Mapping[str, bytes],
    copies: Copies,
) -> Record:
    location = f"{shard}: '{key}'"
    shown: list[str] = []
    masks: list[str] = []
    passed = []
    for suffix in parts:
        if kind_of(PurePosixPath(f"a.{suffix}")):
            is_mask = suffix.split(".")[0] in MASKS
            (masks if is_mask else shown).append(suffix)
        elif suffix not in (*TEXTS, "json"):
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
            cells[column] = f"{shard}/{key}.{suffix}"
            copies.add(cells[column], parts[suffix])
    for suffix, column in TEXTS.items():
        if suffix in parts:
            cells[column] = parts[suffix].decode("utf-8", "replace").strip()
    if "json" in parts:
        # what a file of its own says wins over the .json
        cells = _json(parts["json"], location) | cells
    return Record(location=location, cells=cells, passed=passed)


def _json(content: bytes, location: str) -> dict[str, Any]:
    cells = parse_json(content, f"folder: {location}.json")
    if not isinstance(cells, dict):
        raise UserError(f"folder: {location}.json", expected="a JSON object")
    # in any spelling: a shard has its files in it, and names none
    files = {"path", "mask", *FILES}
    return {
        name: cell for name, cell in cells.items() if name.strip().lower() not in files
    }


def _class_names(shards: Sequence[str]) -> dict[str, str]:
    """The names of classes by their numbers, from a file beside local shards."""
    if is_address(shards[0]):
        return {}
    for folder in Path(shards[0]).expanduser().absolute().parents[:2]:
        file = folder / CLASS_NAMES
        if file.is_file():
            # nobody typed its name, and it may be a link
            inside(folder, file, f"folder: {CLASS_NAMES}")
            names = enumerate(read_names(file, "names"))
            return {str(number): name for number, name in names}
    return {}


def _open(shard: str, roots: Roots) -> AbstractContextManager[BinaryIO]:
    if is_address(shard):
        return open_address(shard, roots)
    path = Path(shard).expanduser()
    if not path.is_file():  # a pipe would be waited for
        raise UserError(f"folder: shard {shard}", expected="a file")
    return path.open("rb")


def _stamp(shard: str, roots: Roots) -> str:
    if is_address(shard):
        return stamp_of(shard, roots)
    path = Path(shard).expanduser()
    try:
        status = path.stat()
    except OSError as error:
        raise UserError(f"folder: no shard {shard}", got=error.strerror) from None
    return digest(str(path.resolve()), status.st_size, status.st_mtime_ns)
