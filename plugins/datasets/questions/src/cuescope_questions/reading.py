"""The rows of a question file, whatever its format: CSV, TSV, JSON, JSONL or Parquet."""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile, require_inside

Row = dict[str, Any]
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
SHOWN = 60  # characters of a bad value


def find_files(path: Path, patterns: Sequence[str], title: str) -> list[Path]:
    """The file itself, or the files of a folder that a pattern finds, up to two folders below.

    Raises UserError where there is none.
    """
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise UserError(
                f"{title}: {path.name}",
                expected=f"a file {', '.join(SUFFIXES)}",
                got=f"'{path.suffix}'",
            )
        return [path]
    if not path.is_dir():
        raise UserError(
            f"{title}: no such file or folder",
            expected="the question file, or its folder",
            got=f"'{path}'",
        )
    for pattern in patterns:
        files = set(path.glob(pattern))
        # authors' archives unpack into a folder, and some into one more
        files.update(path.glob(f"*/{pattern}"), path.glob(f"*/*/{pattern}"))
        if files:
            # a link in the folder may lead out of it (docs/adr/0021)
            require_inside([path], files, title)
            # file systems list a folder in orders of their own, and keys count on
            return sorted(files)
    raise UserError(
        f"{title}: no question file in '{path}'",
        expected=" or ".join(patterns),
        remedy="Give the file itself",
    )


def read_rows(path: Path, title: str) -> Iterator[tuple[str, Row]]:
    """Each row behind its place ("TITLE: FILE line 3"); raises UserError for what is no table."""
    file = TextFile(path, title)
    match path.suffix.lower():
        case ".csv":
            yield from _read_table(file, ",")
        case ".tsv":
            yield from _read_table(file, "\t")
        case ".jsonl":
            yield from _read_json_lines(file)
        case ".json":
            yield from _read_json(file)
        case _:
            yield from _read_parquet(path, file.name)


def _read_table(file: TextFile, delimiter: str) -> Iterator[tuple[str, Row]]:
    for line, row in file.table(delimiter):
        yield f"{file.name} line {line}", dict(row)


def _read_json_lines(file: TextFile) -> Iterator[tuple[str, Row]]:
    for place, line in file.lines():
        yield place, _require_object(_parse(line, place), place)


def _read_json(file: TextFile) -> Iterator[tuple[str, Row]]:
    rows = _parse(file.text(), file.name)
    if not isinstance(rows, list):
        raise UserError(
            file.name,
            expected="a JSON list of objects",
            got=_shorten(rows),
        )
    for number, row in enumerate(rows, start=1):
        place = f"{file.name} entry {number}"
        yield place, _require_object(row, place)


def _parse(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{place} is no JSON", got=str(error)) from None
    except RecursionError:  # brackets nested by the thousand
        raise UserError(f"{place} is no JSON list of objects") from None


def _require_object(row: Any, place: str) -> Row:
    if not isinstance(row, dict):
        raise UserError(place, expected="a JSON object", got=_shorten(row))
    return row


def _read_parquet(path: Path, name: str) -> Iterator[tuple[str, Row]]:
    # late: to list plugins must not cost pyarrow (docs/adr/0002)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        # Arrow's errors have several lines, and one is shown
        reason = str(error).splitlines()[0]
        raise UserError(f"{name} is no Parquet file", got=reason) from error
    for number, row in enumerate(table.to_pylist(), start=1):
        yield f"{name} row {number}", row


def list_of_texts(value: Any, place: str) -> list[str]:
    """A list, or a text that has one as JSON or Python writes it; raises UserError for others.

    Nothing in a text is run: it may hold literals alone. None is an empty list.
    """
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _list_in_text(value)
    if isinstance(value, dict):  # {"A": "red", "B": "blue"}
        value = list(value.values())
    if not isinstance(value, list) or not all(
        isinstance(item, str | int | float) for item in value
    ):
        raise UserError(place, expected="a list of options", got=_shorten(value))
    return [str(item).strip() for item in value]


def _list_in_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        # LongVideoBench writes a list as Python does: ['it\'s', "run"]
        return ast.literal_eval(text)
    # what `literal_eval` may raise for a text that is long or deeply nested
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _shorten(value: Any) -> str:
    return repr(value)[:SHOWN]
