"""Files that stand for cells of a table: images that came as bytes, or from an address."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cuescope_sdk import Context, DamagedFileError, UserError, read_sealed, write_sealed
from cuescope_sdk.data import KeptFiles, require_inside


class Copies:
    """What a cell says -> the file on this machine that it names.

    Rows of a file that was read once are remembered by its stamp, with the files that they name.
    """

    def __init__(self, context: Context) -> None:
        self.folder = context.cache / "tables"
        self.files: dict[str, Path] = {}
        self._kept = KeptFiles(context.cache / "images")

    def add(self, name: str, content: bytes) -> None:
        """Keep the bytes; `name` stands for them. Raises UserError for a name of other bytes."""
        path = self._kept.add(content, name)
        if self.files.setdefault(name, path) != path:
            # rows would show each other's image
            raise UserError(
                f"folder: there are two different {name}", expected="each name once"
            )

    def of(self, cells: Mapping[str, Any]) -> dict[str, str]:
        """The files that cells name, relative to where all are kept."""
        files = {}
        for cell in cells.values():
            if isinstance(cell, str) and cell in self.files:
                files[cell] = str(self.files[cell].relative_to(self._kept.folder))
        return files

    def remember(self, stamp: str, records: Sequence[Mapping[str, Any]]) -> None:
        """Keep the records of a file; the `files` of each are those that it names."""
        # default=str: a cell may hold a date
        lines = map(partial(json.dumps, default=str), records)
        write_sealed(self.folder / f"{stamp}.jsonl", "\n".join(lines).encode())

    def recall_records(self, stamp: str) -> list[dict[str, Any]] | None:
        """The records of a file, None where they or their files are not here as they were kept."""
        try:
            text = read_sealed(self.folder / f"{stamp}.jsonl").decode()
            records = [json.loads(line) for line in text.split("\n") if line]
        except (OSError, ValueError, DamagedFileError):
            return None
        files: dict[str, Path] = {}
        for record in records:
            for name, place in record["files"].items():
                files[name] = self._kept.folder / place
        try:
            require_inside([self._kept.folder], files.values(), "folder")
        except UserError:  # a folder of copies that was given along may name anything
            return None
        # somebody removed a copy: the table is read again
        if not all(map(Path.exists, files.values())):
            return None
        self.files |= files
        return records
