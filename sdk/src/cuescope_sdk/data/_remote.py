"""Files at addresses (s3://, gs://, https:// ...): read by fsspec, kept once they were fetched.

Credentials, endpoints and proxies are those of the libraries underneath: environment variables and
files such as AWS_PROFILE, AWS_ENDPOINT_URL, GOOGLE_APPLICATION_CREDENTIALS or FSSPEC_S3_ANON.
"""

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from cuescope_sdk import Context, UserError, digest
from cuescope_sdk.data._media.files import printable_name

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+)://\S+", re.IGNORECASE)
CONNECTIONS = 16  # files that are fetched at a time: most of each is waiting
EXTRAS = {"s3": "s3", "gs": "gcs", "gcs": "gcs"}  # of cuescope-folder


def is_address(text: str) -> bool:
    """Whether it is a URL, and no path of this machine."""
    return _ADDRESS.fullmatch(text) is not None


def name_at(address: str) -> str:
    """ "bucket/photos/1.jpg": an address without scheme and secrets, as a relative path."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2].replace(":", "-")
    steps = [step for step in (host, *parts.path.split("/")) if step not in ("", ".", "..")]
    name = printable_name("/".join(steps))
    if not parts.query:
        return name
    stem, dot, suffix = name.rpartition(".")
    mark = digest(parts.query)[:8]  # it may hold a signature, and may tell two files apart
    return f"{stem}-{mark}.{suffix}" if dot and "/" not in suffix else f"{name}-{mark}"


def address_below(base: str, name: str) -> str:
    """The address of a relative path below that of a folder; an address stays as it is."""
    return name if is_address(name) else f"{base.rstrip('/')}/{name.removeprefix('./')}"


def open_address(owner: str, address: str) -> Any:
    """The file at an address, a context manager; raises UserError where it cannot be read."""
    return _opened(owner, address)


@contextmanager
def _opened(owner: str, address: str) -> Iterator[BinaryIO]:
    with _one_line(owner, address):
        system, path = _system(owner, address)
        with system.open(path, "rb") as file:
            yield file


def stamp_of(owner: str, address: str) -> str:
    """Digest of what a server says of a file: another one where the file has changed."""
    with _one_line(owner, address):
        system, path = _system(owner, address)
        known = system.info(path)
        return digest(address, sorted(f"{key}={value}" for key, value in known.items()))


def list_address(owner: str, address: str) -> list[str]:
    """Relative paths of all files below an address, in order; raises UserError where none are."""
    with _one_line(owner, address):
        system, path = _system(owner, address)
        root = path.rstrip("/") + "/"
        found = [str(name) for name in system.find(path)]
        names = sorted(name.removeprefix(root) for name in found if name.startswith(root))
    if not names:
        raise UserError(f"{owner}: there are no files at {address}")
    return names


def fetch_all(owner: str, files: Mapping[str, Path], context: Context, *, again: bool) -> None:
    """Fetch each address to its path; with `again` also those that are here.

    What a server does not have is left out. Raises UserError for one that cannot be asked.
    """
    missing = {address: path for address, path in files.items() if again or not path.exists()}
    if not missing:
        return
    with (
        context.progress("Fetching files", len(missing)) as advance,
        ThreadPoolExecutor(CONNECTIONS) as pool,
    ):
        jobs = [pool.submit(_fetch, owner, *item) for item in missing.items()]
        try:
            for job in jobs:
                job.result()
                advance(1)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _fetch(owner: str, address: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{os.getpid()}-{get_ident()}-{digest(path.name)[:8]}")
    try:
        with _one_line(owner, address):
            system, name = _system(owner, address)
            with suppress(FileNotFoundError):
                system.get_file(name, str(draft))
                draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _system(owner: str, address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise _not_installed(owner, address, error) from error
    if "@" in urlsplit(address).netloc and urlsplit(address).scheme in ("http", "https", "ftp"):
        raise UserError(
            f"{owner}: a name or password in an address",
            expected="credentials in the environment, not in what reports and logs show",
        )
    try:
        system, path = url_to_fs(address)
    except ImportError as error:
        raise _not_installed(owner, address, error) from error
    return system, path


def _not_installed(owner: str, address: str, error: Exception) -> UserError:
    scheme = urlsplit(address).scheme
    return UserError(
        f"{owner}: {scheme}:// needs another package",
        got=str(error),
        remedy=f"pip install 'cuescope-folder[{EXTRAS.get(scheme, 'remote')}]'",
    )


@contextmanager
def _one_line(owner: str, address: str) -> Iterator[None]:
    """Raise UserError for whatever the libraries raise, each its own kind."""
    shown = address.partition("?")[0]
    try:
        yield
    except UserError:
        raise
    except FileNotFoundError as error:
        raise UserError(f"{owner}: there is nothing at {shown}") from error
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split()).replace(address, shown)
        raise UserError(
            f"{owner}: cannot read {shown}",
            got=words[:200],
            remedy="Check the address, the network, and the credentials in the environment",
        ) from error
