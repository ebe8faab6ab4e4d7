"""The bytes of media files: what is decoded is what was digested, whatever happens to the path."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b, file_digest
from io import BufferedIOBase, BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from cuescope_sdk import BadDataError
from cuescope_sdk.data._own_files import READ_FLAGS

IN_MEMORY = 2**26  # bytes: larger files are digested first, and read again


class ChangedError(OSError):
    """The file was written to while it was read."""

    def __init__(self) -> None:
        super().__init__(0, "it changed while it was read")


class Stamp(NamedTuple):
    """A file as it was when looked at: equal stamps, equal bytes.

    `mtime` and `ctime` are in nanoseconds; all are 0 of a missing file. Anybody may set an mtime,
    but only the file system sets a ctime.
    """

    size: int = 0
    mtime: int = 0
    ctime: int = 0
    inode: int = 0

    @classmethod
    def of(cls, file: Path | BinaryIO) -> Self:
        """The file as it is now."""
        try:
            status = file.stat() if isinstance(file, Path) else os.fstat(file.fileno())
        except (OSError, ValueError):
            return cls()
        return cls(
            status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        )


def content_digest(file: RawIOBase | BufferedIOBase) -> str:
    """The digest of a file's bytes, by which a `Probe` knows them."""
    # faster than SHA-256 where the CPU has no instruction for it
    return file_digest(file, partial(blake2b, digest_size=16)).hexdigest()


@contextmanager
def steady_bytes(path: Path) -> Iterator[tuple[BinaryIO, str]]:
    """The bytes of a file, and their digest; raises ChangedError where they change meanwhile.

    The path is opened once: a file or link that takes its place later is not read.
    """
    descriptor = os.open(path, READ_FLAGS)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        # a named pipe in the place of a file must not be waited for
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError(2, "no such file")
        if status.st_size <= IN_MEMORY:
            content = _open_named(file.readall(), path)
            yield content, content_digest(content)
            return
        before = Stamp.of(file)
        digest = content_digest(file)
        file.seek(0)
        reader = BufferedReader(file)  # held here: it closes the file when it goes
        yield reader, digest
        if Stamp.of(file) != before:
            raise ChangedError


@contextmanager
def listed_bytes(path: Path, digest: str) -> Iterator[BinaryIO]:
    """The bytes of a file that had this digest when it was listed.

    Raises BadDataError where it has another by now, so that no answer to it is kept.
    """
    try:
        with steady_bytes(path) as (file, now):
            if now != digest:
                raise ChangedError
            yield file
    except ChangedError:
        raise BadDataError(
            f"{path} has changed since it was listed",
            expected="the file as it was listed",
            got="other content",
            remedy="Answers to it are not kept: run the same command again",
        ) from None


def _open_named(content: bytes, path: Path) -> BytesIO:
    """Bytes as a file with a name: ffmpeg tells raw streams apart by their suffix."""
    file = BytesIO(content)
    file.name = str(path)
    return file
