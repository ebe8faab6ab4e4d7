"""What a build leaves on the disk: images, masks, and a journal that survives a kill."""

import errno
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cuescope.application import read_whole
from cuescope_covar_build.geometry import Mask, Pixels
from cuescope_sdk import BadDataError, Context, DamagedFileError, UserError, digest
from cuescope_sdk.data import CovarManifest, CovarRow, Draft, content_digest
from cuescope_sdk.logs import parse_json
from cuescope_sdk.report import count_of

SETTINGS = "build.json"
JOURNAL = ".journal.jsonl"
LARGEST_SETTINGS = 2**24  # bytes
LARGEST_JOURNAL = 2**30  # of a million images
# zlib's level: 6 takes 3 to 4 times as long, for photos 8 to 19% smaller (three photos, 2026)
COMPRESSION = 1
# no space, the quota of the user, the largest file that the disk takes
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
LONGEST = 60  # characters of a name within a file's


class BuildFolder:
    """The folder of a build. What is in it is of one set of settings, and each row is made once.

    Raises UserError for a folder that holds a build of other settings, or other files.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.rows: dict[str, CovarRow] = {}
        self._settings = dict(settings)
        if folder.exists() and not folder.is_dir():
            raise UserError(f"--out {folder}", expected="a folder", got="a file")
        if (file := folder / SETTINGS).is_file():
            self._require_same(file)
            self.rows = {row.key: row for row in self._read_rows()}
        # a build writes many files, and never among somebody's own
        elif folder.is_dir() and any(folder.iterdir()):
            raise UserError(
                f"--out {folder}",
                expected="a new or empty folder, or one of the same build",
                got=f"a folder without {SETTINGS}",
            )

    def begin(self) -> None:
        """Make the folder, and say in it what is built."""
        text = json.dumps(self._settings, indent=1) + "\n"
        with self.telling():
            self.folder.mkdir(parents=True, exist_ok=True)
            with Draft(self.folder / SETTINGS) as draft:
                draft.file.write(text.encode())

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
                f"{count_of(len(changed), 'images')} made again, since their files were changed: "
                f"'{changed[0]}' among them"
            )

    def write_picture(self, name: str, pixels: Pixels | Mask) -> str:
        """A lossless PNG inside the folder, of a mask white on black; the digest of the file."""
        if pixels.dtype == bool:
            content = encode_png(pixels.astype(np.uint8) * 255)
        else:
            # OpenCV writes blue, green, red
            content = encode_png(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
        file = self.folder / name
        with self.telling():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return content_digest(BytesIO(content))

    def add(self, rows: Sequence[CovarRow]) -> None:
        """Rows whose files are written: a kill after this loses none of them."""
        with (
            self.telling(),
            (self.folder / JOURNAL).open("a", encoding="utf-8") as file,
        ):
            file.write("".join(map(_journal_line, rows)))
            # on the disk itself: a power cut after this loses no row
            file.flush()
            os.fsync(file.fileno())
        # after the write: what is in memory is on the disk too
        self.rows |= {row.key: row for row in rows}

    def finish(self) -> None:
        """The manifest is written: the journal has done its work."""
        # a build that lacked nothing has no journal
        (self.folder / JOURNAL).unlink(missing_ok=True)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Say it in one line where the disk takes no more."""
        try:
            yield
        except OSError as error:
            got = error.strerror or type(error).__name__
            first = "Mend it"
            if error.errno in FULL:
                got = "a full disk"
                first = "Free space"
            raise UserError(
                f"covar: cannot write to {self.folder}",
                got=got,
                remedy=f"{count_of(len(self.rows), 'images', 'are')} kept. {first}, and the "
                "same command goes on from there",
            ) from error

    def _is_as_written(self, row: CovarRow) -> bool:
        pictures = {row.image: row.image_digest, row.mask: row.mask_digest}
        # a dropped image has no file, a viewpoint perhaps no mask
        pictures.pop("", None)
        try:
            for name, written in pictures.items():
                with (self.folder / name).open("rb") as file:
                    if content_digest(file) != written:
                        return False
        # a file that is gone counts as changed; a null, which no file's name has
        except (OSError, ValueError):
            return False
        return True

    def _require_same(self, file: Path) -> None:
        try:
            before = parse_json(read_whole(file, most=LARGEST_SETTINGS), str(file))
        except (OSError, UserError):
            before = None
        if not isinstance(before, dict):
            raise UserError(
                f"covar: {file} cannot be read",
                remedy="Build into another folder with --out",
            )
        # as it is read back: a tuple is a list in JSON
        settings = json.loads(json.dumps(self._settings))
        for name, value in settings.items():
            if before.get(name) != value:
                raise UserError(
                    f"--out {self.folder} holds a build with another {name.replace('_', ' ')}",
                    expected=_abridge(before.get(name)),
                    got=_abridge(value),
                    remedy="Build into another folder, or with the same words",
                )

    def _read_rows(self) -> Iterator[CovarRow]:
        """The rows of the manifest and of the journal, which is newer.

        What is not as it was written is no row: its image is made again.
        """
        if (self.folder / CovarManifest.NAME).is_file():
            try:
                yield from CovarManifest.read(self.folder).rows
            # not refused: a damaged manifest costs time, not the build
            except (DamagedFileError, BadDataError) as error:
                warnings.warn(
                    f"images that it lists are made again: {error}", stacklevel=2
                )
        journal = self.folder / JOURNAL
        if not journal.is_file():
            return
        sound = []
        # as bytes: a torn line may be no UTF-8
        content = read_whole(journal, most=LARGEST_JOURNAL)
        lines = content.splitlines(keepends=True)
        for line in lines:
            row = _journal_row(line)
            if row is not None:
                sound.append(line)
                yield row
        if len(sound) < len(lines):  # torn as the process was killed, or damaged
            with Draft(journal) as draft:
                draft.file.write(b"".join(sound))


def _journal_line(row: CovarRow) -> str:
    content = asdict(row)
    return json.dumps({"row": content, "seal": _seal(content)}) + "\n"


def _journal_row(line: bytes) -> CovarRow | None:
    """The row of a line of the journal, None where it is not what was written."""
    try:
        stored = parse_json(line, JOURNAL)
        # a seal is no signature: whoever mails a folder can compute it
        row = CovarRow.read(stored["row"], JOURNAL)
        return row if stored["seal"] == _seal(stored["row"]) else None
    except (UserError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _seal(row: Mapping[str, Any]) -> str:
    return digest("covar journal", row)


def file_name(text: str) -> str:
    """A text as a part of a path, spaces as "_"; with a digest where more of it is lost."""
    # without a dot in front, which would hide the file
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_.-")[:LONGEST]
    whole = plain.replace("_", " ") == text
    # a text without any such letter is its digest alone
    return plain if whole else f"{plain}-{digest(text)[:8]}".lstrip("-")


def encode_png(pixels: np.ndarray) -> bytes:
    """Without loss, of (row, col) levels or blue, green and red."""
    how = [cv2.IMWRITE_PNG_COMPRESSION, COMPRESSION]
    _, content = cv2.imencode(".png", pixels, how)
    return content.tobytes()


def _abridge(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
