"""Tables with a sample in each row, which is opened again once it is known who is drawn."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, Self

from cuescope_sdk import BadDataError
from cuescope_sdk.data._groups import names_source, source_of, spread_source
from cuescope_sdk.data._media.content import Stamp
from cuescope_sdk.logs._files import LogFile, field_at

Source = tuple[str, list[str | None]]


class Row(NamedTuple):
    """The cells of a row that are not missing, and its place ("t.csv line 4")."""

    location: str
    cells: dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """A table with a sample in each row. None is kept: of a million rows most are not drawn.

    `open_rows` reads it from its beginning. `fields` are columns, or fields of columns as "a.b", by
    the names that a reader has for them.
    """

    open_rows: Callable[[], Iterable[tuple[str, Mapping[str, Any]]]]
    fields: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_file(
        cls,
        path: Path,
        title: str,
        columns: Iterable[str] | None = None,
        inside: str | None = None,
    ) -> Self:
        """The rows of a CSV, TSV, JSON(L) or Parquet file, as `LogFile.rows` reads them.

        Raises BadDataError where the file is another one when it is read again.
        """
        stamp = Stamp.of(path)
        wanted = None
        if columns is not None:
            wanted = tuple({column.partition(".")[0] for column in columns})

        def open_rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
            for place, row in LogFile(path, title).rows(wanted, inside):
                yield place.removeprefix(f"{title}: "), row
            if Stamp.of(path) != stamp:
                raise BadDataError(
                    f"{title}: {path.name} has changed while it was read",
                    remedy="Run the same command again",
                )

        return cls(open_rows)

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Self:
        """Rows that are known already."""
        kept = list(rows)
        return cls(lambda: kept)

    def with_fields(self, fields: Mapping[str, str]) -> Self:
        """The same rows, with these columns or fields by the names of a reader too."""
        return replace(self, fields={**self.fields, **fields})

    def __iter__(self) -> Iterator[Row]:
        for location, row in self.open_rows():
            yield Row(location, self._cells(row))

    def _cells(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The cells of a row that are not missing, those of `fields` among them."""
        cells = {
            str(column).strip(): cell
            for column, cell in row.items()
            # of the most usual cells this is known at once
            if (cell.__class__ is str and cell) or not _is_missing(cell)
        }
        for name, column in self.fields.items():
            cell = cells.get(column)
            cell = field_at(row, column) if cell is None else cell
            if not _is_missing(cell):
                cells[name] = cell
        return cells

    @property
    def header(self) -> tuple[str, ...]:
        """All columns, also those that are empty in every row."""
        return tuple(self._survey.header)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those in which a row has something."""
        return tuple(self._survey.columns)

    def source(self, besides: Collection[str] = ()) -> Source | None:
        """The column by whose name and values rows share a source, and the source of each row."""
        values = self._survey.sources
        others = {name: values[name] for name in values if name not in besides}
        column = spread_source(others)
        return None if column is None else (column, values[column])

    @cached_property
    def _survey(self) -> "_Survey":
        survey = _Survey({}, {}, {})
        for number, (_, row) in enumerate(self.open_rows()):
            survey.add(number, row, self._cells(row))
        return survey

    def take(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The rows of these numbers, counted from 0."""
        wanted = set(numbers)
        return {number: row for number, row in enumerate(self) if number in wanted}


class _Survey(NamedTuple):
    """All columns, those that are not empty, and the values of those whose names are of sources."""

    header: dict[str, None]
    columns: dict[str, None]
    sources: dict[str, list[str | None]]

    def add(
        self, number: int, row: Mapping[str, Any], cells: Mapping[str, Any]
    ) -> None:
        """The row of this number, and its cells that are not missing."""
        if not row.keys() <= self.header.keys():
            self.header.update(dict.fromkeys(row))
        if not cells.keys() <= self.columns.keys():
            for name in cells:
                if name not in self.columns and names_source(name):
                    self.sources[name] = [None] * number
            self.columns.update(dict.fromkeys(cells))
        for name, sources in self.sources.items():
            source = source_of(cells, name)
            sources.append(source and intern(source))


def _is_missing(cell: Any) -> bool:
    """True for nothing, an empty text, and what is no number."""
    return (
        cell is None or cell == "" or (isinstance(cell, float) and not isfinite(cell))
    )
