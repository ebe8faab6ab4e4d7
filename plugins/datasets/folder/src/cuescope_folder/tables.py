"""The rows of a manifest (CSV, TSV, JSONL, Parquet), by the column names that are known here."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

from cuescope_folder.answers import shorten_list
from cuescope_folder.cells import MOST_DEPTH, parse_modest_json, plain, require_modest
from cuescope_folder.copies import Copies
from cuescope_folder.exports import STUDIO_COLUMNS
from cuescope_folder.layout import MANIFEST_SUFFIXES
from cuescope_sdk import UserError, digest, nearest
from cuescope_sdk.data import TextFile, kind_of, printable_name
from cuescope_sdk.report import count_of

RIGHT = ("label", "answer", "actions")  # any of them says what is right
COLUMNS = (
    "path",
    *RIGHT,
    "answers",
    "split",
    "group",
    "question",
    "choices",
    "mask",
    "cues",
)
# what Label Studio writes beside the data and the label
STUDIO = {"annotation_id", "annotator", "lead_time"}
FILES = ("video", "image", "file", "filename")  # what others call the path
ALIKE = 0.75
MOST_ROWS = 5_000_000
MOST_BYTES = 2**30
PART_BYTES = 2**28
MOST_COLUMNS = 10_000
# A few bytes of a Parquet file may stand for any number of equal cells, or of equal images. Real
# ones are larger: their paths differ, and images are compressed already.
SMALL_CELLS = 2_000_000
CELLS_A_BYTE = 10
SMALL_IMAGES = 2**27
IMAGE_BYTES_A_BYTE = 100
MOST_IMAGE_BYTES = 2**30
_NAMED = 20  # columns that an error lists
_SHOWN = 60  # letters of each


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
    rows: list[Row] = []
    try:
        for row in reader(manifest, copies):
            # while rows come: a table without end would fill the memory
            if len(rows) >= MOST_ROWS:
                raise _too_large(manifest, len(rows) + 1, manifest.stat().st_size)
            rows.append(row)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"folder: cannot read {manifest.name}", got=_first_line(error)
        ) from None
    if not rows:
        raise UserError(f"folder: manifest {manifest.name} has no rows")
    return rows


def path_cells(rows: Sequence[Row], name: str) -> dict[str, str]:
    """What the cells say that name files of this table, with where each of them stands first.

    These are the cells of the columns that are read as `path` and `mask`, and of no others.
    """
    meanings = _known_columns(_columns(rows), name)
    cells: dict[str, str] = {}
    for row in rows:
        for column, value in row.cells.items():
            names_file = meanings.get(column) in ("path", "mask")
            if names_file and isinstance(value, str | int | float):
                # spelled as the row's item will ask for it
                cell = printable_name(str(value).strip())
                cells.setdefault(cell, f"folder: {name} {row.location}: '{column}'")
    return cells


def _csv_rows(manifest: Path, _: Copies, delimiter: str) -> Iterator[Row]:
    file = TextFile(manifest, "folder")
    for line, cells in file.table(delimiter, PART_BYTES):
        yield _row(f"line {line}", cells, file.name)


def _json_rows(manifest: Path, _: Copies) -> Iterator[Row]:
    file = TextFile(manifest, "folder")
    title = file.name
    # StringIO: splitlines would also cut at marks that JSON allows in a text
    for number, line in enumerate(StringIO(file.text(PART_BYTES)), start=1):
        if not line.strip():
            continue
        cells = parse_modest_json(line, f"{title} line {number}")
        if not isinstance(cells, dict):
            raise UserError(
                f"{title} line {number}",
                expected="a JSON object",
                got=line.strip()[:_SHOWN],
            )
        yield _row(f"line {number}", cells, title)


def _parquet_rows(manifest: Path, copies: Copies) -> Iterator[Row]:
    import pyarrow
    from pyarrow import parquet

    title = f"folder: {manifest.name}"
    number = 0
    try:
        with parquet.ParquetFile(manifest) as file:
            _require_modest_table(manifest, file)
            images = byte_columns(file.schema_arrow)
            if images:
                yield from _rows_with_images(manifest, file, images, copies)
                return
            for batch in _batches(manifest, file):
                for cells in batch.to_pylist():
                    number += 1
                    yield _row(f"row {number}", cells, title)
    # a date that no calendar has, an hour of no zone
    except (pyarrow.ArrowException, OSError, OverflowError) as error:
        raise UserError(f"{title} is no Parquet", got=_first_line(error)) from None


def _require_modest_table(manifest: Path, file: Any) -> None:
    """Raise UserError for what the file says of itself, before any of it is decompressed."""
    metadata = file.metadata
    size = manifest.stat().st_size
    columns = metadata.num_columns
    rows = metadata.num_rows
    most_cells = SMALL_CELLS + CELLS_A_BYTE * size
    if columns > MOST_COLUMNS or rows > MOST_ROWS or columns * rows > most_cells:
        raise UserError(
            f"folder: {manifest.name} is too large",
            expected=f"at most {MOST_ROWS:,} rows, {count_of(MOST_COLUMNS, 'columns')}, and "
            f"{most_cells:,} "
            f"cells in {size:,} bytes",
            got=f"{count_of(rows, 'rows')} of {columns:,} columns",
            remedy="Split it, and audit the parts",
        )
    for index in range(columns):
        depth = metadata.schema.column(index).max_definition_level
        if depth > MOST_DEPTH:
            raise UserError(
                f"folder: {manifest.name}",
                expected=f"at most {MOST_DEPTH} lists and structs in each other",
                got=f"{depth}",
            )


def _stored_bytes(metadata: Any) -> int:
    """Of all cells of a Parquet file, before they are compressed."""
    groups = range(metadata.num_row_groups)
    return sum(metadata.row_group(group).total_byte_size for group in groups)


def byte_columns(schema: Any) -> list[str]:
    """The columns that hold files: bytes, or {bytes, path} as Hugging Face writes them."""
    from pyarrow import types

    def holds_bytes(kind: Any) -> bool:
        if types.is_struct(kind):
            return kind.get_field_index("bytes") >= 0 and holds_bytes(
                kind.field("bytes").type
            )
        return bool(types.is_binary(kind) or types.is_large_binary(kind))

    return [field.name for field in schema if holds_bytes(field.type)]


def _rows_with_images(
    manifest: Path,
    file: Any,
    columns: Sequence[str],
    copies: Copies,
) -> Iterator[Row]:
    """The rows, with a name in each cell that held a file; that file lies in `copies`.

    Such a table is read once: its rows are remembered.
    """
    title = f"folder: {manifest.name}"
    status = manifest.stat()
    stamp = digest(
        "parquet",
        str(manifest.resolve()),
        status.st_size,
        status.st_mtime_ns,
    )
    records = copies.recall_records(stamp)
    if records is None:
        records = []
        for number, cells in enumerate(_image_cells(manifest, file, columns), start=1):
            named: dict[str, Any] = {}
            for column, cell in cells.items():
                if column in columns:
                    named[column] = _keep(cell, number, column, copies)
                else:
                    require_modest(cell, column, f"{title} row {number}")
                    named[column] = plain(cell)
            records.append({"cells": named, "files": copies.of(named)})
        copies.remember(stamp, records)
    for number, record in enumerate(records, start=1):
        yield _row(f"row {number}", record["cells"], title)


def _image_cells(
    manifest: Path,
    file: Any,
    columns: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """The cells of each row; raises UserError where they are far more than the file is large."""
    metadata = file.metadata
    stored = _stored_bytes(metadata)
    most = SMALL_IMAGES + IMAGE_BYTES_A_BYTE * manifest.stat().st_size
    if stored > most:
        raise _too_large(manifest, metadata.num_rows, stored, most)
    # few at once: a batch of images is large
    together = min(64, max(1, PART_BYTES // max(1, stored)))
    spent = 0
    for batch in file.iter_batches(batch_size=together):
        for cells in batch.to_pylist():
            for column in columns:
                size = len(_content(cells[column]) or b"")
                spent += size
                if spent > most or size > MOST_IMAGE_BYTES:
                    raise _too_large(manifest, metadata.num_rows, spent, most)
            yield cells


def _content(cell: Any) -> bytes | None:
    """The bytes of a cell that holds a file, None where it has only a path, or nothing."""
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    return content if isinstance(content, bytes) else None


def _keep(cell: Any, number: int, column: str, copies: Copies) -> str | None:
    """The name of the file that a cell holds, or names; None where it does neither."""
    path = str(cell.get("path") or "") if isinstance(cell, dict) else ""
    content = _content(cell)
    if content is None:
        return path or None  # a path as in any other table: it is looked at as one
    name = f"row-{number}/{PurePosixPath(path).name or column}"
    copies.add(name, content)
    return name


def _batches(manifest: Path, file: Any) -> Iterator[Any]:
    """The table in parts; raises UserError where it would fill the memory.

    A few bytes may stand for millions of rows, and each of them for one long text.
    """
    metadata = file.metadata
    stored = _stored_bytes(metadata)
    if metadata.num_rows > MOST_ROWS or stored > PART_BYTES:
        raise _too_large(manifest, metadata.num_rows, stored)
    # no cell is larger than all that is stored
    rows = min(4096, max(1, PART_BYTES // max(1, stored)))
    size = 0
    for batch in file.iter_batches(batch_size=rows):
        size += batch.nbytes
        if size > MOST_BYTES:
            raise _too_large(manifest, metadata.num_rows, size)
        yield batch


def _too_large(
    manifest: Path,
    rows: int,
    size: int,
    most: int = MOST_BYTES,
) -> UserError:
    return UserError(
        f"folder: {manifest.name} is too large",
        expected=f"at most {MOST_ROWS:,} rows and {most:,} bytes",
        got=f"{count_of(rows, 'rows')} and {size:,} bytes or more",
        remedy="Split it, and audit the parts",
    )


def _row(location: str, cells: Mapping[str, Any], title: str) -> Row:
    """The row without what is missing: None, NaN and the empty text.

    Raises UserError, which begins with `title`, for a cell that is too large.
    """
    named = {}
    for column, value in cells.items():
        name = str(column).strip()
        require_modest(value, name, f"{title} {location}")
        named[name] = value
        if value == "" or plain(value) is None:
            del named[name]
    return Row(location, named)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:100]


_READERS: dict[str, Callable[[Path, Copies], Iterator[Row]]] = {
    ".csv": partial(_csv_rows, delimiter=","),
    ".tsv": partial(_csv_rows, delimiter="\t"),
    ".jsonl": _json_rows,
    ".parquet": _parquet_rows,
}


def with_named_columns(
    rows: Sequence[Row], name: str, given: Mapping[str | None, str | None]
) -> list[Row]:
    """The rows with what a person named: the column or field "a.b" under the name that is read.

    An export of Label Studio has columns of its own, and needs no names. Raises UserError for a
    column that no row has.
    """
    columns = _columns(rows)
    named = {role: column for role, column in given.items() if role and column}
    if set(columns) >= STUDIO:
        named = _studio_columns(rows, columns) | named
    # a rule on paths, or a column that is read by its name anyway
    named = {
        role: column
        for role, column in named.items()
        if role != column
        or (column not in columns and "." in column and "(" not in column)
    }
    if not named:
        return list(rows)
    result = []
    found = set()
    for row in rows:
        cells = dict(row.cells)
        for role, column in named.items():
            value = row.cells.get(column)
            value = _field(row.cells, column) if value is None else value
            if value is not None:
                cells[role] = value
                found.add(role)
        result.append(Row(row.location, cells))
    for role, column in named.items():
        if role not in found and role in COLUMNS:
            raise UserError(
                f"folder: manifest {name} has no column '{column}'",
                expected=shorten_list(columns, _NAMED),
                remedy=nearest(column, columns),
            )
    return result


def _studio_columns(rows: Sequence[Row], columns: Sequence[str]) -> dict[str, str]:
    """The column of the files and that of the labels, where one of each is left."""
    others = [column for column in columns if column not in STUDIO_COLUMNS]
    files = [
        column
        for column in others
        if all(_names_file(row.cells.get(column)) for row in rows)
    ]
    labels = [column for column in others if column not in files]
    if len(files) != 1 or len(labels) != 1:
        return {}
    return {"path": files[0], "label": labels[0]}


def _names_file(cell: Any) -> bool:
    return (
        isinstance(cell, str)
        and "." in cell
        and kind_of(PurePosixPath(cell)) is not None
    )


def _field(cells: Mapping[str, Any], path: str) -> Any:
    value: Any = cells
    for name in path.split("."):
        if (
            isinstance(value, list | tuple)
            and name.isdecimal()
            and int(name[:8]) < len(value)
        ):
            value = value[int(name)]
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def with_known_names(
    rows: Sequence[Row], name: str
) -> tuple[list[Row], dict[str, str]]:
    """The rows with columns by the names that are known here (`Path` is `path`), and all columns.

    These are the names as they are written, each with the one that it has in the rows.

    Without a `path`, one of `video`, `image`, `file` and `filename` is. Raises UserError where
    there is none, or several, and where nothing says what is right.
    """
    columns = _columns(rows)
    canonical = _known_columns(columns, name)
    names = {column: canonical.get(column, column) for column in columns}
    with_usual_names = []
    for row in rows:
        cells = {names[column]: value for column, value in row.cells.items()}
        with_usual_names.append(Row(row.location, cells))
    return with_usual_names, names


def _columns(rows: Sequence[Row]) -> list[str]:
    columns: set[str] = set()
    for row in rows:
        columns.update(row.cells)
    return sorted(columns)


def _known_columns(columns: Sequence[str], name: str) -> dict[str, str]:
    """Column -> the name by which it is known here, of those that are."""
    spellings = _spellings(columns, COLUMNS)
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
    name: str,
    needed: Sequence[str],
    columns: Sequence[str],
    words: Sequence[str],
) -> UserError:
    """The columns that are missing, and which other is probably meant to be one of them."""
    shown = [column[:_SHOWN] for column in columns]
    listed = shorten_list(shown, _NAMED) or "that are all empty"
    return UserError(
        f"folder: manifest {name} has no column {' or '.join(map(repr, needed))}",
        got=f"columns {listed}",
        remedy=_remedy(needed, columns, words),
    )


def _remedy(
    needed: Sequence[str],
    columns: Sequence[str],
    words: Sequence[str],
) -> str:
    for column in columns[:MOST_COLUMNS]:
        lower = column.lower()[:_SHOWN]
        # "video_path" and "gold_label" hold the word itself; others are typing errors of it.
        endings = [word for word in words if lower.endswith(word)]
        meant = endings or get_close_matches(lower, words, 1, ALIKE)
        if meant and lower not in COLUMNS:
            name = meant[0] if meant[0] in needed else needed[0]
            if name == "actions":
                return f"Rename '{column[:_SHOWN]}' to 'actions'"
            option = "image" if name in ("path", *FILES) else "label"
            return f"Is it '{column[:_SHOWN]}'? Then add -O data.{option}={column[:_SHOWN]}"
    # the whole line became one column: it has another delimiter
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        return "Put commas between the columns of a .csv, tabs between those of a .tsv"
    if "path" in needed:
        return "Name the column of the files: -O data.image=COLUMN"
    if "question" in map(str.lower, columns):
        return "Add a column 'answer' with the right answer to each question"
    return (
        "Name the column of the labels (-O data.label=COLUMN), or add a column 'label'"
    )
