"""Files that are written and read again: whole or not at all, each with its checksum inside.

The checksum is the digest of the file's name and content, so that a flipped bit, an edit and a file
under another's name do not fit it. It lies where other programs that read such a file pass over it:
see `FORMS`. It is no signature: whoever changes a file and its checksum on purpose is believed.
"""

import re
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cuescope_core.atomic_files import locked, read_whole, set_aside, write_atomically
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.trust.paths import inside

LARGEST = 2**32  # bytes of a sealed file: all of it is read at once
LARGEST_WORDS = 2**24  # of one that holds names, lists or facts
_DIGEST = rb"([0-9a-f]{32})"

Parts = tuple[bytes, str]  # a content and its checksum


class DamagedFileError(UserError):
    """A file is not what was written: damaged, edited, renamed, or without a checksum."""


@dataclass(frozen=True)
class Form:
    """Where the checksum lies in files that `fits` knows, with it and without.

    `split` is the reverse of `join`, and gives None where it finds no checksum.
    """

    name: str
    fits: Callable[[bytes], bool]
    join: Callable[[bytes, str], bytes]
    split: Callable[[bytes], Parts | None]


# ----------------------------------------------------------------------------------------- JSON

_FIELD = re.compile(rb'\{"checksum": "' + _DIGEST + rb'"(, )?')


def _join_json(content: bytes, seal: str) -> bytes:
    rest = content[1:]
    comma = b"" if rest.lstrip().startswith(b"}") else b", "
    return b'{"checksum": "' + seal.encode() + b'"' + comma + rest


def _split_json(stored: bytes) -> Parts | None:
    field = _FIELD.match(stored)
    return field and (b"{" + stored[field.end() :], field[1].decode())


# -------------------------------------------------------------------------------------- Parquet


def _footer_start(stored: bytes) -> int:
    """Where the footer begins; its length stands before the last four letters."""
    return len(stored) - 8 - int.from_bytes(stored[-8:-4], "little")


def _is_parquet(content: bytes) -> bool:
    is_whole = content.startswith(b"PAR1") and content.endswith(b"PAR1")
    return is_whole and _footer_start(content) >= 4


def _join_parquet(content: bytes, seal: str) -> bytes:
    # offsets are of the beginning of a file, and the footer is found from its end
    start = _footer_start(content)
    return content[:start] + seal.encode() + content[start:]


def _split_parquet(stored: bytes) -> Parts | None:
    start = _footer_start(stored)
    seal = re.fullmatch(_DIGEST, stored[max(start - 32, 0) : start])
    return seal and (stored[: start - 32] + stored[start:], seal[1].decode())


# ------------------------------------------------------------------------------------------ PNG

_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"


def _is_png(content: bytes) -> bool:
    return content.startswith(b"\x89PNG") and content.endswith(_PNG_END)


def _png_chunk(seal: str) -> bytes:
    body = b"tEXtcuescope\0" + seal.encode()
    length = (len(body) - 4).to_bytes(4, "big")  # of a chunk's data, without its type
    return length + body + zlib.crc32(body).to_bytes(4, "big")


def _join_png(content: bytes, seal: str) -> bytes:
    return content.removesuffix(_PNG_END) + _png_chunk(seal) + _PNG_END


def _split_png(stored: bytes) -> Parts | None:
    size = len(_png_chunk("0" * 32)) + len(_PNG_END)
    chunk = stored[-size:]
    seal = re.search(rb"tEXtcuescope\0" + _DIGEST, chunk)
    if seal is None or chunk != _png_chunk(seal[1].decode()) + _PNG_END:
        return None
    return stored[:-size] + _PNG_END, seal[1].decode()


# ------------------------------------------------------------------------------------ all others

_LAST_LINE = re.compile(rb"\ncuescope " + _DIGEST + rb"\n\Z")


def _join_end(content: bytes, seal: str) -> bytes:
    return content + b"\ncuescope " + seal.encode() + b"\n"


def _split_end(stored: bytes) -> Parts | None:
    line = _LAST_LINE.search(stored, max(len(stored) - 64, 0))
    return line and (stored[: line.start()], line[1].decode())


FORMS = (
    Form("JSON", lambda content: content.startswith(b"{"), _join_json, _split_json),
    Form("Parquet", _is_parquet, _join_parquet, _split_parquet),
    Form("PNG", _is_png, _join_png, _split_png),
    # lines of text, archives of arrays: what follows their end is no part of them
    Form("others", lambda content: True, _join_end, _split_end),
)


def seal_of(name: str, content: bytes) -> str:
    """The checksum of a file of this name and content."""
    return digest("cuescope file", name, content)


def with_seal(name: str, content: bytes) -> bytes:
    """The bytes of a file of this name, its checksum among them."""
    return _form_of(content).join(content, seal_of(name, content))


def write_sealed(path: Path, content: bytes, *, name: str | None = None) -> None:
    """Write a file with its checksum; raises UserError where the folder cannot be written.

    A kill at any moment leaves the file as it was before, or whole. `name` enters the checksum in
    place of the file's own, for files that people rename.
    """
    write_atomically(path, with_seal(name or path.name, content))


def read_sealed(
    path: Path,
    *,
    remedy: str | None = None,
    most: int = LARGEST,
    name: str | None = None,
) -> bytes:
    """The content as it was written; raises DamagedFileError with `remedy` for any other.

    Or for more than `most` bytes. FileNotFoundError where there is no file. `name` as it was
    written with.
    """
    name = name or path.name
    try:
        stored = _read(path, most)
    except FileNotFoundError:
        raise
    except (OSError, UserError) as error:
        raise _damage(path, str(error), remedy) from error
    parts = _form_of(stored).split(stored)
    if parts is not None and seal_of(name, parts[0]) == parts[1]:
        return parts[0]
    got = "no checksum in it" if parts is None else "other content"
    raise _damage(path, got, remedy)


def change_sealed(
    path: Path,
    change: Callable[[bytes | None], bytes],
    *,
    most: int = LARGEST_WORDS,
) -> None:
    """Write what `change` makes of the content, None where there is no file; one writer at a time.

    A damaged file is set aside with a warning, never written over: what a person put into it may
    still be read by eye.
    """
    with locked(path):
        content = None
        try:
            content = read_sealed(path, most=most)
        except FileNotFoundError:
            pass
        except DamagedFileError as error:
            aside = set_aside(path)
            warnings.warn(f"{error}; it is kept as {aside.name}", stacklevel=2)
        write_sealed(path, change(content))


def _form_of(content: bytes) -> Form:
    return next(form for form in FORMS if form.fits(content))


def _damage(path: Path, got: str, remedy: str | None) -> DamagedFileError:
    return DamagedFileError(
        f"{path} is not what cuescope wrote",
        expected="the file as it was written",
        got=got,
        remedy=remedy,
    )


def _read(path: Path, most: int) -> bytes:
    """The bytes of a file that is no link out of its folder: somebody may have mailed it."""
    return read_whole(inside(path.parent, path.name, str(path)), most=most)
