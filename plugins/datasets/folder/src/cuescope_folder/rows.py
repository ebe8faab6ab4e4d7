"""The rows of a manifest: CSV, TSV, JSONL or Parquet."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cuescope_folder.cells import plain
from cuescope_folder.items import SUFFIXES_OF_MANIFESTS
from cuescope_sdk import UserError


@dataclass(frozen=True, slots=True)
class Row:
    """A row without its missing cells; `place` is where it stands ("line 4", "row 4")."""

    place: str
    cells: Mapping[str, Any]


def read_rows(manifest: Path) -> list[Row]:
    """The rows of a manifest; raises UserError naming the line for anything that is no row."""
    reader = _READERS.get(manifest.suffix.lower())
    if reader is None:
        raise UserError(
            f"folder: manifest {manifest.name}",
            expected=f"a file that ends in {', '.join(SUFFIXES_OF_MANIFESTS)}",
        )
    try:
        rows = list(reader(manifest))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"folder: cannot read {manifest.name}", got=_line(error)) from None
    if not rows:
        raise UserError(f"folder: manifest {manifest.name} has no rows")
    return rows


def _csv_rows(manifest: Path, delimiter: str) -> Iterator[Row]:
    with manifest.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restkey="", delimiter=delimiter)
        try:
            for cells in reader:
                line = reader.line_num
                if cells.pop("", None):
                    raise UserError(
                        f"folder: {manifest.name} line {line} has more cells than the header",
                        remedy="Put double quotes around a text that holds a "
                        + ("comma" if delimiter == "," else "tab"),
                    )
                yield _row(f"line {line}", cells)
        except csv.Error as error:
            raise UserError(
                f"folder: {manifest.name} line {reader.line_num}", got=str(error)
            ) from None


def _json_rows(manifest: Path) -> Iterator[Row]:
    with manifest.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                cells = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(
                    f"folder: {manifest.name} line {number} is no JSON", got=_line(error)
                ) from None
            if not isinstance(cells, dict):
                raise UserError(
                    f"folder: {manifest.name} line {number}", expected="a JSON object",
                    got=line.strip()[:60],
                )  # fmt: skip
            yield _row(f"line {number}", cells)


def _parquet_rows(manifest: Path) -> Iterator[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(manifest)
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"folder: {manifest.name} is no Parquet", got=_line(error)) from None
    for number, cells in enumerate(table.to_pylist(), start=1):
        yield _row(f"row {number}", cells)


def _row(place: str, cells: Mapping[str | None, Any]) -> Row:
    """The row without what is missing: None, NaN and the empty text."""
    kept = {str(column).strip(): value for column, value in cells.items()}
    return Row(place, {c: v for c, v in kept.items() if v != "" and plain(v) is not None})


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:100]


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".csv": partial(_csv_rows, delimiter=","),
    ".tsv": partial(_csv_rows, delimiter="\t"),
    ".jsonl": _json_rows,
    ".parquet": _parquet_rows,
}
