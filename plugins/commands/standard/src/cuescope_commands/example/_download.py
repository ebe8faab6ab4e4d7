"""Files from their homes: resumed where they were left, kept only with the right checksum."""

import hashlib
import shutil
import tomllib
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
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

SECONDS = 30.0  # without a byte
HERE = ("127.0.0.1", "localhost")


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


MOST_BYTES = 2**20  # of a file that names sources


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


def fetch(source: Source, folder: Path) -> Path:
    """The file, fetched where it is not there yet; raises UserError where it cannot be."""
    path = folder / source.file
    if path.exists():
        # it may be of another list of sources, or damaged since
        check(source, path)
        return path
    folder.mkdir(parents=True, exist_ok=True)
    # under another name until it is checked
    part = path.with_name(f"{path.name}.part")
    try:
        _fetch_rest(source, part)
    # before OSError, which it is as well: here no later try helps
    except HTTPError as error:
        raise UserError(
            f"{source.home} refuses {source.file}",
            got=f"HTTP {error.code} {error.reason}",
            remedy=f"Look at {source.home}; the address may have moved",
        ) from error
    except (OSError, HTTPException) as error:
        raise UserError(
            f"{urlsplit(source.url).hostname} cannot be reached, or breaks off",
            got=f"{getattr(error, 'reason', error)}",
            remedy=f"Check network (HTTPS_PROXY is honoured) and disk; {size_of(part):,} bytes of "
            f"{source.file} are here. Run the same command again: it goes on from there",
        ) from error
    check(source, part)
    part.replace(path)
    return path


def _fetch_rest(source: Source, part: Path) -> None:
    """Append what is missing of a file, with a bar of bytes in a terminal."""
    # late: with a file that is here already, rich is not needed
    from rich.console import Console
    from rich.progress import wrap_file

    request = Request(source.url, headers={"User-Agent": "cuescope"})
    begun = size_of(part)
    if begun:
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
            begun = 0
        # 0: the server does not say
        left = int(response.headers.get("Content-Length") or 0)
        console = Console(stderr=True)
        shown = wrap_file(
            response,
            left,
            description=source.file,
            console=console,
            disable=not console.is_terminal,
        )
        with part.open("ab") as file, shown as body:
            shutil.copyfileobj(body, file)
    # a connection that ends too early is no error to the library
    if left and size_of(part) < begun + left:
        raise ConnectionError(f"the connection ended after {size_of(part):,} bytes")


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
