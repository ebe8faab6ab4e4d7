"""The paper's own figures: tables of CLIP ViT-B/16, and of the models of its benchmark."""

import csv
import tomllib
from importlib.resources import files

from cuescope_sdk import Cell

TableRow = dict[str, Cell]
# Explainer -> its row of the paper.
NAMES: dict[str, str] = tomllib.loads(
    files(__package__).joinpath("explainers.toml").read_text("utf-8")
)


def read_rows(file: str) -> list[TableRow]:
    """The rows of a table of the paper, without what it leaves open."""
    lines = files(__package__).joinpath(file).read_text("utf-8").splitlines()
    rows = []
    for row in csv.DictReader(lines):
        cells = {column: _cell(text) for column, text in row.items() if text}
        rows.append(cells)
    return rows


def _cell(text: str) -> Cell:
    try:
        return float(text)
    except ValueError:
        return text


def paper_rows(task: str, direction: str) -> list[TableRow]:
    """A half of table 1 ("classification") or 2 ("retrieval"), as the bench prints it.

    About the true class (GT) and the predicted one, of image (IR) and text retrieval. The areas
    are of deletion and insertion, CLIP ViT-B/16.
    """
    rows = read_rows("table_1.csv" if task == "classification" else "table_2.csv")
    return [row for row in rows if row.pop("direction") == direction]
