"""Files that stand for cells of a table: images that came as bytes, or files from an address."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from cuescope_sdk import Context, DamagedFileError, UserError, read_sealed, write_sealed
from cuescope_sdk.data import Probe, keep_content, require_inside

# folder of the cache: files that came as bytes, each named by its digest
IMAGES = "images"


class Record(BaseModel):
    """A row as it is remembered: its cells, and the copies that they name.

    `location` is where it stands, `passed` what of it is not read.
    """

    cells: dict[str, Any]
    location: str
    files: dict[str, str] = {}
    passed: list[str] = []


_RECORDS = TypeAdapter(list[Record])


class Copies:
    """What a cell says -> the file on this machine that it names.

    What came as bytes is kept in a file named by its digest. Rows of a file that was read once are
    remembered by its stamp, with the files that they name.
    """

    def __init__(self, context: Context) -> None:
        self.folder = context.cache / "tables"
        self.files: dict[str, Path] = {}
        self._images = context.cache / IMAGES

    def add(self, name: str, content: bytes) -> None:
        """Keep the bytes; `name` stands for them. Raises UserError for a name of other bytes."""
        path = keep_content(content, self._images, name)
        if self.files.setdefault(name, path) != path:
            # rows would show each other's image
            raise UserError(
                f"folder: there are two different {name}", expected="each name once"
            )

    def read_once(
        self, stamp: str, read: Callable[[], Iterable[Record]]
    ) -> list[Record]:
        """The records of a file, from memory where they and their files are here as they were."""
        records = self._recall(stamp)
        if records is None:
            records = list(read())
            for record in records:
                for name in filter(self._is_copy, record.cells.values()):
                    place = self.files[name].relative_to(self._images)
                    record.files[name] = str(place)
            # default=str: a cell may hold a date
            content = json.dumps([vars(record) for record in records], default=str)
            write_sealed(self.folder / f"{stamp}.json", content.encode())
        return records

    def _is_copy(self, cell: Any) -> bool:
        return isinstance(cell, str) and cell in self.files

    def _recall(self, stamp: str) -> list[Record] | None:
        files: dict[str, Path] = {}
        try:
            content = read_sealed(self.folder / f"{stamp}.json")
            # the seal fits whatever a stranger's file holds
            records = _RECORDS.validate_python(json.loads(content))
            for record in records:
                for name, place in record.files.items():
                    files[name] = self._images / place
            require_inside([self._images], files.values(), "folder")
        except (OSError, ValueError, RecursionError, DamagedFileError, UserError):
            return None
        # somebody removed a copy: the table is read again
        if not all(map(Path.exists, files.values())):
            return None
        self.files |= files
        return records


def require_unchanged_copies(probes: Mapping[Path, Probe], context: Context) -> None:
    """Raise DamagedFileError where copies are not what was kept; they are deleted, to be made anew.

    `probes` are of any files: they have digests of all bytes, so that nothing is read again.
    """
    images = context.cache / IMAGES
    changed = []
    for path, probe in probes.items():
        # of a file that cannot be read at all there is no digest
        if path.is_relative_to(images) and probe.digest not in ("", path.stem):
            changed.append(path)
    for path in changed:
        # a cache folder that cannot be written: the error is the same
        with suppress(OSError):
            path.unlink()
    if changed:
        raise DamagedFileError(
            f"{len(changed)} copies in {context.cache} are not what was kept",
            expected="the files as they came",
            got=f"other content in {changed[0].name}",
            remedy="Run the same command again: they are made anew",
        )
