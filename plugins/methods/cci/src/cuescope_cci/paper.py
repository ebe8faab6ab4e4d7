"""Tables 1 and 2 of the paper: AUC of deletion and insertion, CLIP ViT-B/16."""

import csv
import tomllib
from importlib.resources import files

from cuescope_sdk import Cell

# Explainer -> its row of the paper.
NAMES: dict[str, str] = tomllib.loads(
    files(__package__).joinpath("explainers.toml").read_text("utf-8")
)


def paper_rows(task: str, direction: str) -> tuple[dict[str, Cell], ...]:
    """A half of table 1 ("classification") or 2 ("retrieval"), as the bench prints it.

    About the true class (GT) and the predicted one, of image (IR) and text retrieval.
    """
    table = "table_1.csv" if task == "classification" else "table_2.csv"
    lines = files(__package__).joinpath(table).read_text("utf-8").splitlines()
    rows = [row for row in csv.DictReader(lines) if row.pop("direction") == direction]
    return tuple(
        {"explainer": row.pop("explainer")}
        | {column: float(figure) if figure else None for column, figure in row.items()}
        for row in rows
    )
