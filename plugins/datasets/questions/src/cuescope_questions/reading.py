"""The rows of a question file, whatever its format: CSV, TSV, JSON, JSONL or Parquet."""

import csv
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile, require_inside
from cuescope_sdk.logs import LogFile

Row = dict[str, Any]
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


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


def read_rows(
    path: Path,
    title: str,
    inside: str | None = None,
    columns: Collection[str] = (),
) -> Iterator[tuple[str, Row]]:
    """Each row behind its place ("TITLE: FILE line 3"); raises UserError for what is no table.

    A row that has a list `inside` it is as many rows. Of a Parquet file these `columns` alone are
    read, all where there are none.
    """
    for place, row in _read_file(path, title, inside, columns):
        parts = row.get(inside or "")
        if inside is None or parts is None:
            yield place, row
            continue
        outer = {column: cell for column, cell in row.items() if column != inside}
        for number, part in enumerate(_named_rows(parts, place, "question"), start=1):
            yield f"{place} question {number}", outer | part


def _read_file(
    path: Path,
    title: str,
    inside: str | None,
    columns: Collection[str],
) -> Iterator[tuple[str, Row]]:
    if path.suffix.lower() == ".json":
        yield from _read_json(path, title, inside)
        return
    # MMBench has pictures in cells, longer than Python's csv takes by itself: the most it can
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield from LogFile(path, title).rows(tuple(columns))
    finally:
        csv.field_size_limit(limit)


def _named_rows(rows: Any, place: str, name: str) -> Iterator[Row]:
    """The objects of a list; or of an object, each of which gets its own key as column `name`."""
    if isinstance(rows, dict):
        for key, row in rows.items():
            yield {name: key} | _require_object(row, place)
        return
    if not isinstance(rows, list):
        raise UserError(place, expected="a JSON list of objects", got=f"{rows!r:.60}")
    for number, row in enumerate(rows, start=1):
        yield _require_object(row, f"{place} entry {number}")


def _read_json(path: Path, title: str, inside: str | None) -> Iterator[tuple[str, Row]]:
    file = LogFile(path, title)
    place = f"{title}: {path.name}"
    # POPE's files are called .json and have an object a line
    first, _, second = TextFile(path, title).text().lstrip().partition("\n")
    if first.startswith("{") and second.lstrip().startswith("{"):
        yield from file.json_lines()
        return
    rows = file.json_document()
    if isinstance(rows, dict):
        # ScienceQA's rows are named by their numbers; any other object is a row
        named = all(isinstance(row, dict) for row in rows.values())
        tables = [cell for cell in rows.values() if _is_table(cell)]
        if inside in rows or not (named or len(tables) == 1):
            yield place, rows
            return
        # {"version": 1, "data": [{"question": ...}]}
        rows = rows if named else tables[0]
    for number, row in enumerate(_named_rows(rows, place, "key"), start=1):
        yield f"{place} entry {number}", row


def _is_table(cell: Any) -> bool:
    return isinstance(cell, list) and bool(cell) and isinstance(cell[0], dict)


def _require_object(row: Any, place: str) -> Row:
    if not isinstance(row, dict):
        raise UserError(place, expected="a JSON object", got=f"{row!r:.60}")
    return row
