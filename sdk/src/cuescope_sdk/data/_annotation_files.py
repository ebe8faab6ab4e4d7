"""The annotation files of a data set's authors, row by row, each mistake told with its line.

A layout is a pydantic model: its fields are the columns that must be there, others are ignored.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data._own_files import require_inside_one
from cuescope_sdk.data._tables import read_text, table_rows

Row = TypeVar("Row", bound=BaseModel)
_DEPTH = 2  # authors' archives unpack into a folder, and some into one more
_SHOWN = 60  # characters of a bad value: a JSON entry may be a page long
_JSON_KINDS = {dict: "object", str: "text", type(None): "null"}


def find_file(root: Path, name: str, title: str) -> Path:
    """The file of this name, in whatever case, in `root` or up to two folders below.

    Raises UserError where there is none, with the nearest name, or where there are several.
    """
    if not root.is_dir():
        raise UserError(
            f"{title}: no such folder",
            expected=f"a folder with {name}",
            got=f"'{root}'",
        )
    names = set[str]()
    level = [root]  # by level, so that the file nearest to `root` wins
    for _ in range(_DEPTH + 1):
        entries: list[Path] = []
        for folder in level:
            entries += sorted(folder.iterdir())
        matches = [entry for entry in entries if entry.name.lower() == name.lower()]
        if len(matches) > 1:
            raise UserError(
                f"{title}: several {name}",
                expected="one",
                got=", ".join(str(file.relative_to(root)) for file in matches),
                remedy="Give the folder of the one that is meant",
            )
        if matches:
            return require_inside_one(root, matches[0], title)
        names |= {entry.name for entry in entries}
        level = [
            entry
            for entry in entries
            if entry.is_dir() and not entry.name.startswith(".")
        ]
    raise UserError(
        f"{title}: no {name}",
        expected=f"it in {root} or two folders below",
        remedy=nearest(name, names),
    )


def read_json(path: Path, row: type[Row], title: str) -> list[Row]:
    """The rows of a JSON list of objects; raises UserError with the entry that is none."""
    try:
        entries = json.loads(read_text(path, title))
    except json.JSONDecodeError as error:
        position = f"line {error.lineno} column {error.colno}"
        raise UserError(
            f"{title}: {path.name} {position} is no JSON", got=error.msg
        ) from None
    except RecursionError:  # brackets nested by the thousand
        raise UserError(f"{title}: {path.name} is no JSON list of objects") from None
    if not isinstance(entries, list):
        raise UserError(
            f"{title}: {path.name}",
            expected="a JSON list of objects",
            got=f"a JSON {_JSON_KINDS.get(type(entries), 'value')}",
        )
    _require_rows(path, entries, title)
    name = f"{title}: {path.name}"
    numbered = enumerate(entries, start=1)
    return [
        _validate(row, entry, f"{name} entry {number}") for number, entry in numbered
    ]


def read_json_object(path: Path, layout: type[Row], title: str) -> Row:
    """A file that is one JSON object, such as COCO's; raises UserError for what does not fit.

    It is checked while it is parsed, which is quick for files of hundreds of megabytes.
    """
    try:
        # in Rust, without Python dicts between
        return layout.model_validate_json(read_text(path, title))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise UserError(
                f"{title}: {path.name} is no JSON", got=first["ctx"]["error"]
            ) from None
        raise _misfit(f"{title}: {path.name}", first) from None


def read_csv(path: Path, row: type[Row], title: str) -> list[Row]:
    """The rows of a CSV table with a header; raises UserError with the line that is none."""
    text = read_text(path, title)
    name = f"{title}: {path.name}"
    header = next(csv.reader(StringIO(text)), [])
    _require_columns(path, header, row, title)
    lines = table_rows(text, name)
    rows = [_validate(row, cells, f"{name} line {line}") for line, cells in lines]
    _require_rows(path, rows, title)
    return rows


def read_lines(path: Path, title: str) -> Iterator[tuple[str, str]]:
    """Each line that is not blank, behind its place ("TITLE: FILE line 3") for errors."""
    text = read_text(path, title)
    _require_rows(path, text.strip(), title)
    for number, line in enumerate(StringIO(text), start=1):
        if line.strip():  # blank lines still count, as in an editor
            yield f"{title}: {path.name} line {number}", line.strip()


def _validate(row: type[Row], entry: Any, location: str) -> Row:
    try:
        return row.model_validate(entry)
    except ValidationError as error:
        raise _misfit(location, error.errors()[0]) from None


def _misfit(location: str, first: Mapping[str, Any]) -> UserError:
    """The first error of pydantic's; list items are counted from 1."""
    for part in first["loc"]:
        location += f" entry {part + 1}" if isinstance(part, int) else f" '{part}'"
    if first["type"] == "missing":
        return UserError(location, expected="a value", got="none")
    expected = first["msg"].removeprefix(
        "Input should be "
    )  # pydantic's sentence as ours
    return UserError(location, expected=expected, got=_shorten(first["input"]))


def _shorten(value: Any) -> str:
    try:
        return repr(value)[:_SHOWN]
    except (
        RecursionError
    ):  # brackets in brackets, just fewer than the parser gives up at
        return "values that are nested too deeply"


def _require_columns(
    path: Path, there: Sequence[str], row: type[Row], title: str
) -> None:
    fields = row.model_fields.items()
    wanted = [field.alias or name for name, field in fields if field.is_required()]
    missing = [name for name in wanted if name not in there]
    if missing:
        raise UserError(
            f"{title}: {path.name} has no column '{missing[0]}'",
            expected=", ".join(wanted),
            got=", ".join(there)[:200] or "an empty file",
            remedy=nearest(missing[0], there),
        )


def _require_rows(path: Path, rows: Sequence[object], title: str) -> None:
    if not rows:
        raise UserError(f"{title}: {path.name}", expected="a row or more", got="none")
