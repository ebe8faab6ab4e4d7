"""What a folder holds, before any file is opened: items, splits, and the border of the folder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIXES_OF_MANIFESTS = (".csv", ".tsv", ".jsonl", ".parquet")
_ALIASES = {
    "training": "train",
    "validation": "val",
    "valid": "val",
    "dev": "val",
    "testing": "test",
}
SPLITS = frozenset({"train", "val", "test", *_ALIASES})


@dataclass(frozen=True, slots=True)
class Item:
    """One sample to be: a file, or with `folder` the frames of a folder in natural order.

    `key` is the path inside the data set, `mask` an image of the foreground; `actions` are (name,
    start, end) in seconds; `choices` are its own, if it has any; `place` says where the item was
    named ("manifest.csv line 4").
    """

    key: str
    files: tuple[Path, ...]
    label: str | None
    choices: tuple[str, ...] = ()
    mask: Path | None = None
    folder: bool = False
    split: str | None = None
    question: str | None = None
    actions: tuple[tuple[str, float, float], ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""


def canonical_split(name: str) -> str:
    """ "validation", "valid" and "dev" are "val", and so on; other names stay."""
    return _ALIASES.get(name.lower(), name.lower() if name.lower() in SPLITS else name)


def natural(text: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Sort key that counts: "frame2" comes before "frame10"."""
    parts = re.split(r"(\d+)", text.lower())  # text and numbers take turns
    numbered = tuple((int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts))
    return numbered, text


def is_inside(root: Path, path: Path) -> bool:
    """Whether `path`, with every link followed, lies in the resolved folder `root`."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # a loop of links; a name no file can have
        return False
