"""Files that a data set names: they lie in the folders that were typed, and opening them ends."""

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from cuescope_core.trust.paths import inside
from cuescope_sdk import Options, UserError

MOST_BYTES = 2**31  # of a file of annotations: the largest in use have a quarter of it
# a pipe in the place of a file must not be waited for
READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def typed_folders(options: Options) -> list[Path]:
    """The folders that options name, those of files among them."""
    folders = []
    for name in type(options).model_fields:
        value = getattr(options, name)
        if isinstance(value, Path):
            path = value.expanduser()
            folders.append(path.parent if path.is_file() else path)
    return folders


def require_inside(folders: Sequence[Path], files: Iterable[Path], title: str) -> None:
    """Raise UserError for the first file that leads out of all the folders, or is a pipe or device.

    What is not there is no error here. An annotation may name any path, and an archive may hold a
    link to any file.
    """
    kept: dict[Path, bool] = {}
    for file in files:
        parent = file.parent
        if parent not in kept:
            kept[parent] = _is_within(folders, parent)
        # most are plain files in a folder that was looked at: a look at the last step will do
        if file.name == ".." or not kept[parent] or not _is_plain_file(file):
            _require_one_inside(folders, file, title)


def require_inside_one(folder: Path, file: Path, title: str) -> Path:
    """The file, where it lies in the folder; raises UserError where it leads out."""
    require_inside([folder], [file], title)
    return file


def read_own_bytes(path: Path, title: str, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; raises UserError for a pipe or device, and for more than `most`."""
    try:
        descriptor = os.open(path, READ_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                kind = "folder" if stat.S_ISDIR(status.st_mode) else "pipe or a device"
                raise UserError(
                    f"{title}: {path.name}",
                    expected="a file",
                    got=f"a {kind}",
                )
            # not `most`: as much memory would be asked for
            content = file.read(status.st_size) if status.st_size <= most else b""
    except OSError as error:
        raise UserError(
            f"{title}: cannot read {path.name}", got=error.strerror
        ) from None
    if status.st_size > most:
        raise UserError(
            f"{title}: {path.name} is too large",
            expected=f"at most {most:,} bytes",
            got=f"{status.st_size:,}",
            remedy="Split it",
        )
    return content


def _is_within(folders: Sequence[Path], parent: Path) -> bool:
    for folder in folders:
        try:
            inside(folder, parent.absolute())
        except UserError:
            continue
        return True
    return False


def _is_plain_file(file: Path) -> bool:
    """True if it is a file, a folder or nothing at all; no link, pipe or device."""
    try:
        mode = file.lstat().st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _require_one_inside(folders: Sequence[Path], file: Path, title: str) -> None:
    *others, last = folders
    for folder in others:
        if _is_within([folder], file):
            return
    inside(last, file.absolute(), f"{title}: '{file}'")
