"""Manifests: CSV, JSONL or Parquet rows of path, label, split, question, answer, mask and more."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from os import scandir
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from cuescope_folder.items import SUFFIXES_OF_MANIFESTS, Item, canonical_split, is_inside, natural
from cuescope_sdk import UserError, nearest
from cuescope_sdk.media import kind_of, readable

COLUMNS = ("path", "label", "split", "question", "answer", "mask", "cues", "actions")


@dataclass(frozen=True, slots=True)
class Row:
    """A row without its missing cells; `place` is where it stands ("line 4", "row 4")."""

    place: str
    cells: Mapping[str, Any]


def read_rows(manifest: Path) -> list[Row]:
    """The rows of a manifest; raises UserError naming the line for anything that is no row."""
    read = {".csv": _csv_rows, ".jsonl": _json_rows, ".parquet": _parquet_rows}
    reader = read.get(manifest.suffix.lower())
    if reader is None:
        raise UserError(
            f"folder: manifest {manifest.name}",
            expected=f"a file that ends in {', '.join(SUFFIXES_OF_MANIFESTS)}",
        )
    try:
        rows = list(reader(manifest))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"folder: cannot read {manifest.name}", got=_line(error)) from None
    if not rows:
        raise UserError(f"folder: manifest {manifest.name} has no rows")
    return rows


def manifest_items(rows: Sequence[Row], name: str, root: Path) -> list[Item]:
    """An item a row; `path` is relative to the resolved folder `root`, and may not leave it.

    The label is `label`, or `answer` where there is no `label`, or None where the row has timed
    `actions` instead. Raises UserError naming the line for a missing cell, a path that leaves
    `root`, and cues that are no answer sheet.
    """
    _check_columns(rows, name)
    seen: Counter[str] = Counter()
    items = []
    for row in rows:
        item = _item(row, f"{name} {row.place}", root)
        seen[item.key] += 1
        repeat = seen[item.key]
        items.append(item if repeat == 1 else replace(item, key=f"{item.key}#{repeat}"))
    return items


def plain(value: object) -> Any:
    """As JSON would have it: what is not a plain value becomes text, what is not a number None."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return readable(value)
        case float():
            return value if isfinite(value) else None
        case Mapping():
            return {str(key): plain(part) for key, part in value.items()}
        case list() | tuple() | set():
            return tuple(plain(part) for part in value)
    return str(value)


def _check_columns(rows: Sequence[Row], name: str) -> None:
    columns = sorted({column for row in rows for column in row.cells})
    for needed in (("path",), ("label", "answer", "actions")):
        if not set(needed) & set(columns):
            meant = next((column for column in columns if nearest(column.lower(), needed)), None)
            raise UserError(
                f"folder: manifest {name} has no column {' or '.join(map(repr, needed))}",
                got=f"columns {', '.join(columns) or 'that are all empty'}",
                remedy=f"Rename '{meant}' to '{needed[0]}'" if meant else None,
            )


def _item(row: Row, place: str, root: Path) -> Item:
    path = _text(row, "path", place)
    file = _resolved(path, root, place)
    actions = _actions(row.cells["actions"], file, place) if "actions" in row.cells else ()
    named = "label" if "label" in row.cells else "answer"
    label = None if actions and named not in row.cells else _text(row, named, place, "label")
    key = PurePosixPath(path).as_posix()
    annotations = {c: plain(v) for c, v in row.cells.items() if c not in COLUMNS}
    annotations["path"] = key
    if "cues" in row.cells:
        annotations["cues"] = _cues(row.cells["cues"], place)
    if "label" in row.cells and "answer" in row.cells:
        annotations["answer"] = plain(row.cells["answer"])
    split, question = row.cells.get("split"), row.cells.get("question")
    return Item(
        key=key,
        files=_images_in(file, root, place) if file.is_dir() else (file,),
        folder=file.is_dir(),
        label=label,
        mask=_resolved(_text(row, "mask", place), root, place) if "mask" in row.cells else None,
        split=None if split is None else canonical_split(readable(str(split))),
        question=None if question is None else readable(str(question)),
        actions=actions,
        annotations=annotations,
        place=place,
    )


