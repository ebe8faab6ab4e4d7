"""Files at addresses (s3://, gs://, https:// ...): read by fsspec, kept once they were fetched.

Credentials, endpoints and proxies are those of the libraries underneath: environment variables and
files such as AWS_PROFILE, AWS_ENDPOINT_URL, GOOGLE_APPLICATION_CREDENTIALS or FSSPEC_S3_ANON.

What a person typed is read as it is. What data names goes through `Roots.require` first, and the
host of an address of the web is checked again where it is connected to.
"""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from cuescope_folder.roots import WEB, Roots, is_plain_name, looks_like_address
from cuescope_sdk import Context, UserError, digest, how_to_install
from cuescope_sdk.data import Draft, printable_name

OWNER = "folder"  # that errors name, where it is no other
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+)://\S+", re.IGNORECASE)
DEEPEST = 16  # folders in each other at an address: a server may list them without end
EXTRAS = {"s3": "s3", "gs": "gcs", "gcs": "gcs"}  # of cuescope-folder


def is_address(text: str) -> bool:
    """Whether it is a URL, and no path of this machine."""
    return _ADDRESS.fullmatch(text) is not None


def name_at(address: str) -> str:
    """ "bucket/photos/1.jpg": an address without scheme and secrets, as a relative path."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2].replace(":", "-")
    steps = [host, *parts.path.split("/")]
    name = printable_name(
        "/".join(step for step in steps if step not in ("", ".", ".."))
    )
    if not parts.query:
        return name
    stem, dot, suffix = name.rpartition(".")
    # it may hold a signature, and may tell two files apart
    mark = digest(parts.query)[:8]
    if dot and "/" not in suffix:
        return f"{stem}-{mark}.{suffix}"
    return f"{name}-{mark}"


def address_below(base: str, name: str) -> str:
    """The address of a relative path below that of a folder; an address stays as it is."""
    if is_address(name):
        return name
    return f"{base.rstrip('/')}/{name.removeprefix('./')}"


def cell_address(base: str, cell: str, roots: Roots, where: str) -> str:
    """The address that a cell of a table at `base` names; one that is not below a root is refused.

    Raises UserError, which begins with `where`.
    """
    if looks_like_address(cell):
        roots.require(cell, where)
        return cell
    if not is_plain_name(cell):
        raise UserError(
            f"{where} leads out of its folder",
            expected=f"a path below {base.partition('?')[0]}",
            got=f"'{cell:.80}'",
        )
    return address_below(base, cell)


@contextmanager
def open_address(
    address: str,
    roots: Roots,
    owner: str = OWNER,
) -> Iterator[BinaryIO]:
    """The file at an address that `roots` let pass; raises UserError where it cannot be read."""
    with _one_line(address, owner):
        system, path = _system(address, roots, owner)
        with system.open(path, "rb") as file:
            yield file


def stamp_of(address: str, roots: Roots) -> str:
    """Digest of what a server says of a typed address: another one where the file has changed."""
    with _one_line(address):
        system, path = _system(address, roots)
        facts = [f"{key}={value}" for key, value in system.info(path).items()]
        return digest(address, sorted(facts))


def list_address(address: str, roots: Roots) -> list[str]:
    """Relative paths of all files below a typed address, in order; those that lead out are not.

    Raises UserError where there are none.
    """
    with _one_line(address):
        system, path = _system(address, roots)
        root = path.rstrip("/") + "/"
        names = []
        for file in map(str, system.find(path, maxdepth=DEEPEST)):
            name = file.removeprefix(root)
            if name != file and is_plain_name(name):
                names.append(name)
    if not names:
        raise UserError(f"folder: there are no files at {address}")
    return sorted(names)


def fetch_all(files: Mapping[str, Path], context: Context, roots: Roots) -> None:
    """Fetch each address to its path, unless it is here.

    Of the web only hosts of `roots` are asked. What a server does not have is left out. Raises
    UserError for one that cannot be asked.
    """
    missing = {a: path for a, path in files.items() if not path.exists()}
    if not missing:
        return
    with (
        context.progress("Fetching files", len(missing)) as advance,
        ThreadPoolExecutor() as pool,
    ):
        jobs = [
            pool.submit(_fetch, address, path, roots)
            for address, path in missing.items()
        ]
        try:
            for job in jobs:
                job.result()
                advance(1)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _fetch(address: str, path: Path, roots: Roots) -> None:
    with _one_line(address):
        system, name = _system(address, roots)
        with suppress(FileNotFoundError), Draft(path) as draft:
            system.get_file(name, str(draft.path))


def _system(address: str, roots: Roots, owner: str = OWNER) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    scheme = urlsplit(address).scheme
    if "@" in urlsplit(address).netloc and scheme in (*WEB, "ftp"):
        raise UserError(
            f"{owner}: a name or password in an address",
            expected="credentials in the environment, not in what reports and logs show",
        )
    try:
        if scheme in WEB:
            from cuescope_folder.web import web_system

            return web_system(roots), address
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except ImportError as error:
        raise UserError(
            f"{owner}: {scheme}:// needs another package",
            got=str(error),
            remedy=how_to_install(f"cuescope-folder[{EXTRAS.get(scheme, 'remote')}]"),
        ) from error
    return system, path


@contextmanager
def _one_line(address: str, owner: str = OWNER) -> Iterator[None]:
    """Raise UserError for whatever the libraries raise, each its own kind."""
    shown = address.partition("?")[0]
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        refused = _refused_host(error)
        if refused is not None:
            raise UserError(
                f"{owner}: {shown} may not be read",
                got=refused,
                remedy="If you trust it, add it: -O data.roots=https://HOST",
            ) from error
        if isinstance(error, FileNotFoundError):
            raise UserError(f"{owner}: there is nothing at {shown}") from error
        words = " ".join(f"{type(error).__name__}: {error}".split()).replace(
            address, shown
        )
        raise UserError(
            f"{owner}: cannot read {shown}",
            got=words[:200],
            remedy="Check the address, the network, and the credentials in the environment",
        ) from error


def _refused_host(error: BaseException | None) -> str | None:
    """What a connection was refused for; fsspec may have called it a file that is not found."""
    while error is not None:
        # its module needs packages of an extra
        if type(error).__name__ == "RefusedHostError":
            return str(error)
        error = error.__cause__
    return None
