"""The authors' tables, and the names that the usual copies give to files and folders."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

from pydantic import BaseModel, Field, FiniteFloat

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import MediaFolder, TextFile, kind_of

# of CVDF's copy, and of the authors' own archives
SPELLINGS = {
    "train": ("train",),
    "val": ("val", "validate", "validation"),
    "test": ("test",),
}
TABLES = (
    *("{}.csv", "annotations/{}.csv", "kinetics_{}.csv", "kinetics400/{}.csv"),
    *("kinetics400_{}.csv", "kinetics600_{}.csv", "kinetics700_{}.csv"),
    *("k400_{}.csv", "k600_{}.csv", "k700_{}.csv"),
)
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


def table_names(split: str) -> list[str]:
    """What the table of a split may be called, the likeliest first."""
    return [
        table.format(spelling) for table, spelling in product(TABLES, SPELLINGS[split])
    ]


def clips_in_table(table: TextFile) -> list[Clip]:
    """The clips of a table; raises UserError for a row without a label or of no length."""
    clips = []
    for number, row in enumerate(table.csv_rows(ClipRow), start=1):
        # after the CSV is read: some labels are quoted within their cell
        label = row.label.strip().strip('"')
        location = f"{table.name} row {number}, {row.youtube_id}"
        if not label:
            raise UserError(
                location,
                expected="the label of the clip",
                got="none",
                remedy="The authors' test.csv has no labels: take CVDF's",
            )
        if row.time_end <= row.time_start:
            raise UserError(
                location,
                expected="time_end after time_start",
                got=f"{row.time_start:g} to {row.time_end:g} seconds",
            )
        # files are named by whole seconds in six digits
        name = f"{row.youtube_id}_{int(row.time_start):06d}_{int(row.time_end):06d}"
        clips.append(Clip(name, row.youtube_id, label, row.time_start, row.time_end))
    return clips


def clips_in_folders(root: Path, videos: Path, split: str, title: str) -> list[Clip]:
    """The clips of SPLIT/CLASS/FILE; raises UserError where there is no table and no such folder.

    Underscores in a class's folder stand for spaces.
    """
    spellings = SPELLINGS[split]
    # shrunken copies have their size in the folder's name
    for spelling, size in product(spellings, ("", "_256", "256", "_320")):
        classes = MediaFolder(videos / f"{spelling}{size}").folders()
        clips = list(chain.from_iterable(map(_clips_of, classes)))
        if clips:
            return clips
    expected = (
        f"{spellings[0]}.csv in {root}, or {spellings[0]}/CLASS/FILE.mp4 in {videos}"
    )
    if root.is_dir():
        raise UserError(f"{title}: no table of split {split}", expected=expected)
    raise UserError(
        f"{title}: no such folder",
        expected=expected,
        got=f"'{root}'",
        remedy=nearest(root.name, _beside(root)),
    )


def _beside(root: Path) -> list[str]:
    return [path.name for path in root.parent.glob("*")]


def _clips_of(folder: Path) -> Iterator[Clip]:
    label = " ".join(folder.name.replace("_", " ").split())
    for file in sorted(folder.iterdir()):
        if kind_of(file) != "video":
            continue
        match = NUMBERED.fullmatch(file.stem)
        if match is None:
            # the name without times is all that is known of the upload
            yield Clip(file.stem, file.stem, label)
        else:
            start = float(match["start"])
            end = float(match["end"])
            yield Clip(file.stem, match["id"], label, start, end)
