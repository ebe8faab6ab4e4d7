"""What the columns of a manifest are called: the names that are known, and who else has them."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from cuescope_folder.rows import Row
from cuescope_sdk import UserError

COLUMNS = ("path", "label", "split", "question", "answer", "answers", "choices", "mask", "cues",
           "actions")  # fmt: skip
FILES = ("video", "image", "file", "filename")
RIGHT = ("label", "answer", "actions")
ALIKE = 0.75


def by_known_names(rows: Sequence[Row], name: str) -> list[Row]:
    """The rows with columns by the names that are known here: `Path` is `path`.

    Without a `path`, one of `video`, `image`, `file` and `filename` is. Raises UserError where
    there is none, or several, and where nothing says what is right.
    """
    columns = sorted({column for row in rows for column in row.cells})
    known = _written(columns, COLUMNS)
    if "path" not in known:
        files = _written(columns, FILES)
        if len(files) > 1:
            raise UserError(
                f"folder: manifest {name} has no column 'path'",
                got=f"columns {', '.join(files.values())}", remedy="Rename one of them to 'path'",
            )  # fmt: skip
        known |= dict.fromkeys(("path",) * len(files), *files.values())
    if "path" not in known:
        raise _missing(name, ("path",), columns, ("path", *FILES))
    if not {*RIGHT, "answers"} & known.keys():
        raise _missing(name, RIGHT, columns, RIGHT)
    here = {column: canonical for canonical, column in known.items()}
    return [Row(row.place, {here.get(c, c): v for c, v in row.cells.items()}) for row in rows]


def _written(columns: Collection[str], names: Sequence[str]) -> dict[str, str]:
    """Name -> the column of that name, as it is written or else the only one in other case."""
    found = {}
    for name in names:
        alike = [column for column in columns if column.lower() == name]
        if name in columns:
            found[name] = name
        elif len(alike) == 1:
            found[name] = alike[0]
    return found


def _missing(
    name: str, needed: Sequence[str], columns: Sequence[str], words: Sequence[str]
) -> UserError:
    """The columns that are missing, and which other is probably meant to be one of them."""
    return UserError(
        f"folder: manifest {name} has no column {' or '.join(map(repr, needed))}",
        got=f"columns {', '.join(columns) or 'that are all empty'}",
        remedy=_renaming(needed, columns, words) or _adding(needed, columns),
    )


def _renaming(needed: Sequence[str], columns: Sequence[str], words: Sequence[str]) -> str | None:
    for column in columns:
        low = column.lower()
        ends = [word for word in words if low.endswith(word)]
        meant = ends or get_close_matches(low, words, 1, ALIKE)
        if meant and low not in COLUMNS:
            return f"Rename '{column}' to '{meant[0] if meant[0] in needed else needed[0]}'"
    return None


def _adding(needed: Sequence[str], columns: Sequence[str]) -> str:
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        return "Put commas between the columns of a .csv, tabs between those of a .tsv"
    if "path" in needed:
        return "Rename the column that names the files to 'path'"
    if any(column.lower() == "question" for column in columns):
        return "Add a column 'answer' with the right answer to each question"
    return "Add a column 'label' with the class of each file"
