"""Archives of strangers: refused before they unfold to more than this machine should hold."""

import os
from pathlib import Path
from struct import Struct
from typing import BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from cuescope_core.errors import UserError

LIMIT = "CUESCOPE_MAX_ARCHIVE_GB"
LIMIT_GB = 2.0  # tables of class embeddings take megabytes
# what stands at the end of a zip (APPNOTE.TXT 4.3.14 to 4.3.16), large ones with the first two
END_64 = Struct("<4sQ2H2L4Q")
LOCATOR = Struct("<4sLQL")
END = Struct("<4s4H2LH")
LARGEST_LIST = 2**24  # bytes of the list of files: a hundred thousand of them


def require_small_archive(owner: str, path: Path) -> None:
    """Raises UserError for a zip (.npz, .pt) of more bytes than itself and the limit once decoded.

    Also for one that is damaged, or that others may read in another way than zipfile does. A file
    that is no zip passes: whoever reads it says what is wrong with it.
    """
    limit = archive_limit(owner)
    try:
        files = _entries(path)
    except (ValueError, NotImplementedError, BadZipFile):
        # torch reads archives that zipfile does not, and by other words of their ends
        raise UserError(
            f"{owner}: {path.name} is no whole archive",
            expected="one as torch.save and numpy.savez write it",
            got="a list of its files that can be read in two ways, or not at all",
            remedy="Fetch it again; or load it where it is trusted, and save it again.",
        ) from None
    # entries that overlap are counted each: so they are decoded
    decoded = sum(file.file_size for file in files)
    # what is stored as it is unfolds to its own size, however large that is
    if decoded > max(path.stat().st_size, limit):
        raise too_much(owner, path, decoded)


def too_much(owner: str, path: Path, decoded: int) -> UserError:
    """The error of a file that would take so many bytes of memory."""
    return UserError(
        f"{owner}: {path.name} unfolds to {decoded / 1e9:,.3f} GB",
        expected=f"at most {archive_limit(owner) / 1e9:g} GB",
        remedy=f"If the file is to be trusted, set {LIMIT}={int(decoded / 1e9) + 1}.",
    )


def archive_limit(owner: str) -> int:
    """Bytes, from the environment; raises UserError for what is no number there."""
    # read late: it may be set as a notebook runs
    text = os.environ.get(LIMIT, str(LIMIT_GB))
    try:
        return int(float(text) * 1e9)
    except (ValueError, OverflowError):  # also of nan and inf
        raise UserError(
            f"{owner}: {LIMIT}",
            expected="a number of gigabytes",
            got=text,
        ) from None


def is_stored(path: Path) -> bool:
    """True if it is a zip whose files are stored as they are, so that it can be mapped."""
    files = _entries(path)
    return bool(files) and all(file.compress_type == ZIP_STORED for file in files)


def _entries(path: Path) -> list[ZipInfo]:
    """The files of a zip; none where it is no zip.

    Raises ValueError, or what zipfile raises, for one that is not read in one way alone.
    """
    try:
        with path.open("rb") as file:
            # by these torch and numpy know one
            if file.read(2) != b"PK":
                return []
            # first: zipfile reads all of the list
            require_one_list(file)
            with ZipFile(file) as archive:
                return archive.infolist()
    except OSError:
        return []


def require_one_list(file: BinaryIO) -> None:
    """Raise ValueError where the list of files is not where the end of a zip says, or endless.

    zipfile takes the one that stands before the end, torch the one that is named there.
    """
    size = file.seek(0, os.SEEK_END)
    most = END_64.size + LOCATOR.size + END.size
    file.seek(max(0, size - most))
    tail = file.read().rjust(most)
    sign, _, _, _, _, length, start, comment = END.unpack(tail[-END.size :])
    if sign != b"PK\5\6" or comment:
        raise ValueError("no end")
    end = size - END.size
    sign, _, place, _ = LOCATOR.unpack(tail[END_64.size : -END.size])
    if sign == b"PK\6\7":
        end = size - most
        sign, *_, length, start = END_64.unpack(tail[: END_64.size])
        if sign != b"PK\6\6" or place != end:
            raise ValueError("another end")
    if start + length != end:
        raise ValueError("another list")
    if length > LARGEST_LIST:
        raise ValueError(f"a list of files of {length:,} bytes")
