"""Files that are written whole or not at all, and read only up to a size."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Self

from cuescope_core.errors import UserError, with_article

_BINARY = getattr(os, "O_BINARY", 0)  # of Windows
# then letters that no other draft has
DRAFT = ".cuescope-draft-"
LOCK_SECONDS = 30.0  # a change takes milliseconds: whoever holds it longer is stuck
ABANDONED_SECONDS = 3600.0  # of a draft that nobody writes any more
# of a disk; Windows has no quota
NO_ROOM = (errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_cleaned = set[Path]()


class Draft:
    """A file of another name in the folder of `path`, which takes its place when it is whole.

    `with Draft(path) as draft: draft.file.write(...)` moves it to `path` at the end, and deletes it
    after an exception. `draft.path` is for libraries that open a file by its name, and is given
    `suffix` where they go by that. Raises OSError where the folder cannot be written.

    A draft that is left of a process that was killed is deleted by the first write of a process
    into the folder an hour later.
    """

    def __init__(self, path: Path, *, suffix: str = "", mode: int = 0o666) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._target = path
        # in the same folder: only there is a rename atomic
        self.path, descriptor = _create_draft(path.parent, suffix, mode)
        # by the clock of the drive, which need not be that of this computer
        delete_abandoned(path.parent, os.fstat(descriptor).st_mtime)
        self.file = os.fdopen(descriptor, "r+b")

    def keep(self) -> None:
        """Move the draft to its place."""
        self.file.close()
        self.path.replace(self._target)

    def discard(self) -> None:
        """Delete the draft; what is at its place stays as it is."""
        with suppress(OSError):  # a full disk fails to flush
            self.file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.keep()
        finally:  # after `keep` nothing is left of it
            self.discard()


def write_atomically(path: Path, content: str | bytes, *, mode: int = 0o666) -> None:
    """Write a file whole or not at all; raises UserError where the folder cannot be written.

    `mode` says who may read it, as far as the user's own mask lets them.
    """
    # half a letter of a stranger's text stands there as \ud800, which JSON reads back
    data = (
        content.encode(errors="backslashreplace")
        if isinstance(content, str)
        else content
    )
    try:
        with Draft(path, mode=mode) as draft:
            draft.file.write(data)
    except OSError as error:
        raise UserError(
            f"cannot write to {path if path.is_dir() else path.parent}",
            got=error.strerror,
            remedy="Choose another folder",
        ) from error


def set_aside(path: Path, *beside: str) -> Path:
    """Give a damaged file, and those of its name and an ending, another name, which is returned."""
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    for ending in ("", *beside):
        with suppress(FileNotFoundError):
            part = path.with_name(f"{path.name}{ending}")
            part.replace(aside.with_name(f"{aside.name}{ending}"))
    return aside


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file for a change: whoever changes it meanwhile, here or elsewhere, waits.

    Raises UserError where another process holds it for long, or where it cannot be locked.
    """
    from filelock import FileLock, Timeout

    beside = path.with_name(f".{path.name}.lock")
    lock = FileLock(beside, timeout=LOCK_SECONDS)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # opening it would empty the file that a stranger's link names
        if beside.is_symlink():
            raise OSError(errno.ELOOP, f"{beside.name} is a link")
        lock.acquire()
    except OSError as error:
        is_held = isinstance(error, Timeout)
        raise UserError(
            f"cannot change {path}",
            got="another process holds it" if is_held else error.strerror,
            remedy=f"If no process works on it, delete {beside.name}"
            if is_held
            else "Choose another folder",
        ) from error
    try:
        yield
    finally:
        lock.release()


def at_home(path: str | os.PathLike[str]) -> Path:
    """The path, `~/x` in the user's home: a shell leaves it after `--out=`, Python always."""
    # not `~name`, which may be a file here, and is nobody's home
    if os.fspath(path)[:2] in ("~", "~/"):
        return Path(path).expanduser()
    return Path(path)


def require_path(name: str, path: str | os.PathLike[str]) -> None:
    """Raise UserError for an empty path, and for what is none.

    `name` is the option or argument that it is of.
    """
    if not isinstance(path, str | os.PathLike):
        raise UserError(
            f"{name} is {with_article(type(path).__name__)}",
            expected="a file or folder, as text or as a Path",
            got=repr(path),
        )
    # `Path("")` is the folder that one is in, which nobody named
    if str(path).strip() == "":
        raise UserError(
            f"{name} is empty",
            expected="a file or folder",
            got=repr(str(path)),
            remedy="Is a variable of your shell not set?",
        )
    try:
        os.lstat(path)
    except ValueError as error:  # a null, half a character
        raise UserError(
            f"{name} can name no file", expected="a file or folder", got=repr(str(path))
        ) from error
    except OSError as error:
        # one that is not there yet is made
        if error.errno == errno.ENAMETOOLONG:
            raise UserError(
                f"{name} can name no file",
                expected="a file or folder",
                got=f"a name of {len(str(path)):,} letters",
            ) from error


def require_folder(path: Path) -> None:
    """Raises UserError for a path that can be no folder to write into; makes none."""
    # what is not there yet is made within the first folder above it that is
    there = path.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise UserError(
            f"cannot write to {path}",
            expected="a folder",
            got=f"a file, {there}",
            remedy="Choose another folder",
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(
            f"cannot write to {path}",
            got=f"{there}, which you may not write to",
            remedy="Choose another folder",
        )


def read_whole(path: Path, *, most: int) -> bytes:
    """The bytes of a file; raises UserError for one of more than `most`, or that is no file.

    OSError is the caller's to word. A pipe or a device is no file: it may have no end.
    """
    # without it, opening a pipe would wait until somebody writes into it
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not S_ISREG(facts.st_mode):
            raise UserError(
                f"{path} cannot be read",
                expected="a file",
                got="a pipe or a device",
            )
        if facts.st_size > most:
            raise UserError(
                f"{path} is too large",
                expected=f"at most {most:,} bytes",
                got=f"{facts.st_size:,}",
            )
        # not `most`: as much memory would be asked for
        return file.read(facts.st_size)


# ---------------------------------------------------------------------------------------- drafts


def delete_abandoned(folder: Path, now: float) -> None:
    """Delete the drafts in a folder that nobody has written to for an hour before `now`.

    Once in a process for each folder: looking costs time.
    """
    if folder in _cleaned:
        return
    _cleaned.add(folder)
    # whoever writes next finds out what is wrong with the folder
    with suppress(OSError):
        for draft in folder.glob(f"{DRAFT}*"):
            if now - draft.lstat().st_mtime > ABANDONED_SECONDS:
                draft.unlink()


def _create_draft(folder: Path, suffix: str, mode: int) -> tuple[Path, int]:
    """A new empty draft and its descriptor.

    No `tempfile.mkstemp`: it makes files that only their owner can read, and the result of an audit
    is for others too.
    """
    path = folder / f"{DRAFT}{os.urandom(8).hex()}{suffix}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY
    return path, os.open(path, flags, mode)
