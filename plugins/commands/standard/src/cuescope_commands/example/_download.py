"""Files from their homes: resumed where they were left, kept only with the right checksum."""

import errno
import hashlib
import shutil
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)

from cuescope.application import fault, read_whole
from cuescope_sdk import UserError

CHUNK = 1 << 20
MOST_BYTES = 1 << 20  # of a list of sources
TRIES = 4  # of one file; each goes on where the last one ended
SECONDS = 30.0  # without a byte
HERE = ("127.0.0.1", "localhost")
AGAIN = "Run the same command again: it goes on from there"
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


class Source(BaseModel):
    """A file and where it comes from; one checksum at least, or it is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    home: str
    license: str
    # no slash: a list of sources names no other folder
    file: str = Field(pattern=r"^[\w.-]+$")
    url: str
    size: PositiveInt | None = None
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    # for Caltech-101, of which no other sum is known; it shows damage, no forgery
    md5: str | None = Field(None, pattern="^[0-9a-f]{32}$")
    spec: str | None = None
    classes: tuple[str, ...] = ()
    each: PositiveInt = 40

    @model_validator(mode="after")
    def _is_pinned(self) -> "Source":
        if not (self.sha256 or self.md5):
            raise ValueError(
                f"sha256 or md5 of {self.file}: without one nothing is fetched"
            )
        address = urlsplit(self.url)
        # on this machine nobody can change it on its way
        if address.scheme != "https" and address.hostname not in HERE:
            raise ValueError("an https address")
        return self

    @property
    def checksum(self) -> tuple[str, str]:
        """Name and value of the strongest checksum that is known."""
        return ("sha256", self.sha256) if self.sha256 else ("md5", str(self.md5))


def read_sources(path: Path) -> Mapping[str, Source]:
    """The sources of a TOML file by name; raises UserError for one that is not pinned."""
    try:
        tables = tomllib.loads(read_whole(path, most=MOST_BYTES).decode())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read", got=str(error)) from error
    sources = {}
    for name in ("model", "photos"):
        try:
            sources[name] = Source.model_validate(tables.get(name))
        except ValidationError as error:
            raise fault(f"{path}: [{name}]", error, Source.model_fields) from error
    return sources


def size_of(path: Path) -> int:
    """How much of a file has come so far."""
    return path.stat().st_size if path.exists() else 0


def fetch(source: Source, folder: Path, progress: Progress) -> Path:
    """The file, fetched where it is not there yet; raises UserError where it cannot be."""
    path = folder / source.file
    if path.exists():
        # it may be of another list of sources, or damaged since
        check(source, path)
        return path
    folder.mkdir(parents=True, exist_ok=True)
    # under another name until it is checked
    part = path.with_name(f"{path.name}.part")
    fault: Exception | None = None
    for _ in range(TRIES):
        try:
            _fetch_rest(source, part, progress)
            break
        # before URLError, which it is as well: a refusal is not tried again
        except HTTPError as error:
            raise UserError(
                f"{source.home} refuses {source.file}",
                got=f"HTTP {error.code} {error.reason}",
                remedy=f"Look at {source.home}; the address may have moved",
            ) from error
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            fault = error
    else:
        raise UserError(
            f"{urlsplit(source.url).hostname} cannot be reached, or breaks off",
            got=f"{getattr(fault, 'reason', fault)}",
            remedy=f"Check the network (HTTPS_PROXY is honoured); {size_of(part):,} bytes of "
            f"{source.file} are here. {AGAIN}",
        ) from fault
    check(source, part)
    part.replace(path)
    return path


def _fetch_rest(source: Source, part: Path, progress: Progress) -> None:
    request = Request(source.url, headers={"User-Agent": "cuescope"})
    if begun := size_of(part):
        request.add_header("Range", f"bytes={begun}-")
    try:
        # of each read, not of the whole file: a slow line is no fault
        response = urlopen(request, timeout=SECONDS)
    except HTTPError as error:
        # nothing is left to send: what is here is whole, or wrong
        if error.code != 416:
            raise
        return
    with response:
        if response.status != 206:  # a server that cannot resume sends all of it
            part.unlink(missing_ok=True)
        # 0: the server does not say
        left = int(response.headers.get("Content-Length") or 0)
        free = shutil.disk_usage(part.parent).free
        # now, not when the disk is full
        if left > free:
            raise _no_space(source, part, f"{free:,} bytes free, {left:,} needed")
        _append(response, source, part, left, progress)


def _append(
    response: HTTPResponse,
    source: Source,
    part: Path,
    left: int,
    progress: Progress,
) -> None:
    begun = size_of(part)
    try:
        with part.open("ab") as file, progress(source.file, begun + left) as advance:
            advance(begun)
            while chunk := response.read(CHUNK):
                file.write(chunk)
                advance(len(chunk))
    except OSError as error:
        # the caller tries again after a broken connection
        if error.errno != errno.ENOSPC:
            raise
        raise _no_space(source, part, "0 bytes free") from error
    # a connection that ends too early is no error to the library
    if left and size_of(part) < begun + left:
        raise ConnectionError(f"the connection ended after {size_of(part):,} bytes")


def _no_space(source: Source, part: Path, got: str) -> UserError:
    return UserError(
        f"no space for {source.file} in {part.parent}",
        got=got,
        remedy=f"Make room, or name another folder. {AGAIN}",
    )


def check(source: Source, path: Path) -> None:
    """Raise UserError, and remove the file, where it is not the one that was meant."""
    name, expected = source.checksum
    with path.open("rb") as file:
        got = hashlib.file_digest(file, name).hexdigest()
    if got != expected:
        size = path.stat().st_size
        # a wrong beginning cannot be gone on from
        path.unlink()
        raise UserError(
            f"{source.file} from {source.home} is not the file that was meant, and was removed",
            expected=f"{name} {expected}",
            got=f"{got} ({size:,} bytes)",
            remedy="Run the same command again; where it happens twice, the home has changed",
        )
