"""The annotation files of Charades and Charades-STA, checked line by line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from cuescope_sdk import UserError
from cuescope_sdk.data import Timed, parse_timed_actions, read_csv, read_lines, split_cell

# Some lines have spaces around ##; times may be whole seconds.
_MOMENT = re.compile(r"(\S+)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s*##\s*(\S.*)")


class VideoRow(BaseModel):
    """A row of `Charades_v1_{split}.csv`: lists with semicolons, `length` in seconds."""

    id: str
    scene: str
    script: str
    objects: str
    descriptions: str
    actions: str
    length: float


@dataclass(frozen=True, slots=True)
class Video:
    """What Charades knows of a video; `actions` are (name, start, end) in seconds."""

    length: float
    scene: str
    script: str
    objects: tuple[str, ...]
    descriptions: tuple[str, ...]
    actions: tuple[Timed, ...]


def read_moments(path: Path, title: str) -> dict[str, list[Timed]]:
    """(sentence, start, end) by video: "AO8RW 0.0 6.9##a person is putting a book on a shelf."."""
    moments: dict[str, list[Timed]] = {}
    for location, line in read_lines(path, title):
        fields = _MOMENT.fullmatch(line)
        if fields is None:
            raise UserError(location, expected="'VIDEO START END##sentence'", got=f"'{line[:60]}'")
        video, start, end, sentence = fields.groups()
        # a video has several sentences
        moments.setdefault(video, []).append((sentence, float(start), float(end)))
    return moments


def read_videos(path: Path, classes: Mapping[str, str], title: str) -> dict[str, Video]:
    """The videos of a Charades table by id; raises UserError for an action that is no triplet."""
    return {
        row.id: Video(
            length=row.length,
            scene=row.scene,
            script=row.script,
            objects=split_cell(row.objects),
            descriptions=split_cell(row.descriptions),
            actions=parse_timed_actions(
                row.actions, classes, f"{title}: {path.name} video {row.id}"
            ),
        )
        for row in read_csv(path, VideoRow, title)
    }
