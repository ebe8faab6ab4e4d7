"""ZIP archives of strangers: members are read into memory within bounds, never written."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

from cuescope_sdk import UserError
from cuescope_sdk.logs._files import open_file, parse_json

# the method of new logs (APPNOTE, section 4.4.5); zipfile knows it from Python 3.14 on
ZSTD = 93
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_MEMBER = 2**26  # bytes of a member, unpacked
HEADER = 30  # bytes of a member's own header before its name (APPNOTE, section 4.3.7)


class Archive:
    """A ZIP file that is open; errors begin with `name`."""

    def __init__(self, file: BinaryIO, archive: zipfile.ZipFile, name: str) -> None:
        self.name = name
        self._file = file
        self._archive = archive

    @classmethod
    @contextmanager
    def open(cls, path: Path, title: str) -> Iterator[Self]:
        """Open a file; raises UserError for what is no archive."""
        name = f"{title}: {path.name}"
        with open_file(path, title) as file:
            try:
                archive = zipfile.ZipFile(file)
            # a crafted directory raises more than BadZipFile
            except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
                raise UserError(f"{name} is no ZIP archive") from None
            with archive:
                yield cls(file, archive, name)

    @property
    def members(self) -> list[str]:
        """The names of its members, as they stand in it."""
        return self._archive.namelist()

    def json(self, member: str) -> Any:
        """A member that is JSON."""
        return parse_json(self.read(member), f"{self.name} member '{member[:80]}'")

    def read(self, member: str) -> bytes:
        """The bytes of a member; raises UserError for one that is damaged or too large."""
        place = f"{self.name} member '{member[:80]}'"
        most = MOST_MEMBER
        try:
            info = self._archive.getinfo(member)
            # packed it is no larger than unpacked, but for a few bytes
            if info.compress_size > most:
                raise too_large(place, most)
            if info.compress_type == ZSTD:
                content = self._read_zstd(info, most)
            elif info.compress_type in PLAIN:
                with self._archive.open(info) as opened:
                    # what it says of its size is not believed
                    content = opened.read(most + 1)
            else:
                raise UserError(
                    place,
                    expected="a member packed by deflate or zstd",
                    got=f"method {info.compress_type}",
                )
        except (
            zipfile.BadZipFile,
            zlib.error,
            KeyError,
            ValueError,
            EOFError,
            OSError,
            RuntimeError,  # a member under a password
        ) as error:
            reason = str(error).splitlines()
            raise UserError(
                f"{place} cannot be read", got=reason[0] if reason else None
            ) from None
        if len(content) > most:
            raise too_large(place, most)
        return content

    def _read_zstd(self, info: zipfile.ZipInfo, most: int) -> bytes:
        """The member's own bytes, unpacked: the standard library does not know the method."""
        import zstandard

        self._file.seek(info.header_offset)
        header = self._file.read(HEADER)
        if header[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("no header of a member")
        name_bytes = int.from_bytes(header[26:28], "little")
        extra_bytes = int.from_bytes(header[28:30], "little")
        self._file.seek(info.header_offset + HEADER + name_bytes + extra_bytes)
        packed = self._file.read(min(info.compress_size, most))
        unpacker = zstandard.ZstdDecompressor(max_window_size=2**27)
        try:
            # a member may have several frames, one behind the other
            with unpacker.stream_reader(packed, read_across_frames=True) as stream:
                # as much memory is asked for at once: one that is longer has another sum
                content: bytes = stream.read(min(info.file_size, most) + 1)
        except zstandard.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from None
        if len(content) <= most and zlib.crc32(content) != info.CRC:
            raise zipfile.BadZipFile("a wrong check sum")
        return content


def too_large(place: str, most: int) -> UserError:
    """The error of a member that unpacks to more."""
    return UserError(
        place,
        expected=f"at most {most:,} bytes, unpacked",
        got="more",
        remedy="It may be a bomb: nothing of it was kept",
    )
