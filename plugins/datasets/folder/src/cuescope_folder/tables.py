"""The rows of a manifest (CSV, TSV, JSONL, Parquet), by the column names that are known here."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

from cuescope_folder.cells import plain
from cuescope_folder.copies import Copies
from cuescope_folder.layout import MANIFEST_SUFFIXES
from cuescope_sdk import UserError, digest
from cuescope_sdk.data import read_text, table_rows

RIGHT = ("label", "answer", "actions")  # any of them says what is right
COLUMNS = ("path", *RIGHT, "answers", "split", "group", "question", "choices", "mask", "cues")
FILES = ("video", "image", "file", "filename")  # what others call the path
ALIKE = 0.75
MOST_ROWS, MOST_BYTES, PART_BYTES = 5_000_000, 2**30, 2**28


@dataclass(frozen=True, slots=True)
class Row:
    """A row without its missing cells; `location` is where it stands ("line 4", "row 4")."""

    location: str
    cells: Mapping[str, Any]


def read_rows(manifest: Path, copies: Copies) -> list[Row]:
    """The rows of a manifest; raises UserError naming the line for anything that is no row.

    Images that a Parquet file holds as bytes are kept in `copies`.
    """
    reader = _READERS.get(manifest.suffix.lower())
    if reader is None:
        raise UserError(
            f"folder: manifest {manifest.name}",
            expected=f"a file that ends in {', '.join(MANIFEST_SUFFIXES)}",
        )
    try:
        rows = list(reader(manifest, copies))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"folder: cannot read {manifest.name}", got=_first_line(error)) from None
    if not rows:
        raise UserError(f"folder: manifest {manifest.name} has no rows")
    return rows


def path_cells(rows: Sequence[Row]) -> list[str]:
    """What the cells say that name files, in any spelling of their columns."""
    names = {"path", "mask", *FILES}
    return [
        value.strip()
        for row in rows
        for column, value in row.cells.items()
        if column.lower() in names and isinstance(value, str)
    ]


def _csv_rows(manifest: Path, _: Copies, delimiter: str) -> Iterator[Row]:
    text = read_text(manifest, "folder")
    for line, cells in table_rows(text, f"folder: {manifest.name}", delimiter):
        yield _row(f"line {line}", cells)


def _json_rows(manifest: Path, _: Copies) -> Iterator[Row]:
    for number, line in enumerate(StringIO(read_text(manifest, "folder")), start=1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(
                f"folder: {manifest.name} line {number} is no JSON", got=_first_line(error)
            ) from None
        if not isinstance(cells, dict):
            raise UserError(
                f"folder: {manifest.name} line {number}",
                expected="a JSON object",
                got=line.strip()[:60],
            )
        yield _row(f"line {number}", cells)


def _parquet_rows(manifest: Path, copies: Copies) -> Iterator[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(manifest) as file:
            if images := byte_columns(file.schema_arrow):
                yield from _rows_with_images(manifest, file, images, copies)
                return
            batches = list(_batches(manifest, file))
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"folder: {manifest.name} is no Parquet", got=_first_line(error)) from None
    rows = (cells for batch in batches for cells in batch.to_pylist())
    for number, cells in enumerate(rows, start=1):
        yield _row(f"row {number}", cells)


def byte_columns(schema: Any) -> list[str]:
    """The columns that hold files: bytes, or {bytes, path} as Hugging Face writes them."""
    from pyarrow import types

    def holds_bytes(kind: Any) -> bool:
        if types.is_struct(kind):
            return kind.get_field_index("bytes") >= 0 and holds_bytes(kind.field("bytes").type)
        return bool(types.is_binary(kind) or types.is_large_binary(kind))

    return [field.name for field in schema if holds_bytes(field.type)]


def _rows_with_images(
    manifest: Path, file: Any, columns: Sequence[str], copies: Copies
) -> Iterator[Row]:
    """The rows, with a name in each cell that held a file; that file lies in `copies`.

    Such a table is read once: its rows are remembered.
    """
    status, metadata = manifest.stat(), file.metadata
    stamp = digest("parquet", str(manifest.resolve()), status.st_size, status.st_mtime_ns)
    records = copies.remembered(stamp)
    if records is None:
        if metadata.num_rows > MOST_ROWS:
            raise _too_large(manifest, metadata.num_rows, status.st_size)
        stored = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        together = min(64, max(1, PART_BYTES // max(1, stored)))
        rows = (c for b in file.iter_batches(batch_size=together) for c in b.to_pylist())
        records = []
        for number, cells in enumerate(rows, start=1):
            named = {
                column: _keep(cell, number, column, copies) if column in columns else plain(cell)
                for column, cell in cells.items()
            }
            records.append({"cells": named, "files": copies.of(named)})
        copies.remember(stamp, records)
    for number, record in enumerate(records, start=1):
        yield _row(f"row {number}", record["cells"])


def _keep(cell: Any, number: int, column: str, copies: Copies) -> str | None:
    """The name of the file that a cell holds, None where it holds none."""
    given = cell if isinstance(cell, dict) else {"bytes": cell}
    content, path = given.get("bytes"), str(given.get("path") or "")
    if content is None:
        return path or None
    name = f"row-{number}/{PurePosixPath(path).name or column}"
    copies.add(name, content)
    return name


def _batches(manifest: Path, file: Any) -> Iterator[Any]:
    """The table in parts; raises UserError where it would fill the memory.

    A few bytes may stand for millions of rows, and each of them for one long text.
    """
    metadata = file.metadata
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    stored = sum(group.total_byte_size for group in groups)
    size = stored
    # no cell is larger than all that is stored
    rows = min(4096, max(1, PART_BYTES // max(1, stored)))
    if metadata.num_rows <= MOST_ROWS and stored <= PART_BYTES:
        size = 0
        for batch in file.iter_batches(batch_size=rows):
            size += batch.nbytes
            if size > MOST_BYTES:
                break
            yield batch
        else:
            return
    raise _too_large(manifest, metadata.num_rows, size)


def _too_large(manifest: Path, rows: int, size: int) -> UserError:
    return UserError(
        f"folder: {manifest.name} is too large",
        expected=f"at most {MOST_ROWS:,} rows and {MOST_BYTES:,} bytes",
        got=f"{rows:,} rows and {size:,} bytes or more",
        remedy="Split it, and audit the parts",
    )


def _row(location: str, cells: Mapping[str, Any]) -> Row:
    """The row without what is missing: None, NaN and the empty text."""
    named = {str(column).strip(): value for column, value in cells.items()}
    return Row(location, {c: v for c, v in named.items() if v != "" and plain(v) is not None})


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:100]


_READERS: dict[str, Callable[[Path, Copies], Iterator[Row]]] = {
    ".csv": partial(_csv_rows, delimiter=","),
    ".tsv": partial(_csv_rows, delimiter="\t"),
    ".jsonl": _json_rows,
    ".parquet": _parquet_rows,
}


def with_known_names(rows: Sequence[Row], name: str) -> tuple[list[Row], dict[str, str]]:
    """The rows with columns by the names that are known here (`Path` is `path`), and all columns.

    These are the names as they are written, each with the one that it has in the rows.

    Without a `path`, one of `video`, `image`, `file` and `filename` is. Raises UserError where
    there is none, or several, and where nothing says what is right.
    """
    columns = sorted({column for row in rows for column in row.cells})
    known = _spellings(columns, COLUMNS)
    if "path" not in known:
        files = _spellings(columns, FILES)
        if len(files) > 1:
            raise UserError(
                f"folder: manifest {name} has no column 'path'",
                got=f"columns {', '.join(files.values())}",
                remedy="Rename one of them to 'path'",
            )
        known |= dict.fromkeys(("path",) * len(files), *files.values())
    if "path" not in known:
        raise _missing(name, ("path",), columns, ("path", *FILES))
    if not {*RIGHT, "answers"} & known.keys():
        raise _missing(name, RIGHT, columns, RIGHT)
    canonical = {column: name for name, column in known.items()}
    names = {column: canonical.get(column, column) for column in columns}
    renamed = [
        Row(row.location, {names[column]: value for column, value in row.cells.items()})
        for row in rows
    ]
    return renamed, names


def _spellings(columns: Collection[str], names: Sequence[str]) -> dict[str, str]:
    """Name -> the column of that name, as it is written or else the only one in other case."""
    spellings = {}
    for name in names:
        alike = [column for column in columns if column.lower() == name]
        if name in columns:
            spellings[name] = name
        elif len(alike) == 1:
            spellings[name] = alike[0]
    return spellings


def _missing(
    name: str, needed: Sequence[str], columns: Sequence[str], words: Sequence[str]
) -> UserError:
    """The columns that are missing, and which other is probably meant to be one of them."""
    return UserError(
        f"folder: manifest {name} has no column {' or '.join(map(repr, needed))}",
        got=f"columns {', '.join(columns) or 'that are all empty'}",
        remedy=_rename_hint(needed, columns, words) or _add_hint(needed, columns),
    )


def _rename_hint(needed: Sequence[str], columns: Sequence[str], words: Sequence[str]) -> str | None:
    for column in columns:
        lower = column.lower()
        # "video_path" and "gold_label" hold the word itself; others are typing errors of it.
        endings = [word for word in words if lower.endswith(word)]
        meant = endings or get_close_matches(lower, words, 1, ALIKE)
        if meant and lower not in COLUMNS:
            return f"Rename '{column}' to '{meant[0] if meant[0] in needed else needed[0]}'"
    return None


def _add_hint(needed: Sequence[str], columns: Sequence[str]) -> str:
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        return "Put commas between the columns of a .csv, tabs between those of a .tsv"
    if "path" in needed:
        return "Rename the column that names the files to 'path'"
    if any(column.lower() == "question" for column in columns):
        return "Add a column 'answer' with the right answer to each question"
    return "Add a column 'label' with the class of each file"
