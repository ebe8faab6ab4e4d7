"""Archives of strangers: refused before they unfold to more than this machine should hold."""

import os
from pathlib import Path
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from cuescope.errors import UserError

LIMIT = "CUESCOPE_MAX_ARCHIVE_GB"
LIMIT_GB = 2.0  # tables of class embeddings take megabytes


def require_small_archive(owner: str, path: Path) -> None:
    """Raises UserError for a zip (.npz, .pt) of more bytes than itself and the limit once decoded.

    A file that is no zip passes: whoever reads it says what is wrong with it.
    """
    limit = archive_limit(owner)
    # entries that overlap are counted each: so they are decoded
    decoded = sum(file.file_size for file in _entries(path))
    # what is stored as it is unfolds to its own size, however large that is
    if decoded > max(path.stat().st_size, limit):
        raise too_much(owner, path, decoded)


def too_much(owner: str, path: Path, decoded: int) -> UserError:
    """What is said of a file that would take so many bytes of memory."""
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
    """Whether it is a zip whose files are stored as they are, so that it can be mapped."""
    files = _entries(path)
    return bool(files) and all(file.compress_type == ZIP_STORED for file in files)


def _entries(path: Path) -> list[ZipInfo]:
    """The files of a zip; none where it is no zip."""
    try:
        with ZipFile(path) as archive:
            return archive.infolist()
    except (BadZipFile, OSError, NotImplementedError):
        return []
