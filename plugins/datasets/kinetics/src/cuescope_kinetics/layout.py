"""The authors' tables, and the names that the usual copies give to files and folders."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, FiniteFloat

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import first_place, folders_in, kind_of, read_csv

# of CVDF's copy, and of the authors' own archives
SPELLINGS = {"train": ("train",), "val": ("val", "validate", "validation"), "test": ("test",)}
TABLES = ("{}.csv", "annotations/{}.csv", "kinetics_{}.csv", "kinetics400/{}.csv")
SIZES = ("kinetics400", "kinetics600", "kinetics700", "k400", "k600", "k700")
NUMBERED = re.compile(r"(?P<id>.+)_(?P<start>\d{6})_(?P<end>\d{6})")


class ClipRow(BaseModel):
    """A row of the authors' table; the test set of their own archive has no labels."""

    youtube_id: str = Field(min_length=1)
    time_start: FiniteFloat = Field(ge=0)
    time_end: FiniteFloat = Field(ge=0)
    label: str = ""


@dataclass(frozen=True)
class Clip:
    """A clip: `name` is that of its file, `start` and `end` seconds of the upload, if known."""

    name: str
    youtube_id: str
    label: str
    start: float | None = None
    end: float | None = None


def find_table(root: Path, split: str) -> Path | None:
    """The table of a split under `root`; None where there is none."""
    names = [table.format(s) for table in TABLES for s in SPELLINGS[split]]
    names += [f"{size}_{s}.csv" for size in SIZES for s in SPELLINGS[split]]
    return first_place(root, *names)


def clips_in_table(table: Path, title: str) -> list[Clip]:
    """The clips of a table; raises UserError for a row without a label or of no length."""
    clips = []
    for number, row in enumerate(read_csv(table, ClipRow, title), start=1):
        label = row.label.strip().strip('"')
        if not label or row.time_end <= row.time_start:
            raise UserError(
                f"{title}: {table.name} row {number}, {row.youtube_id}",
                expected="the label of the clip" if not label else "time_end after time_start",
                got="none" if not label else f"{row.time_start:g} to {row.time_end:g} seconds",
                remedy="The authors' test.csv has no labels: take CVDF's" if not label else None,
            )
        name = f"{row.youtube_id}_{int(row.time_start):06d}_{int(row.time_end):06d}"
        clips.append(Clip(name, row.youtube_id, label, row.time_start, row.time_end))
    return clips


def clips_in_folders(root: Path, videos: Path, split: str, title: str) -> list[Clip]:
    """The clips of SPLIT/CLASS/FILE; raises UserError where there is no table and no such folder.

    Underscores in a class's folder stand for spaces.
    """
    spellings = SPELLINGS[split]
    named = [name for s in spellings for name in (s, f"{s}_256", f"{s}256", f"{s}_320")]
    for name in named:
        clips = [clip for of_class in folders_in(videos / name) for clip in _clips_of(of_class)]
        if clips:
            return clips
    raise UserError(
        f"{title}: no table of split {split}" if root.is_dir() else f"{title}: no such folder",
        expected=f"{spellings[0]}.csv in {root}, or {spellings[0]}/CLASS/FILE.mp4 in {videos}",
        got=None if root.is_dir() else f"'{root}'",
        remedy=None if root.is_dir() else nearest(root.name, _beside(root)),
    )


def _beside(root: Path) -> list[str]:
    return [path.name for path in root.parent.iterdir()] if root.parent.is_dir() else []


def _clips_of(folder: Path) -> Iterator[Clip]:
    label = " ".join(folder.name.replace("_", " ").split())
    for file in sorted(folder.iterdir()):
        if kind_of(file) != "video":
            continue
        match = NUMBERED.fullmatch(file.stem)
        if match is None:
            yield Clip(file.stem, file.stem, label)
        else:
            start, end = float(match["start"]), float(match["end"])
            yield Clip(file.stem, match["id"], label, start, end)
