"""Paths that arrive in data: each stays inside the folder that a person typed."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PureWindowsPath

from cuescope_core.errors import UserError
from cuescope_core.printable import whole_text

REMEDY = "Copy what it names into that folder, or give the folder that holds both"
ELSEWHERE = "Delete it, or name another place: --out"
ANOTHER_CACHE = "Delete it, or set CUESCOPE_CACHE to another folder"
_SHOWN = 300  # characters of a name in an error


def inside(root: Path, name: str | Path, where: str = "", remedy: str = REMEDY) -> Path:
    """The file or folder that `name` means in the folder `root`, with every link followed.

    An absolute name may lead into `root`; what is not there yet is no error. Raises UserError,
    which begins with `where`, for a name that leads out of `root` (`remedy` says what to do then),
    and for a pipe or device.
    """
    shown = _printable(name)
    head = where or f"'{shown}'"
    real_root = root.resolve()
    # Elsewhere "C:\\clips\\a.mp4" is one odd file name, and would be called missing.
    is_foreign = not Path(name).is_absolute() and bool(PureWindowsPath(name).drive)
    try:
        path = (real_root / name).resolve()
        # a loop of links has no end; Python 3.13 gives back the link itself
        is_loop = os.path.islink(path)  # noqa: PTH114 - never raises
        is_within = path.is_relative_to(real_root)
    except (OSError, RuntimeError, ValueError):
        # the same before 3.13; a name no file can have
        is_loop = False
        is_within = False
        path = real_root / str(name).replace("\0", "")
    if is_foreign or is_loop or not is_within:
        raise UserError(
            f"{head} leads out of its folder",
            expected=f"a path inside {root}",
            got=_describe(real_root / name, path, shown),
            remedy=remedy,
        )
    if is_special(path):
        raise UserError(
            f"{head} cannot be read",
            expected="a file or a folder",
            got=f"'{shown}', a pipe or a device",
            remedy=remedy,
        )
    return path


def require_own_place(place: Path, root: Path, remedy: str = ELSEWHERE) -> None:
    """Raise UserError where a place to write into, or anything in it, is a link out of `root`.

    Or a pipe or a device: whoever mailed the folder may have put it there.
    """
    for path in (place, *_odd_entries(place)):
        # `Path.is_symlink` follows nothing
        if path.is_symlink() or is_special(path):
            inside(root, path.absolute(), str(path), remedy)


# each audit of a command asks, and a cache may hold a hundred thousand files
@cache
def require_own_cache(folder: Path) -> None:
    """The same of a cache folder, once in a process: somebody may have mailed all of it."""
    # a person may keep the folder itself behind a link
    require_own_place(folder.resolve(), folder, ANOTHER_CACHE)


def _odd_entries(folder: Path) -> Iterator[Path]:
    """Yield what is neither a file nor a folder, at any depth: links, pipes, devices."""
    folders = [str(folder)]
    while folders:
        # gone, or not for us: whoever writes there hears of it
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)


def is_special(path: Path) -> bool:
    """True if a path is a pipe, a socket or a device, which could be waited for without end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _describe(path: Path, end: Path, shown: str) -> str:
    is_link = "\0" not in shown and end != Path(os.path.normpath(path))
    return f"'{shown}', a link to {_printable(end)}" if is_link else f"'{shown}'"


def _printable(name: str | Path) -> str:
    # a name of a file may be no Unicode
    return whole_text(str(name))[:_SHOWN]
