"""Tables as CSV, JSONL or Parquet; a CSV that no spreadsheet takes for formulas."""

import csv
import io
import json
import math
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["csv", "jsonl", "parquet"]
# the last: so that it can be read back
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def safe_text(text: str) -> str:
    """A text that a spreadsheet shows as it is.

    One apostrophe stands before a text that begins with a sign of a formula, or with an apostrophe
    itself: whoever reads it back drops one from each text that begins with one.

    >>> safe_text("=1+1"), safe_text("red"), safe_text("'tis")
    ("'=1+1", 'red', "''tis")
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def encode(table: "pa.Table", form: Format) -> bytes:
    """The table as bytes of a file; numbers stay numbers, and what is missing is empty or null."""
    if form == "parquet":
        from pyarrow.parquet import write_table

        file = io.BytesIO()
        write_table(table, file)
        return file.getvalue()
    # the csv module writes line ends itself
    text = io.StringIO(newline="")
    if form == "jsonl":
        for row in table.to_pylist():
            # NaN is no JSON: other readers refuse the whole file
            row = {name: _finite(value) for name, value in row.items()}
            text.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(map(safe_text, table.column_names))
        for row in table.to_pylist():
            writer.writerow(map(_cell, row.values()))
    return text.getvalue().encode()


def _finite(value: Any) -> Any:
    """None in place of a number that is none, as where it is missing."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
