"""The rows of a question file, whatever its format: CSV, TSV, JSON, JSONL or Parquet."""

import csv
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError
from cuescope_sdk.data import require_inside
from cuescope_sdk.logs import LogFile, named_rows

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
    # MMBench has pictures in cells, longer than Python's csv takes by itself: the most it can
    limit = csv.field_size_limit(2**31 - 1)
    try:
        for place, row in LogFile(path, title).rows(tuple(columns), inside):
            parts = row.get(inside or "")
            if inside is None or parts is None:
                yield place, row
                continue
            outer = {column: cell for column, cell in row.items() if column != inside}
            for number, part in enumerate(named_rows(parts, place, "question"), 1):
                yield f"{place} question {number}", outer | part
    finally:
        csv.field_size_limit(limit)
