"""Figures of the paper (Rawal et al., 2024), in percent.

`paper_tables` has a file a benchmark: tables 1 and 12 overall, 4 to 11 by type of question, the
modality that QUAG-attention merged from the note of table 1. `consistent_accuracy` is table 3, with
section 5.2 for merged video: its CAcc_V, overall and of control, cannot be of E and E-NC too, whose
accuracies in table 15 (`by_video_and_question`) are too low for that. `multiplications_saved` is of
table 1, all benchmarks: the count nearest to it is that of attention alone. `attention_distances`
are table 16.
"""

import csv
from importlib.resources import files

from cuescope_sdk import Cell

BENCHMARKS = ("ActivityNet-QA", "MSRVTT-QA", "NExT-QA", "ATP-Hard")
CONSISTENT = "consistent_accuracy"
SAVINGS = "multiplications_saved"
DISTANCES = "attention_distances"
PaperRows = tuple[dict[str, Cell], ...]


def paper_rows(model: str, table: str) -> PaperRows:
    """The rows of one of BENCHMARKS or another table; () where the paper has none of the model."""
    if table not in (*BENCHMARKS, CONSISTENT, SAVINGS, DISTANCES):
        return ()
    rows: list[dict[str, Cell]] = []
    for row in _read(table):
        if row.pop("model") == model:
            (column, name), *cells = row.items()
            # an empty cell is a figure that the paper does not give
            figures = {key: float(cell) for key, cell in cells if cell}
            rows.append({column: name, **figures})
    return tuple(rows)


def cells_by_question(model: str) -> PaperRows:
    """Table 15: a row a video, type and question; () for a model that is not in it."""
    return tuple(
        # this table has a column a model, the others a row
        {"condition": row["condition"], "accuracy": float(row[model])}
        for row in _read("by_video_and_question")
        if model in row
    )


def _read(table: str) -> list[dict[str, str]]:
    text = (
        files("cuescope_quag")
        .joinpath("paper_tables", f"{table}.csv")
        .read_text("utf-8")
    )
    return list(csv.DictReader(text.splitlines()))
