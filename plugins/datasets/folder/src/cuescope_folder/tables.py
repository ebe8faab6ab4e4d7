"""The rows of a manifest (CSV, TSV, JSONL, Parquet), by the column names that are known here."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from cuescope_folder.answers import shorten_list
from cuescope_folder.cells import COLUMNS, plain
from cuescope_folder.copies import Copies, Record
from cuescope_folder.layout import MANIFEST_SUFFIXES
from cuescope_sdk import UserError, digest, nearest
from cuescope_sdk.logs import LogFile, Manifest

RIGHT = ("label", "answer", "actions")  # any of them says what is right
FILES = ("video", "image", "file", "filename")  # what others call the path


def read_manifest(file: Path, copies: Copies) -> Manifest:
    """The rows of a table; raises UserError naming the line for anything that is no row.

    Images that a Parquet file holds as bytes are kept in `copies`. Such a table is read once: its
    rows are remembered.
    """
    suffix = file.suffix.lower()
    if suffix not in MANIFEST_SUFFIXES:
        raise UserError(
            f"folder: manifest {file.name}",
            expected=f"a file that ends in {', '.join(MANIFEST_SUFFIXES)}",
        )
    if suffix != ".parquet" or not _byte_columns(file):
        return Manifest.of_file(file, "folder")
    status = file.stat()
    stamp = digest(
        "parquet",
        str(file.resolve()),
        status.st_size,
        status.st_mtime_ns,
    )
    records = copies.read_once(stamp, lambda: _records(file, copies))
    return Manifest.of_rows((record.location, record.cells) for record in records)


def _byte_columns(manifest: Path) -> list[str]:
    """The columns that hold files: bytes, or {bytes, path} as Hugging Face writes them."""
    from pyarrow import ArrowException, parquet, types

    try:
        schema = parquet.read_schema(manifest)
    except (ArrowException, OSError):  # told where its rows are read
        return []

    def holds_bytes(kind: Any) -> bool:
        if types.is_struct(kind):
            index = kind.get_field_index("bytes")
            return index >= 0 and holds_bytes(kind.field(index).type)
        return bool(types.is_binary(kind) or types.is_large_binary(kind))

    return [field.name for field in schema if holds_bytes(field.type)]


def _records(manifest: Path, copies: Copies) -> Iterator[Record]:
    """The rows, with a name in each cell that held a file; that file lies in `copies`."""
    columns = _byte_columns(manifest)
    table = LogFile(manifest, "folder").parquet_rows()
    for number, (place, row) in enumerate(table, start=1):
        named: dict[str, Any] = {}
        for column, cell in row.items():
            if column in columns:
                named[column] = _keep(cell, number, column, copies)
            else:
                named[column] = plain(cell)
        yield Record(location=place.removeprefix("folder: "), cells=named)


def _keep(cell: Any, number: int, column: str, copies: Copies) -> str | None:
    """The name of the file that a cell holds, or names; None where it does neither."""
    path = ""
    if isinstance(cell, dict):
        path = str(cell.get("path") or "")
        cell = cell.get("bytes")
    if not isinstance(cell, bytes):
        return path or None  # a path as in any other table: it is looked at as one
    name = f"row-{number}/{PurePosixPath(path).name or column}"
    copies.add(name, cell)
    return name


def with_named_columns(
    manifest: Manifest, name: str, given: Mapping[str | None, str | None]
) -> Manifest:
    """The rows with what a person named: the column or field "a.b" under the name that is read.

    Raises UserError for a column that no row has.
    """
    fields = {}
    for role, column in given.items():
        is_field = column and "." in column and column not in manifest.columns
        # a rule on paths, or a column that is read by its name anyway
        if role and column and (role != column or (is_field and "(" not in column)):
            fields[role] = column
    if not fields:
        return manifest
    named = manifest.with_fields(fields)
    for role, column in fields.items():
        if role not in named.columns and role in COLUMNS:
            columns = sorted(manifest.columns)
            raise UserError(
                f"folder: manifest {name} has no column '{column}'",
                expected=shorten_list(columns),
                remedy=nearest(column, columns),
            )
    return named


def known_columns(columns: Sequence[str], name: str) -> dict[str, str]:
    """Column -> the name by which it is known here, of those that are (`Path` is `path`).

    Without a `path`, one of `video`, `image`, `file` and `filename` is. Raises UserError where
    there is none, or several, where nothing says what is right, and where there is no row.
    """
    spellings = _spellings(columns, tuple(COLUMNS))
    if not columns:
        raise UserError(f"folder: manifest {name} has no rows")
    if "path" not in spellings:
        files = list(_spellings(columns, FILES).values())
        if not files:
            raise _missing(name, ("path",), columns, ("path", *FILES))
        if len(files) > 1:
            raise UserError(
                f"folder: manifest {name} has no column 'path'",
                got=f"columns {', '.join(files)}",
                remedy="Rename one of them to 'path'",
            )
        spellings["path"] = files[0]
    if spellings.keys().isdisjoint((*RIGHT, "answers")):
        raise _missing(name, RIGHT, columns, RIGHT)
    return {column: meaning for meaning, column in spellings.items()}


def _spellings(columns: Collection[str], names: Sequence[str]) -> dict[str, str]:
    """Name -> the column of that name, as it is written or else the only one in other case."""
    spellings = {}
    lower: dict[str, list[str]] = {}
    for column in columns:
        lower.setdefault(column.lower(), []).append(column)
    for name in names:
        alike = lower.get(name, [])
        if name in alike:
            spellings[name] = name
        elif len(alike) == 1:
            spellings[name] = alike[0]
    return spellings


def _missing(
    name: str, needed: Sequence[str], columns: Sequence[str], words: Sequence[str]
) -> UserError:
    """The columns that are missing, and how to name them."""
    shown = [column[:60] for column in columns]
    listed = shorten_list(shown) or "that are all empty"
    option = "image" if "path" in needed else "label"
    # "video_path" and "gold_label" hold the word itself
    meant = [column for column in shown if column.lower().endswith(tuple(words))]
    if meant:
        remedy = f"Is it '{meant[0]}'? Then add -O data.{option}={meant[0]}"
    # the whole line became one column: it has another delimiter
    elif len(columns) == 1 and "," in columns[0]:
        remedy = "Put tabs between the columns of a .tsv"
    elif option == "image":
        remedy = "Name the column of the files: -O data.image=COLUMN"
    else:
        remedy = (
            "Name the column of the labels (-O data.label=COLUMN), or add a column 'label', or "
            "'answer' with the right answer to each question"
        )
    if not meant and (typing_error := nearest(needed[0], shown)):
        remedy = f"{typing_error} {remedy}"
    return UserError(
        f"folder: manifest {name} has no column {' or '.join(map(repr, needed))}",
        got=f"columns {listed}",
        remedy=remedy,
    )
