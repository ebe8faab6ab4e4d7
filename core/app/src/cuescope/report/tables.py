"""Tables of a method or bench: our figures, and a paper's own faint beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, starmap
from operator import itemgetter
from typing import Literal

from rich import box
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from cuescope.report.figures import short_p_value
from cuescope.report.words import Words
from cuescope_core.conclusions import Cell, Table
from cuescope_core.printable import one_line
from cuescope_core.signs import with_sign

Row = tuple[str, list[tuple[str, str]]]
MANY = 9  # so many columns stand close to each other
P_VALUES = {"p", "q"}  # columns of them, which decimals of other figures would make 0
LONG_NAME = 16  # a longer one is broken into lines, a longer cell is words


def render_table(table: Table) -> Group:
    """For a terminal; the notes follow, and stand alone where there is no row."""
    notes = [Words(note, "dim") for note in table.notes]
    if not (table.rows or table.paper):
        return Group(*notes)
    rows = list(beside(table))
    parts = [(name, list(some)) for name, some in groupby(rows, key=itemgetter(0))]
    is_long = max(len(name) for name, _ in rows) > LONG_NAME
    # a long name of several rows stands above them, and leaves the figures their room
    if is_long and len(parts) < len(rows) and len(table.columns) > 1:
        shown: list[Text | Grid] = []
        for name, of_name in parts:
            grid = _grid(table, table.columns[1:])
            for _, cells in of_name:
                grid.add_row(*starmap(_beside, cells))
            shown += [Words(name, "bold"), grid]
        return Group(*shown, *notes)
    grid = _grid(table, table.columns)
    for name, cells in rows:
        grid.add_row(Words(name), *starmap(_beside, cells))
    return Group(grid, *notes)


def _grid(table: Table, columns: Sequence[str]) -> Grid:
    """With these columns of the table, and no row."""
    gap = 1 if len(columns) < MANY else 0
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0), pad_edge=False)
    first, *others = columns
    whole = all(
        len(str(row.get(first, ""))) <= LONG_NAME for row in (*table.rows, *table.paper)
    )
    grid.add_column(Words(first), overflow="fold", no_wrap=whole)
    for column in others:
        grid.add_column(Words(column), justify=side(table, column), overflow="fold")
    return grid


def table_cells(tables: Iterable[Table]) -> list[tuple[Table, list[Row], list[str]]]:
    """Tables for a page: each with its rows, and the side of each column."""
    cells = []
    for table in tables:
        sides: list[str] = [side(table, column) for column in table.columns]
        cells.append((table, list(beside(table)), sides))
    return cells


def side(table: Table, column: str) -> Literal["left", "right"]:
    """Where a column's cells stand: figures end at the right, words begin at the left."""
    for row in table.rows:
        cell = row.get(column)
        if isinstance(cell, str) and len(cell) > LONG_NAME:
            return "left"
    return "right"


def beside(table: Table) -> Iterator[Row]:
    """Each row's name, and for each other column our words and the paper's, "" where none."""
    first = table.columns[0]
    paper = {row[first]: row for row in table.paper}
    for row in table.rows:
        # taken out: of rows with one name the first has the paper's beside it
        yield _row(table, row, paper.pop(row[first], {}))
    for row in paper.values():  # what the paper has and we have not
        yield _row(table, {}, row)


def _row(table: Table, ours: Mapping[str, Cell], paper: Mapping[str, Cell]) -> Row:
    first, *others = table.columns
    name = str((ours or paper)[first])
    cells = []
    for column in others:
        our_words = _words(ours.get(column), column, table.decimals)
        paper_words = _words(paper.get(column), column, table.decimals)
        cells.append((our_words, paper_words))
    return name, cells


def _beside(ours: str, paper: str) -> Text:
    text = Words(ours if ours or paper else "-")
    return text.append(one_line(f" ({paper})"), "dim") if paper else text


def _words(value: Cell, column: str, decimals: int) -> str:
    if isinstance(value, float):
        if column in P_VALUES:
            return short_p_value(value)
        return with_sign(value, f".{decimals}f")
    return "" if value is None else str(value)
