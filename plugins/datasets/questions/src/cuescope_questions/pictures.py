"""Pictures of questions: those that a file holds in its cells, and those that it names."""

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, digest
from cuescope_sdk.data import kind_of, require_inside

# characters of a cell that is a name; base64 of a picture has thousands
LONGEST_NAME = 500


def name_of(cell: Any) -> str | None:
    """A cell as a name: what is a picture or long is named by its content."""
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    # a picture as `datasets` writes it, or as a table has it
    if isinstance(cell, dict | bytes) or len(str(cell)) > LONGEST_NAME:
        return digest(cell)
    return None if cell is None else str(cell)


def content_of(cell: Any) -> bytes | None:
    """The bytes of a picture in a cell: raw, as `datasets` writes them, or as base64; else None."""
    if isinstance(cell, Mapping):
        cell = cell.get("bytes")
    if isinstance(cell, str) and len(cell) > LONGEST_NAME:
        # "data:image/png;base64,iVBOR..."
        _, _, text = cell.rpartition(",")
        try:
            return base64.b64decode(text, validate=True)
        except ValueError:
            return None
    return cell if isinstance(cell, bytes) else None


def find_in(folder: Path, names: Iterable[str], title: str) -> dict[str, Path]:
    """The image file of each name, which it bears with its suffix or without; wherever it lies.

    Raises UserError where there is no such folder, where a name has two files, and for a link that
    leads out of the folder.
    """
    if not folder.is_dir():
        raise UserError(f"{title}: no such folder", got=f"'{folder}'")
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if kind_of(path) == "image":
            files.setdefault(path.stem, []).append(path)
    found = {}
    for name in names:
        # "images/0012.png" and "0012" are the same picture
        asked = Path(name)
        stem = asked.stem if kind_of(asked) == "image" else asked.name
        there = files.get(stem, [])
        if len(there) > 1:
            there = [path for path in there if path.match(name)] or there
        if len(there) > 1:
            raise UserError(
                f"{title}: two pictures are called '{stem}'",
                got=f"{there[0]} and {there[1]}",
                remedy="Give the folder that has one of them",
            )
        if there:
            found[name] = there[0]
    require_inside([folder], found.values(), title)
    return found