def _text(row: Row, column: str, place: str, named: str | None = None) -> str:
    value = row.cells.get(column)
    if isinstance(value, str | int | float) and str(value).strip():
        return readable(str(value).strip())
    raise UserError(f"folder: {place}", expected=f"a {named or column}",
                    got="an empty cell" if value is None else repr(value))  # fmt: skip


def _resolved(path: str, root: Path, place: str) -> Path:
    absolute = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    if absolute or not is_inside(root, root / path):
        raise UserError(
            f"folder: {place} leads out of the data", expected=f"a path inside {root}",
            got=f"'{path}'", remedy="Write paths relative to that folder, without links out of it",
        )  # fmt: skip
    return root / path


def _images_in(folder: Path, root: Path, place: str) -> tuple[Path, ...]:
    try:
        names = [entry.name for entry in scandir(folder)]
    except OSError as error:
        raise UserError(f"folder: {place}: cannot read {folder}", got=error.strerror) from None
    images = [
        folder / name
        for name in sorted(names, key=natural)
        if not name.startswith(".") and kind_of(PurePosixPath(name)) == "image"
    ]
    for image in images:
        if image.is_symlink() and not is_inside(root, image):
            raise UserError(f"folder: {place}: {image} leads out of the data")
    return tuple(images)


def _cues(value: object, place: str) -> dict[str, tuple[bool, ...]]:
    """`{cue: (present in frame 0, ...)}` from a mapping or its JSON text."""
    wrong = UserError(
        f"folder: {place}: column 'cues'", got=repr(value)[:60],
        expected='JSON such as {"red background": [true, false]}',
    )  # fmt: skip
    try:
        sheet = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(sheet, Mapping):
        raise wrong
    cues = {}
    for cue, present in sheet.items():
        if present is None:  # Parquet fills a cue of other rows with a null
            continue
        if not isinstance(present, list) or any(flag not in (True, False) for flag in present):
            raise wrong
        cues[str(cue)] = tuple(bool(flag) for flag in present)
    return cues


def _actions(value: object, file: Path, place: str) -> tuple[tuple[str, float, float], ...]:
    """(name, start, end) of each action, from a list or its JSON text."""
    wrong = UserError(
        f"folder: {place}: column 'actions'", got=repr(value)[:60],
        expected='actions of a video by seconds, such as [["waving", 1.5, 4]]',
    )  # fmt: skip
    try:
        listed: Any = json.loads(value) if isinstance(value, str) else value
        actions = tuple((str(name), float(start), float(end)) for name, start, end in listed)
    except (ValueError, TypeError, RecursionError):
        raise wrong from None
    if (
        kind_of(file) == "image"
        or file.is_dir()
        or not all(name.strip() and 0 <= start < end < inf for name, start, end in actions)
    ):
        raise wrong
    return actions


def _csv_rows(manifest: Path) -> Iterator[Row]:
    with manifest.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restkey="")
        line = 1
        try:
            for cells in reader:
                line = reader.line_num
                if cells.pop("", None):
                    raise UserError(
                        f"folder: {manifest.name} line {line} has more cells than the header",
                        remedy="Put double quotes around a text that holds a comma",
                    )
                yield _row(f"line {line}", cells)
        except csv.Error as error:
            raise UserError(
                f"folder: {manifest.name} line {reader.line_num}", got=str(error)
            ) from None


def _json_rows(manifest: Path) -> Iterator[Row]:
    with manifest.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                cells = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(
                    f"folder: {manifest.name} line {number} is no JSON", got=_line(error)
                ) from None
            if not isinstance(cells, dict):
                raise UserError(
                    f"folder: {manifest.name} line {number}", expected="a JSON object",
                    got=line.strip()[:60],
                )  # fmt: skip
            yield _row(f"line {number}", cells)


def _parquet_rows(manifest: Path) -> Iterator[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(manifest)
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"folder: {manifest.name} is no Parquet", got=_line(error)) from None
    for number, cells in enumerate(table.to_pylist(), start=1):
        yield _row(f"row {number}", cells)


def _row(place: str, cells: Mapping[str | None, Any]) -> Row:
    """The row without what is missing: None, NaN and the empty text."""
    kept = {str(column).strip(): value for column, value in cells.items()}
    return Row(place, {c: v for c, v in kept.items() if v != "" and plain(v) is not None})


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:100]
