"""What the name of a file says: its kind, and how it is told in words."""

from pathlib import PurePath
from typing import Literal

Kind = Literal["image", "animation", "video"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".avif"), "image"),
    **dict.fromkeys((".tif", ".tiff", ".ppm", ".pgm"), "image"),
    **dict.fromkeys((".mp4", ".m4v", ".mov", ".3gp", ".mkv", ".webm"), "video"),
    **dict.fromkeys((".avi", ".mpg", ".mpeg", ".wmv", ".flv", ".ogv"), "video"),
    ".gif": "animation",
}


def kind_of(path: PurePath) -> Kind | None:
    """The kind of file that the suffix promises, None where it is neither image nor video."""
    return _KINDS.get(path.suffix.lower())


def printable_name(text: str) -> str:
    """`text` with an escape for each part of a file name that is no Unicode."""
    return text.encode("utf-8", "backslashreplace").decode()
