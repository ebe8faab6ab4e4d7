"""Metadata of installed packages, read without trust: damage costs its own plugins only.

`importlib.metadata` reads a file of any size, and one bad line of it hides the whole package.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from functools import lru_cache
from importlib.metadata import Distribution
from pathlib import Path

from cuescope_core.atomic_files import read_whole
from cuescope_core.errors import UserError
from cuescope_core.printable import printable

GROUP_PREFIX = "cuescope."
# of entry points, and of a package's description; both have a few kilobytes
MAX_BYTES = 2**20
MAX_POINTS = 300  # plugins of one package
MAX_SUMMARY = 200  # characters
UNKNOWN = "unknown"
# as PEP 508 has it
_DIST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,60}")
# "plugins check" is a command
_POINT_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*( [\w.-]+)*")
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\s*:\s*[^\W\d]\w*")
MAX_NAME = 100  # characters


class DamagedPackageError(Exception):
    """A package's files cannot be read as what they are; the message says why."""


@dataclass(frozen=True)
class Point:
    """An entry point; `fault` says why it can be none."""

    group: str
    name: str
    target: str
    fault: str | None


@dataclass(frozen=True)
class Package:
    """A package with entry points of ours; `fault` says what of its description is missing."""

    name: str
    version: str
    summary: str
    requires: tuple[str, ...]
    points: tuple[Point, ...]
    fault: str | None


def read_package(dist: Distribution) -> Package | None:
    """The package, None for one without entry points of ours; raises DamagedPackageError."""
    content = _read(dist, "entry_points.txt")
    # hundreds of packages, and parsing them all would cost a tenth of a second
    if f"[{GROUP_PREFIX}" not in content:
        return None
    # the readme follows after the first empty line
    header = _read(dist, "METADATA", "PKG-INFO").partition("\n\n")[0]
    return _parse(content, header, place_of(dist))


# files are looked at each time, but seldom change while a program runs that asks often
@lru_cache(maxsize=1000)
def _parse(content: str, header: str, place: str) -> Package:
    points = tuple(_points(content))
    if len(points) > MAX_POINTS:
        raise DamagedPackageError(
            f"it has {len(points):,} plugins, at most {MAX_POINTS} are read"
        )
    fields = message_from_string(header)
    name = str(fields["Name"] or "")
    version = str(fields["Version"] or "")
    faults = []
    if not _DIST_NAME.fullmatch(name):
        faults.append("its METADATA has no Name that a package can have")
        name = place
    if not _VERSION.fullmatch(version):
        faults.append("its METADATA has no Version")
        version = UNKNOWN
    summary = " ".join(" ".join(map(str, fields.get_all("Summary", []))).split())
    return Package(
        name=name,
        version=version,
        # a terminal and a help page obey what is in it
        summary=printable(summary[:MAX_SUMMARY]),
        requires=tuple(map(str, fields.get_all("Requires-Dist", []))),
        points=points,
        fault="; ".join(faults) or None,
    )


def place_of(dist: Distribution) -> str:
    """The name of a package without one: its folder, in letters that no shell obeys."""
    folder = getattr(dist, "_path", None)
    name = Path(str(folder)).name if folder is not None else ""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-")[:MAX_NAME] or UNKNOWN


def _points(content: str) -> Iterator[Point]:
    """Our entry points of the file's text; a line that is none is a point with a fault.

    Raises DamagedPackageError for a damaged name of a group.
    """
    group = ""
    for line in content.splitlines():
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if text[0] == "[":
            if text[-1] != "]":  # what follows is of nobody knows which group
                raise DamagedPackageError(
                    f"entry_points.txt: the line {_quote(text)} has no ]"
                )
            group = text[1:-1].strip()
        elif group.startswith(GROUP_PREFIX):
            name, _, target = (part.strip() for part in text.partition("="))
            # terminals obey some characters
            shown = re.sub(r"[^\w. -]", "?", name)[:MAX_NAME]
            yield Point(group, shown, target[:MAX_NAME], _fault_of(name, target))


def _fault_of(name: str, target: str) -> str | None:
    if len(name) > MAX_NAME or not _POINT_NAME.fullmatch(name):
        return f"{_quote(name)} is no name: expected letters, digits, - and _"
    if len(target) > MAX_NAME or not _TARGET.fullmatch(target):
        return f"it is to be found at {_quote(target)}: expected MODULE:NAME"
    return None


def _quote(text: str) -> str:
    return repr(text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}...")


def _read(dist: Distribution, *names: str) -> str:
    """The first of these files that is there, "" where none is; what is no text is replaced."""
    # not public, but as old as importlib.metadata
    folder = getattr(dist, "_path", None)
    for name in names:
        if not isinstance(folder, Path):  # in a zip file, or of another finder
            content = dist.read_text(name)
        else:
            content = _read_file(folder / name)
        if content is not None:
            return content
    return ""


def _read_file(path: Path) -> str | None:
    try:
        facts = path.stat()
        return _content(path, facts.st_mtime_ns, facts.st_size, facts.st_ino)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UserError as error:
        raise DamagedPackageError(str(error)) from error
    except OSError as error:
        raise DamagedPackageError(f"{path.name}: {error.strerror}") from error


# of hundreds of packages, by what changes with a file: to open and read one takes ten times as long
@lru_cache(maxsize=1000)
def _content(path: Path, changed: int, size: int, number: int) -> str:
    return read_whole(path, most=MAX_BYTES).decode(errors="replace")
