"""A question before its video is opened, and what is said of those that cannot be shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cuescope_sdk.data._media.left_out import describe_problems, require_enough


@dataclass(frozen=True, slots=True)
class Question:
    """A sample to be: what is asked of which video. `text` None shows the video alone."""

    key: str
    video: str
    text: str | None = None
    choices: tuple[str, ...] = ()
    label: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)


def describe_video_problems(problems: Mapping[str, str]) -> str:
    """Videos by problem, in words: "3 videos missing (a, b, c); 1 video with no frames (d)"."""
    return describe_problems(problems, "video")


def require_enough_questions(
    title: str, out: int, total: int, max_missing: float, problems: Mapping[str, str], place: str
) -> None:
    """Raise BadDataError where more than `max_missing` of the questions are left out, or all."""
    require_enough(
        f"{title}: {out:,} of {total:,} questions cannot be shown",
        out,
        total,
        max_missing,
        got=describe_video_problems(problems),
        remedy=f"Videos are looked for in {place} and all folders below (-D videos=FOLDER)",
    )
