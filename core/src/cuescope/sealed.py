"""Files that tell when they are no longer what was written: a seal lies beside each.

The seal of `NAME` is in `NAME.seal`, not in the file: a table must stay Parquet and arrays an
`.npz` that other programs read, and one way does for all of them. It is the digest of the file's
name and bytes, so that a flipped bit, an edit and a file under another's name do not fit it. It is
no signature: whoever changes both files on purpose is believed.
"""

from contextlib import suppress
from pathlib import Path

from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope.trust.paths import inside
from cuescope.whole_files import read_whole, write_atomically

SUFFIX = ".seal"
LARGEST = 2**32  # bytes of a sealed file: all of it is read at once
LARGEST_WORDS = 2**24  # of one that holds names, lists or facts
LARGEST_SEAL = 2**12  # a digest has 32 letters
TRIES = 2  # another process may replace both files between the two reads


class DamagedFileError(UserError):
    """A file is not what was written: damaged, edited, renamed, or of before there were seals."""


def seal_of(name: str, content: bytes) -> str:
    """The seal of a file of this name and content."""
    return digest("cuescope file", name, content)


def seal_file(path: Path) -> Path:
    """Where the seal of a file is."""
    return path.with_name(path.name + SUFFIX)


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file and its seal; raises UserError where the folder cannot be written.

    A kill at any moment leaves the file as it was before, or whole: both fit what is beside it.
    """
    seal = seal_of(path.name, content)
    beside = seal_file(path)
    before = _seals(beside)
    # the new seal goes first, and the old one stays until the old content is gone
    write_atomically(beside, "\n".join([seal, *before]))
    write_atomically(path, content)
    if before:
        write_atomically(beside, seal)


def read_sealed(path: Path, *, remedy: str | None = None, most: int = LARGEST) -> bytes:
    """The content as it was written; raises DamagedFileError with `remedy` for any other.

    Or for more than `most` bytes. FileNotFoundError where there is no file.
    """
    for _ in range(TRIES):
        try:
            content = _read(path, most)
        except FileNotFoundError:
            raise
        except (OSError, UserError) as error:
            raise _damage(path, str(error), remedy) from error
        seals = _seals(seal_file(path))
        if seal_of(path.name, content) in seals:
            return content
    got = "other content" if seals else f"no {seal_file(path).name} beside it"
    raise _damage(path, got, remedy)


def _damage(path: Path, got: str, remedy: str | None) -> DamagedFileError:
    return DamagedFileError(
        f"{path} is not what cuescope wrote",
        expected="the file as it was written",
        got=got,
        remedy=remedy,
    )


def _seals(beside: Path) -> list[str]:
    """What is in a file of seals, the newest first; nothing where it cannot be read."""
    with suppress(OSError, UserError):
        return _read(beside, LARGEST_SEAL).decode(errors="replace").split()
    return []


def _read(path: Path, most: int) -> bytes:
    """The bytes of a file that is no link out of its folder: somebody may have mailed it."""
    return read_whole(inside(path.parent, path.name, str(path)), most=most)
