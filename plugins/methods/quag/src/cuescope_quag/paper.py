"""Figures of the paper (Rawal et al., 2024), in percent.

`paper_tables` has a file a benchmark: tables 1 and 12 overall, 4 to 11 by type of question, the
modality that QUAG-attention merged from the note of table 1. `consistent_accuracy` is table 3, with
section 5.2 for merged video.
"""

import csv
from importlib.resources import files

from cuescope_sdk import Cell

BENCHMARKS = ("ActivityNet-QA", "MSRVTT-QA", "NExT-QA", "ATP-Hard")
CONSISTENT = "consistent_accuracy"


def paper_rows(model: str, table: str) -> tuple[dict[str, Cell], ...]:
    """A row a condition of one of BENCHMARKS or CONSISTENT; () where the paper has none."""
    if table not in (*BENCHMARKS, CONSISTENT):
        return ()
    text = files("cuescope_quag").joinpath("paper_tables", f"{table}.csv").read_text("utf-8")
    rows: list[dict[str, Cell]] = []
    for row in csv.DictReader(text.splitlines()):
        if row.pop("model") == model:
            condition = row.pop("condition")
            figures = {name: float(cell) for name, cell in row.items() if cell}
            rows.append({"condition": condition, **figures})
    return tuple(rows)
