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
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row of a table behind its place, by the file's suffix: CSV, TSV, JSONL or Parquet.

        Of Parquet these `columns` alone are read, where any are named. Raises UserError as the
        readers of these formats do.
        """
        match self.path.suffix.lower():
            case ".jsonl":
                yield from self.json_lines()
            case ".parquet":
                yield from self.parquet_rows(columns)
            case suffix:
                file = TextFile(self.path, self.title)
                for line, row in file.table("\t" if suffix == ".tsv" else ","):
                    yield f"{file.name} line {line}", dict(row)

    def parquet_rows(
        self,
        columns: tuple[str, ...] | None = None,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row behind its place, of those of the columns that are there; None is all of them.

        Columns that are not named are never decoded. Raises UserError for a file that is no
        Parquet.
        """
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
