"""Tables of a method or bench: our figures, and a paper's own faint beside them."""

from collections.abc import Iterator

from rich import box
from rich.console import Group
from rich.table import Table as Drawn
from rich.text import Text

from cuescope.types import Cell, Table


def drawn(table: Table) -> Group:
    """For a terminal; the notes follow."""
    columns = Drawn(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    first, *others = table.columns
    columns.add_column(first)
    for column in others:
        columns.add_column(column, justify="right")
    for name, cells in beside(table):
        columns.add_row(name, *[_beside(*pair) for pair in cells])
    return Group(columns, *[Text(note, "dim") for note in table.notes])


def beside(table: Table) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each row's name, and for each other column our words and the paper's, "" where none."""
    first, *others = table.columns
    ours, paper = ({row[first]: row for row in rows} for rows in (table.rows, table.paper))
    for name in dict.fromkeys([*ours, *paper]):
        row, theirs = ours.get(name, {}), paper.get(name, {})
        yield (
            str(name),
            [
                (_words(row.get(c), table.decimals), _words(theirs.get(c), table.decimals))
                for c in others
            ],
        )


def _beside(ours: str, paper: str) -> Text:
    text = Text(ours if ours or paper else "-")
    return text.append(f" ({paper})", "dim") if paper else text


def _words(value: Cell, decimals: int) -> str:
    if isinstance(value, float):
        return f"{value:.{decimals}f}"
    return "" if value is None else str(value)
