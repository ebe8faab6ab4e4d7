"""What a build leaves on the disk: images, masks, and a journal that survives a kill."""

import errno
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cuescope_covar_build.geometry import Mask, Pixels
from cuescope_covar_build.manifest import MANIFEST, Row, picture_digest, read_manifest
from cuescope_sdk import BadDataError, Context, DamagedFileError, UserError, digest
from cuescope_sdk.data import write_whole

SETTINGS = "build.json"
JOURNAL = ".journal.jsonl"
COMPRESSION = 1  # zlib's level: 6 takes three times as long, for files a tenth smaller
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
LONGEST = 60  # characters of a name within a file's


class BuildFolder:
    """The folder of a build. What is in it is of one set of settings, and each row is made once.

    Raises UserError for a folder that holds a build of other settings, or other files.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.rows: dict[str, Row] = {}
        self._settings = dict(settings)
        if folder.exists() and not folder.is_dir():
            raise UserError(f"--out {folder}", expected="a folder", got="a file")
        if (file := folder / SETTINGS).is_file():
            self._require_same(file)
            self.rows = {row.key: row for row in self._known()}
        elif folder.is_dir() and any(folder.iterdir()):
            raise UserError(
                f"--out {folder}",
                expected="a new or empty folder, or one of the same build",
                got=f"a folder without {SETTINGS}",
            )

    def begin(self) -> None:
        """Make the folder, and say in it what is built."""
        with self.telling():
            self.folder.mkdir(parents=True, exist_ok=True)
            _write(self.folder / SETTINGS, json.dumps(self._settings, indent=1).encode() + b"\n")

    def forget_changed(self, context: Context) -> None:
        """Forget the rows whose pictures are not those that were written: they are made again."""
        changed: list[str] = []
        with context.progress("Checking images", len(self.rows)) as advance:
            for row in self.rows.values():
                if not self._is_as_written(row):
                    changed.append(row.key)
                advance(1)
        for key in changed:
            del self.rows[key]
        if changed:
            context.announce(
                f"{len(changed):,} images are not as they were built, and are made again, "
                f"'{changed[0]}' among them"
            )

    def write_image(self, name: str, image: Pixels) -> str:
        """A lossless PNG inside the folder; the digest of the file."""
        return self._write_png(name, cv2.cvtColor(image, cv2.COLOR_RGB2BGR))

    def write_mask(self, name: str, mask: Mask) -> str:
        """White on black; the digest of the file."""
        return self._write_png(name, mask.astype(np.uint8) * 255)

    def add(self, rows: Sequence[Row]) -> None:
        """Rows whose files are written: a kill after this loses none of them."""
        lines = "".join(map(_journal_line, rows))
        with self.telling(), (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        self.rows |= {row.key: row for row in rows}

    def finish(self) -> None:
        """The manifest is written: the journal has done its work."""
        (self.folder / JOURNAL).unlink(missing_ok=True)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Say it in one line where the disk takes no more."""
        try:
            yield
        except OSError as error:
            full = error.errno in FULL
            raise UserError(
                f"covar: cannot write to {self.folder}",
                got="a full disk" if full else (error.strerror or type(error).__name__),
                remedy=f"{len(self.rows):,} images are kept. "
                + ("Free space" if full else "Mend it")
                + ", and the same command goes on from there",
            ) from error

    def _write_png(self, name: str, pixels: np.ndarray) -> str:
        _, encoded = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, COMPRESSION])
        content = encoded.tobytes()
        with self.telling():
            file = self.folder / name
            try:
                file.write_bytes(content)
            except FileNotFoundError:  # its folder: the first image of a source and background
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        return picture_digest(content)

    def _is_as_written(self, row: Row) -> bool:
        pictures = {row.image: row.image_digest, row.mask: row.mask_digest}
        try:
            digests = {name: self._picture_digest(name) for name in pictures if name}
        except OSError:
            return False
        return all(digests[name] == pictures[name] for name in digests)

    def _picture_digest(self, name: str) -> str:
        return picture_digest((self.folder / name).read_bytes())

    def _require_same(self, file: Path) -> None:
        try:
            known = json.loads(file.read_text())
        except (OSError, ValueError):
            known = None
        if not isinstance(known, dict):
            raise UserError(
                f"covar: {file} cannot be read", remedy="Build into another folder with --out"
            )
        for name, value in self._settings.items():
            # as it is read back: a tuple is a list in JSON
            if known.get(name) != json.loads(json.dumps(value)):
                raise UserError(
                    f"--out {self.folder} holds a build with another {name.replace('_', ' ')}",
                    expected=_shown(known.get(name)),
                    got=_shown(value),
                    remedy="Build into another folder, or with the same words",
                )

    def _known(self) -> Iterator[Row]:
        """The rows of the manifest and of the journal, which is newer.

        What is not as it was written is no row: its image is made again.
        """
        if (self.folder / MANIFEST).is_file():
            try:
                yield from read_manifest(self.folder)
            except (DamagedFileError, BadDataError) as error:
                warnings.warn(f"images that it lists are made again: {error}", stacklevel=2)
        journal = self.folder / JOURNAL
        if not journal.is_file():
            return
        lines = journal.read_bytes().splitlines(keepends=True)
        rows = [_journal_row(line) for line in lines]
        yield from (row for row in rows if row is not None)
        if None in rows:  # torn as the process was killed, or damaged
            sound = (line for line, row in zip(lines, rows, strict=True) if row is not None)
            write_whole(journal, b"".join(sound))


def _journal_line(row: Row) -> str:
    content = asdict(row)
    return json.dumps({"row": content, "seal": _seal_of(content)}) + "\n"


def _journal_row(line: bytes) -> Row | None:
    """The row of a line of the journal, None where it is not what was written."""
    try:
        stored = json.loads(line)
        row = Row(**stored["row"])
        return row if stored["seal"] == _seal_of(stored["row"]) else None
    except (ValueError, TypeError, KeyError):
        return None


def _seal_of(row: Mapping[str, Any]) -> str:
    return digest("covar journal", row)


def file_name(text: str) -> str:
    """A text as a part of a path, spaces as "_"; with a digest where more of it is lost."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_.-")[:LONGEST]
    whole = plain.replace("_", " ") == text
    return plain if whole else f"{plain}-{digest(text)[:8]}".lstrip("-")


def folder_size(folder: Path, rows: Iterable[Row]) -> int:
    """Bytes of the images and masks of these rows."""
    names = {name for row in rows for name in (row.image, row.mask) if name}
    return sum((folder / name).stat().st_size for name in names if (folder / name).is_file())


def _write(file: Path, content: bytes) -> None:
    write_whole(file, content)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
