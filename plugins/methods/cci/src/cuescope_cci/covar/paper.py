"""Tables 3, 4 and 7 of the paper, and the drops that follow from Table 3."""

from collections.abc import Collection

from cuescope_cci.covar.images import SUBSETS
from cuescope_cci.paper import TableRow, read_rows

PLAIN = SUBSETS["background"]


def accuracies(names: Collection[str]) -> list[TableRow]:
    """Table 3, per cent: the rows of some models."""
    return [row for row in read_rows("covar/table_3.csv") if row["model"] in names]


def error_sources(kind: str, names: Collection[str]) -> list[TableRow]:
    """Table 4, per cent of the wrong answers: the columns of "BG-Er" or of "Fine-Er"."""
    rows = []
    for row in read_rows("covar/table_4.csv"):
        if row["model"] in names:
            shares = {subset: row[f"{subset} {kind}"] for subset in SUBSETS.values()}
            rows.append({"model": row["model"], **shares})
    return rows


def drops(names: Collection[str]) -> list[TableRow]:
    """What each subset costs against Bg-varied, points: differences of Table 3 (Figure 7)."""
    rows = []
    for row in accuracies(names):
        lost: TableRow = {"model": row["model"]}
        plain = float(row[PLAIN] or 0)
        for subset in SUBSETS.values():
            if subset != PLAIN:
                lost[subset] = round(plain - float(row[subset] or 0), 1)
        rows.append(lost)
    return rows


def contexts() -> list[TableRow]:
    """Table 7: the classes that are most predicted before a background."""
    return read_rows("covar/table_7.csv")
