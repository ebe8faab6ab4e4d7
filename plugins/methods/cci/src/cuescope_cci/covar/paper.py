"""Tables 3, 4 and 7 of the paper, and the drops that follow from Table 3."""

import csv
from collections.abc import Collection
from importlib.resources import files

from cuescope_cci.covar.images import SUBSETS
from cuescope_sdk import Cell

PLAIN = SUBSETS["background"]


def _rows(number: int) -> list[dict[str, str]]:
    text = files(__package__).joinpath(f"table_{number}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def accuracies(names: Collection[str]) -> tuple[dict[str, Cell], ...]:
    """Table 3, per cent: the rows of some models."""
    return _figures(3, names)


def error_sources(kind: str, names: Collection[str]) -> tuple[dict[str, Cell], ...]:
    """Table 4, per cent of the wrong answers: the columns of "BG-Er" or of "Fine-Er"."""
    return tuple(
        {"model": row["model"], **{subset: row[f"{subset} {kind}"] for subset in SUBSETS.values()}}
        for row in _figures(4, names)
    )


def drops(names: Collection[str]) -> tuple[dict[str, Cell], ...]:
    """What each subset costs against Bg-varied, points: differences of Table 3 (Figure 7)."""
    return tuple(
        {
            "model": row["model"],
            **{
                subset: round(float(row[PLAIN] or 0) - float(row[subset] or 0), 1)
                for subset in SUBSETS.values()
                if subset != PLAIN
            },
        }
        for row in _figures(3, names)
    )


def contexts() -> tuple[dict[str, Cell], ...]:
    """Table 7: the classes that are most predicted before a background."""
    return tuple(dict(row.items()) for row in _rows(7))


def _figures(number: int, names: Collection[str]) -> tuple[dict[str, Cell], ...]:
    return tuple(
        {key: value if key == "model" else float(value) for key, value in row.items()}
        for row in _rows(number)
        if row["model"] in names
    )
