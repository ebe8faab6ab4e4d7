"""Files of strangers, read within bounds: lines, JSON and Parquet."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from cuescope_core.parquet_files import require_pyarrow
from cuescope_core.plain_json import SHOWN, parse_json as parse_json, require_object
from cuescope_sdk import UserError, inside
from cuescope_sdk.data import TextFile
from cuescope_sdk.data._own_files import READ_FLAGS

MOST_LINE = 2**24  # bytes of a line
MOST_DOCUMENT = 2**28  # bytes of a file that is read whole
MOST_ROWS = 2_000_000
BATCH_ROWS = 256  # of Parquet that are unfolded at once


@contextmanager
def open_file(path: Path, title: str) -> Iterator[BinaryIO]:
    """A file to read; raises UserError for what is none, or cannot be read."""
    try:
        # a pipe in the place of a file must not be waited for
        descriptor = os.open(path, READ_FLAGS)
    except OSError as error:
        raise UserError(
            f"{title}: cannot read {path.name}", got=error.strerror
        ) from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UserError(
                f"{title}: {path.name}",
                expected="a file",
                got="a pipe or a device",
            )
        yield file


def _refuse_twins(place: str, pairs: list[tuple[str, Any]]) -> None:
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise UserError(f"{place}: '{name[:SHOWN]}' stands there twice")
        names.add(name)


def named_rows(rows: Any, place: str, name: str) -> Iterator[dict[str, Any]]:
    """The objects of a list; or of an object, each of which gets its own key as column `name`."""
    if isinstance(rows, dict):
        for key, row in rows.items():
            yield {name: key} | require_object(row, place)
        return
    if not isinstance(rows, list):
        raise UserError(place, expected="a JSON list of objects", got=f"{rows!r:.60}")
    for number, row in enumerate(rows, start=1):
        yield require_object(row, f"{place} entry {number}")


def field_at(value: Any, path: str) -> Any:
    """A field within fields, by a dotted name: `score.value`, `messages.-1.content`; else None."""
    for name in path.split("."):
        number = name.removeprefix("-")
        if isinstance(value, list | tuple) and number.isdecimal() and len(number) < 9:
            index = int(name)
            value = value[index] if -len(value) <= index < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_table(cell: Any) -> bool:
    return isinstance(cell, list) and bool(cell) and isinstance(cell[0], dict)


@dataclass(frozen=True)
class LogFile:
    """A file of a stranger; `title` names its format, and begins each line of a fault."""

    path: Path
    title: str = "log"

    def first_bytes(self, count: int = 4096) -> bytes:
        """The beginning of a file; empty for what is no file, or cannot be read."""
        if not self.path.is_file():
            return b""
        try:
            with open_file(self.path, self.title) as file:
                return file.read(count)
        except (UserError, OSError):
            return b""

    def beside(self, name: str) -> "LogFile | None":
        """The file of this name in its folder; None where there is none.

        Raises UserError for a link that leads out of the folder.
        """
        file = self.path.with_name(name)
        inside(file.parent, name, f"{self.title}: {name}")
        return LogFile(file, self.title) if file.is_file() else None

    def json_document(self, *, unique: bool = False) -> Any:
        """A JSON file, whole; with `unique` no object may have two values under one name."""
        place = f"{self.title}: {self.path.name}"
        text = TextFile(self.path, self.title).text(MOST_DOCUMENT)
        document = parse_json(text, place)
        if unique:
            # Python's JSON takes the last of them without a word
            json.loads(text, object_pairs_hook=partial(_refuse_twins, place))
        return document

    def json_lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each object of a JSONL file behind its place; blank lines are passed over.

        Raises UserError for a line that is no object, or too long; only one is held at a time.
        """
        with open_file(self.path, self.title) as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                place = f"{self.title}: {self.path.name} line {number}"
                if len(line) > MOST_LINE:
                    raise UserError(
                        place,
                        expected=f"at most {MOST_LINE:,} bytes",
                        got="more",
                    )
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if not line.strip():
                    continue
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    raise UserError(
                        place,
                        expected="UTF-8 text",
                        got=error.reason,
                    ) from None
                yield place, require_object(parse_json(text, place), place)

    def rows(
        self,
        columns: tuple[str, ...] | None = None,
        inside: str | None = None,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row of a table behind its place, by the file's suffix: CSV, TSV, JSON(L) or Parquet.

        JSON holds a list of rows, alone or as the one list of an object, or an object of rows: the
        name of each is its column `key` then. A row that has a list `inside` it is as many rows. Of
        Parquet these `columns` alone are read, where any are named. Raises UserError as the
        readers of these formats do.
        """
        for place, row in self._whole_rows(columns, inside):
            parts = row.get(inside) if inside else None
            if parts is None:
                yield place, row
                continue
            outer = {column: cell for column, cell in row.items() if column != inside}
            for number, part in enumerate(named_rows(parts, place, "question"), 1):
                yield f"{place} question {number}", outer | part

    def _whole_rows(
        self, columns: tuple[str, ...] | None, inside: str | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        match self.path.suffix.lower():
            case ".jsonl":
                yield from self.json_lines()
            case ".json":
                yield from self._json_rows(inside)
            case ".parquet":
                yield from self.parquet_rows(columns)
            case suffix:
                file = TextFile(self.path, self.title)
                name = file.name
                for line, row in file.table("\t" if suffix == ".tsv" else ","):
                    yield f"{name} line {line}", row

    def _json_rows(self, inside: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
        file = TextFile(self.path, self.title)
        # some files are called .json and have an object a line
        first, _, second = file.text(MOST_DOCUMENT).lstrip().partition("\n")
        if first.startswith("{") and second.lstrip().startswith("{"):
            yield from self.json_lines()
            return
        rows = self.json_document()
        if isinstance(rows, dict):
            is_named = all(isinstance(row, dict) for row in rows.values())
            tables = [cell for cell in rows.values() if _is_table(cell)]
            if inside in rows or not (is_named or len(tables) == 1):
                yield file.name, rows
                return
            # {"version": 1, "data": [{"question": ...}]}
            rows = rows if is_named else tables[0]
        for number, row in enumerate(named_rows(rows, file.name, "key"), start=1):
            yield f"{file.name} entry {number}", row

    def parquet_rows(
        self,
        columns: tuple[str, ...] | None = None,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row behind its place, of those of the columns that are there; None is all of them.

        Columns that are not named are never decoded. Raises UserError for a file that is no
        Parquet.
        """
        require_pyarrow()
        # late: to list plugins must not cost pyarrow (docs/adr/0002)
        import pyarrow as pa
        import pyarrow.parquet as pq

        name = f"{self.title}: {self.path.name}"
        with open_file(self.path, self.title) as file:
            try:
                parquet = pq.ParquetFile(file)
                there = None
                if columns is not None:
                    known = parquet.schema_arrow.names
                    there = [column for column in columns if column in known]
                number = 0
                for batch in parquet.iter_batches(BATCH_ROWS, columns=there):
                    if number + batch.num_rows > MOST_ROWS:
                        raise UserError(
                            name, expected=f"at most {MOST_ROWS:,} rows", got="more"
                        )
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{name} row {number}", row
            # a date that no calendar has is an OverflowError
            except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
                # Arrow's errors have several lines, and one is shown
                reason = str(error).splitlines()[0][:SHOWN]
                raise UserError(f"{name} is no Parquet file", got=reason) from None
