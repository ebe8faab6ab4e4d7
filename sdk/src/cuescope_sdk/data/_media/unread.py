"""Files that are passed over, each counted: by suffix, with the reason."""

import os
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path, PurePath

from PIL import Image

from cuescope_core.printable import printable
from cuescope_sdk.data._media.files import kind_of, printable_name, unknown_suffix
from cuescope_sdk.data._media.images import image_formats

_KINDS_NAMED = 8
_LETTERS = 16  # of a suffix
# what authors lay beside their images: a data set has read what it needs of it
_NOTES = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".txt",
    ".md",
    ".xml",
    ".mat",
    ".npy",
    ".yaml",
)


class Unread:
    """How many files are not read, by what they are and why."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def passes_over(self, path: Path) -> bool:
        """True if this file is no image or video; it is counted then."""
        reason = why_unread(path)
        if reason is not None:
            self.add(_suffix_words(path), reason)
        return reason is not None

    def add(self, thing: str, reason: str = "", count: int = 1) -> None:
        """Count files that are left out for another reason."""
        self._counts[thing, reason] += count

    def take(self, others: "Unread") -> None:
        """Count those of another one too."""
        self._counts += others._counts

    def forget(self, suffixes: Collection[str]) -> None:
        """Count files of these suffixes no longer: they were read after all."""
        for thing, reason in list(self._counts):
            if thing in suffixes:
                del self._counts[thing, reason]

    def in_words(self) -> str:
        """ "3 .heic (pip install ...), 2 without suffix (no image), 1 damaged"; "" of none."""
        words = []
        others = 0
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        for place, ((thing, reason), count) in enumerate(ordered):
            if place < _KINDS_NAMED:
                words.append(
                    f"{count:,} {thing} ({reason})" if reason else f"{count:,} {thing}"
                )
            else:
                others += count
        if others:
            words.append(f"{others:,} of {len(ordered) - _KINDS_NAMED} other kinds")
        return ", ".join(words)


def unread_beside(shown: Iterable[Path]) -> Unread:
    """Files in the folders of these that are neither image nor video."""
    unread = Unread()
    for folder in sorted({path.parent for path in shown}):
        try:
            entries = [entry for entry in os.scandir(folder) if not entry.is_dir()]
        except OSError:  # the files are missing, and said to be
            continue
        for entry in entries:
            if entry.name.startswith("."):
                unread.add("hidden")
            elif PurePath(entry.name).suffix.lower() in _NOTES:
                continue
            elif kind_of(PurePath(entry.name)) is None:
                unread.passes_over(Path(entry.path))
    return unread


def why_unread(path: Path) -> str | None:
    """Why a file is not read: its suffix, or without one its content; None where it is."""
    if kind_of(path) is None:
        return unknown_suffix(path).partition(" needs ")[2] or "no image or video"
    if path.suffix or _is_image(path):
        return None
    return "no image by their content"


def _suffix_words(path: PurePath) -> str:
    suffix = path.suffix.lower()
    return (
        printable(printable_name(suffix[:_LETTERS]))
        if len(suffix) > 1
        else "without suffix"
    )


def _is_image(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with Image.open(path, formats=image_formats()):
            return True
    except Exception:  # decoders meet strangers' bytes, and raise anything at all
        return False
