"""Files by names that are written in another way: composed letters, case, a tool's paths."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from cuescope_folder.layout import is_note

# how Label Studio names what was uploaded, and what lies on its server's disk
UPLOADS = "/data/upload/"
LOCAL_FILES = "/data/local-files/?d="


def same_letters(name: str) -> str:
    """The name as it looks: composed (macOS decomposes), without case and outer blanks."""
    return unicodedata.normalize("NFC", name).casefold().strip()


def as_written(cell: str) -> str:
    """The path that a cell means: with slashes, without what a labelling tool puts around it."""
    text = cell.strip()
    for start in (UPLOADS, LOCAL_FILES):
        if start in text:
            below = unquote(text.partition(start)[2])
            # the number of the project, which no folder on this machine has
            return below.partition("/")[2] or below if start == UPLOADS else below
    return text.replace("\\", "/")


class Names:
    """The pictures of a folder, found by whatever part of their path somebody wrote."""

    def __init__(self, root: Path, files: Sequence[PurePosixPath]) -> None:
        self.root = root
        self.files = files
        self._by_name: dict[str, list[PurePosixPath]] = defaultdict(list)
        self._by_stem: dict[str, list[PurePosixPath]] = defaultdict(list)
        for file in files:
            self._by_name[same_letters(file.name)].append(file)
            self._by_stem[same_letters(file.stem)].append(file)

    def like(self, path: PurePosixPath) -> list[PurePosixPath]:
        """The files whose path looks the same, or the same but for a suffix that was left out."""
        name = same_letters(path.name)
        folders = _letters(path.parent)
        for there in (self._by_name.get(name, ()), self._by_stem.get(name, ())):
            files = [file for file in there if _letters(file.parent) == folders]
            if files:
                return files
        return []

    def find(self, cell: str, beside: str | Path = "") -> Path | None:
        """The one file that is meant; None where there is none, or several.

        Of several of one name it is the one in the folder `beside`, or whose path ends as written.
        """
        written = PurePosixPath(as_written(cell))
        there = self._by_name.get(same_letters(written.name)) or self._by_stem.get(
            same_letters(written.name), []
        )
        for wanted in (
            _ends_with(there, written),
            _in_folder(there, self.root, beside),
            # a mask has the name of its picture
            [file for file in there if not any(map(is_note, file.parts[:-1]))],
        ):
            if len(there) > 1 and len(wanted) == 1:
                there = wanted
        return self.root / there[0] if len(there) == 1 else None


def _letters(path: PurePosixPath) -> list[str]:
    return [same_letters(part) for part in path.parts]


def _ends_with(
    files: Iterable[PurePosixPath], end: PurePosixPath
) -> list[PurePosixPath]:
    parts = [same_letters(part) for part in end.parts if part not in ("/", ".", "..")]
    return [file for file in files if _letters(file)[-len(parts) :] == parts]


def _in_folder(
    files: Iterable[PurePosixPath], root: Path, beside: str | Path
) -> list[PurePosixPath]:
    if isinstance(beside, Path):
        return [file for file in files if (root / file).parent == beside]
    return [file for file in files if beside in file.parts]
