"""Videos by name, wherever they lie under a folder."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cuescope_sdk import Context, UserError, nearest
from cuescope_sdk.data._media import Probe, kind_of, probe_all


def open_videos(
    root: Path, names: Mapping[str, Sequence[str]], context: Context, title: str
) -> tuple[dict[str, tuple[Path, Probe]], dict[str, str]]:
    """The videos under `root` that can be decoded, and what is wrong with each of the others."""
    files = find_videos(root, names, title)
    probes = probe_all(files.values(), context)
    good, problems = {}, {}
    for video in names:
        file = files.get(video)
        if file is None:
            problems[video] = "missing"
        elif problem := probes[file].problem:
            problems[video] = f"unreadable: {problem}"
        else:
            good[video] = (file, probes[file])
    return good, problems


def find_videos(root: Path, names: Mapping[str, Sequence[str]], title: str) -> dict[str, Path]:
    """The file of each video that is there: one whose name without suffix is among its `names`.

    Raises UserError where there is no such folder, and where two files bear such a name: which one
    is meant cannot be known.
    """
    if not root.is_dir():
        beside = [path.name for path in root.parent.iterdir()] if root.parent.is_dir() else []
        raise UserError(
            f"{title}: no such folder",
            expected="a folder of videos",
            got=f"'{root}'",
            remedy=nearest(root.name, beside),
        )
    videos = {name: video for video, known in names.items() for name in known}
    found: dict[str, Path] = {}
    for path in _files(root):
        video = videos.get(path.stem)
        if video is None:
            continue
        if video in found:
            raise UserError(
                f"{title}: two files of video '{video}'",
                expected="one",
                got=f"{found[video].relative_to(root)} and {path.relative_to(root)}",
                remedy="Choose a folder with -D videos=FOLDER",
            )
        found[video] = path
    return found


def _files(root: Path) -> Iterator[Path]:
    """Videos and animations under `root`, links followed, hidden ones passed over, in order."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)  # a link may lead back up
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = _shown(folders)
        paths = (Path(folder, name) for name in _shown(files))
        yield from (path for path in paths if kind_of(path) in ("video", "animation"))


def _shown(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith("."))
