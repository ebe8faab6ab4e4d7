"""The annotation files of Charades and Charades-STA, checked line by line."""

import re
from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile, parse_timed_actions

Timed = tuple[str, float, float]
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


def read_moments(file: TextFile) -> dict[str, list[Timed]]:
    """(sentence, start, end) by video: "AO8RW 0.0 6.9##a person is putting a book on a shelf."."""
    moments: dict[str, list[Timed]] = {}
    for location, line in file.lines():
        fields = _MOMENT.fullmatch(line)
        if fields is None:
            raise UserError(
                location,
                expected="'VIDEO START END##sentence'",
                got=f"'{line[:60]}'",
            )
        video, start, end, sentence = fields.groups()
        # a video has several sentences
        moments.setdefault(video, []).append((sentence, float(start), float(end)))
    return moments


def read_videos(
    table: TextFile, classes: Mapping[str, str]
) -> dict[str, dict[str, object]]:
    """What Charades knows of each video by id, as a sample's annotations.

    Raises UserError for an action that is no triplet.
    """
    videos: dict[str, dict[str, object]] = {}
    for row in table.csv_rows(VideoRow):
        actions = parse_timed_actions(
            row.actions, classes, f"{table.name} video {row.id}"
        )
        videos[row.id] = {
            "timed_actions": sort_by_start(actions),
            "duration": row.length,
            "scene": row.scene,
            "objects": _parts(row.objects),
            "script": row.script,
            "descriptions": _parts(row.descriptions),
        }
    return videos


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(";") if part.strip())


def sort_by_start(timed: Iterable[Timed]) -> tuple[Timed, ...]:
    """The files have them as they came."""
    return tuple(sorted(timed, key=lambda entry: entry[1:]))
