"""A question before its video is opened, and what is said of those that cannot be shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cuescope_sdk.media import left_out


@dataclass(frozen=True, slots=True)
class Question:
    """A sample to be: what is asked of which video. `text` None shows the video alone."""

    key: str
    video: str
    text: str | None = None
    choices: tuple[str, ...] = ()
    label: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)


def told(problems: Mapping[str, str]) -> str:
    """Videos by problem, in words: "3 videos missing (a, b, c); 1 video with no frames (d)"."""
    return left_out.told(problems, "video")


def judge(
    title: str, out: int, total: int, max_missing: float, problems: Mapping[str, str], place: str
) -> None:
    """Raise BadDataError where more than `max_missing` of the questions are left out, or all."""
    left_out.judge(
        f"{title}: {out:,} of {total:,} questions cannot be shown", out, total, max_missing,
        got=told(problems),
        remedy=f"Videos are looked for in {place} and all folders below (-D videos=FOLDER)",
    )  # fmt: skip
