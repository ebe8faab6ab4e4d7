"""The paper's own figures (tables 1 to 4 and 11), beside audits of its data sets."""

import tomllib
from collections.abc import Iterable
from importlib.resources import files

from cuescope_sdk import Cell

PAPER = tomllib.loads(files(__package__).joinpath("paper.toml").read_text("utf-8"))
BENCHMARKS = ("COCO", "ImageNet", "HardImageNet")
AVERAGE_COLUMNS = ("task", "with the cue", "without", "gap", "random rankings")
MITIGATION_ROWS = (
    "PA with the cue",
    "PA without",
    "HR with the cue",
    "HR without",
    "HR blank",
)


def average_rows(task: str, benchmark: str | None, model: str) -> list[dict[str, Cell]]:
    """The row of a model of the paper, where the paper has this task on this data set."""
    figures = PAPER["averages"].get(task, {}).get(benchmark, {}).get(model)
    if figures is None:
        return []
    with_cue, without, *random = figures
    gap = round(with_cue - without, 1)
    cells: tuple[Cell, ...] = (task, with_cue, without, gap, *(random or [None]))
    return [dict(zip(AVERAGE_COLUMNS, cells, strict=True))]


def mitigation_rows(
    benchmark: str | None,
    model: str,
    strategies: Iterable[str],
) -> list[dict[str, Cell]]:
    """The model's part of table 4, of these strategies."""
    rows: list[dict[str, Cell]] = []
    if benchmark in BENCHMARKS:
        for metric, rates in PAPER["mitigations"].get(model, {}).items():
            shown = {name: rates[name] for name in strategies if name in rates}
            rows.append({"metric": metric, **shown})
    return rows
