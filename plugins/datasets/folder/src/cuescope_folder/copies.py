"""Files that stand for cells of a table: images that came as bytes, or from an address."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image
from pydantic import BaseModel

from cuescope_folder.fetched import IMAGES
from cuescope_sdk import Context, DamagedFileError, UserError, read_sealed, write_sealed
from cuescope_sdk.data import Draft, content_digest, kind_of, require_inside

SUFFIXES = {
    "JPEG": ".jpg",
    "PNG": ".png",
    "WEBP": ".webp",
    "BMP": ".bmp",
    "TIFF": ".tif",
    "GIF": ".gif",
    "AVIF": ".avif",
    "PPM": ".ppm",
}


class Record(BaseModel):
    """A row as it is remembered."""

    cells: dict[str, Any]
    files: dict[str, str]
    number: int = 0
    passed: list[str] = []


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
        key = content_digest(BytesIO(content))
        path = self._images / key[:2] / f"{key}{_suffix(content, name)}"
        if not _holds(path, content):
            # several processes may write the same one
            with Draft(path) as draft:
                draft.file.write(content)
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
                files[cell] = str(self.files[cell].relative_to(self._images))
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
            # the seal fits whatever a stranger's file holds
            for record in records:
                Record.model_validate(record)
        except (OSError, ValueError, RecursionError, DamagedFileError):
            return None
        files: dict[str, Path] = {}
        for record in records:
            for name, place in record["files"].items():
                files[name] = self._images / place
        try:
            require_inside([self._images], files.values(), "folder")
        except UserError:  # a folder of copies that was given along may name anything
            return None
        # somebody removed a copy: the table is read again
        if not all(map(Path.exists, files.values())):
            return None
        self.files |= files
        return records


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file has this content: one that was kept may be damaged by now."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def _suffix(content: bytes, name: str) -> str:
    """ ".jpg": that of the name where it is one of a known kind, else that of the bytes.

    It is "" for bytes of no known kind: whoever opens the file says what is wrong with it.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix and kind_of(PurePosixPath(f"a{suffix}")):
        return suffix
    Image.init()
    # named, because Pillow goes by content alone otherwise, and reads formats that run programs
    formats = [image_format for image_format in SUFFIXES if image_format in Image.OPEN]
    try:
        with Image.open(BytesIO(content), formats=formats) as image:
            return SUFFIXES[str(image.format)]
    except Exception:  # decoders meet strangers' bytes, and raise anything at all
        return ""
