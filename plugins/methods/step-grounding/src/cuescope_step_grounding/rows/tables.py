"""A table from rows of cells."""

from collections.abc import Iterable, Sequence
from typing import Any

from cuescope_sdk import Table


def make_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[Any]],
    *notes: str,
    decimals: int = 1,
) -> Table:
    """A table whose rows have a cell a column."""
    cells = tuple(dict(zip(columns, row, strict=True)) for row in rows)
    return Table(
        title=title, columns=tuple(columns), rows=cells, notes=notes, decimals=decimals
    )
