"""Workbooks of Excel, read as values: a formula is a text, and nothing is worked out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest


def workbook_rows(
    path: Path,
    title: str,
    required: Sequence[str],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of the first sheet by column, behind its place.

    Raises UserError for what is no workbook, or lacks a column.
    """
    # late: to list plugins must not cost it (docs/adr/0002)
    import openpyxl

    name = f"{title}: {path.name}"
    try:
        # links to other workbooks are not followed; values, not formulas, as Excel stored them
        book = openpyxl.load_workbook(
            path, read_only=True, data_only=True, keep_links=False
        )
        sheet = book.worksheets[0]
        # what it says of its size: each gap would be filled with so many cells
        sheet.reset_dimensions()
        rows = sheet.iter_rows(values_only=True)
        header = [str(cell or "") for cell in next(rows, ())]
        for column in required:
            if column not in header:
                raise UserError(
                    f"{name} has no column '{column}'",
                    expected=", ".join(required),
                    got=", ".join(header)[:200] or "an empty sheet",
                    remedy=nearest(column, header),
                )
        # as Excel counts: the header is row 1
        for number, row in enumerate(rows, start=2):
            # rows may be shorter or longer than the header
            cells = dict(zip(header, row, strict=False))
            # rows that were only formatted come as empty ones
            if any(cell is not None for cell in row):
                yield f"{name} row {number}", cells
    except UserError:
        raise
    # XML of strangers raises errors of several libraries
    except Exception as error:
        reason = str(error).splitlines() or [type(error).__name__]
        raise UserError(f"{name} is no workbook", got=reason[0][:60]) from None
