"""Tables with commas or tabs, read strictly: a row that is not what its writer meant is refused.

A quote that is not closed would take the rows below it into its cell without a word.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cuescope_core.plain_json import SHOWN
from cuescope_sdk import UserError

MARKS = {",": "comma", ";": "semicolon", "\t": "tab"}
# csv's own line ends: str.splitlines also breaks at form feeds and U+2028
_NEWLINE = re.compile(r"\r\n|\r|\n")


def table_rows(
    text: str,
    name: str,
    delimiter: str = ",",
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table with a header, each by column, behind the number of its last line.

    `name` stands before the line in errors. Raises UserError for a quote that is not closed or
    stands where none may, a row longer or shorter than the header, and a column named twice.
    """
    delimiter = delimiter_of(text, delimiter)
    records = _records(text, name, delimiter)
    _, header, _ = next(records, (0, [], ""))
    if twice := [
        column for column, count in Counter(header).items() if count > 1 and column
    ]:
        raise UserError(
            f"{name} has two columns '{twice[0]}'", remedy="Rename one of them"
        )
    for line, cells, raw in records:
        if len(cells) != len(header):
            count = "fewer"
            remedy = "A cell may be empty, but its delimiter must be there"
            if len(cells) > len(header):
                count = "more"
                mark = MARKS[delimiter]
                remedy = (
                    f"Where line {line} has more cells than the header because a text holds "
                    f"a {mark}, put double quotes around the text"
                )
            raise UserError(
                f"{name} line {line}",
                expected=f"{len(header)} cells",
                got=f"{count}: {raw[:SHOWN]!r}",
                remedy=remedy,
            )
        yield line, dict(zip(header, cells, strict=True))


def delimiter_of(text: str, delimiter: str) -> str:
    """The delimiter of cells: a tab or semicolon where the header has one and no comma.

    Spreadsheets write CSV with semicolons where a comma is the decimal mark.
    """
    begun = text.lstrip()
    end = _NEWLINE.search(begun)
    header = begun[: end.start()] if end else begun
    if delimiter == "," and "," not in header:
        return next((mark for mark in "\t;" if mark in header), ",")
    return delimiter


def _records(
    text: str,
    name: str,
    delimiter: str,
) -> Iterator[tuple[int, list[str], str]]:
    """The last line, the cells and the raw text of each record; blank lines are none."""
    lines: list[str] = []

    def read_lines() -> Iterator[str]:
        start = 0
        for end in _NEWLINE.finditer(text):
            lines.append(text[start : end.end()])
            start = end.end()
            yield lines[-1]
        if start < len(text):
            lines.append(text[start:])
            yield lines[-1]

    reader = csv.reader(read_lines(), delimiter=delimiter, strict=True)
    width = 0
    while True:
        start = reader.line_num
        lines.clear()
        # cells may hold pictures, longer than csv takes by itself: the most that it can
        limit = csv.field_size_limit(2**31 - 1)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _stray_quote(name, start + 1, lines[0], str(error)) from None
        finally:
            csv.field_size_limit(limit)
        if cells is None:
            return
        raw = "".join(lines).rstrip("\r\n")
        width = width or len(cells)
        # strict or not, csv takes a quote within an unquoted cell as a character
        if raw.count('"') % 2 or _swallows_rows(cells, raw, delimiter, width):
            raise _stray_quote(name, start + 1, lines[0], "a quote that is not closed")
        if cells:
            yield reader.line_num, cells, raw


def _swallows_rows(cells: Sequence[str], raw: str, delimiter: str, width: int) -> bool:
    """True if a cell holds whole rows: as many delimiters a line as the header has."""
    # more cells are told in their own words
    if len(cells) > width or _NEWLINE.search(raw) is None:
        return False
    for cell in cells:
        breaks = len(_NEWLINE.findall(cell))
        if breaks and width > 1 and cell.count(delimiter) == breaks * (width - 1):
            return True
    return False


def _stray_quote(name: str, line: int, text: str, fault: str) -> UserError:
    return UserError(
        f"{name} line {line}",
        expected="quotes around whole cells",
        got=f"{fault} in {text.rstrip()[:SHOWN]!r}",
        remedy='Write a quote within a cell twice, and quotes around the cell: "5"" nail"',
    )
