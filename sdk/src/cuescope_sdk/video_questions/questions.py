"""A question before its video is opened, and what is said of those that cannot be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from cuescope_sdk import BadDataError

_NAMED = 3


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
    by_problem: dict[str, list[str]] = {}
    for video, problem in problems.items():
        by_problem.setdefault(problem, []).append(video)
    return "; ".join(
        f"{counted(len(videos), 'video')} {problem} ({_some(videos)})"
        for problem, videos in by_problem.items()
    )


def judge(
    title: str, out: int, total: int, max_missing: float, problems: Mapping[str, str], place: str
) -> None:
    """Raise BadDataError where more than `max_missing` of the questions are left out, or all."""
    if out <= max_missing * total and out < total:
        return
    mend = f"Videos are looked for in {place} and all folders below (-D videos=FOLDER)"
    if out < total:
        mend += f", or accept it with -D max_missing={ceil(100 * out / total) / 100}"
    raise BadDataError(
        f"{title}: {out:,} of {total:,} questions cannot be shown",
        expected=f"at most {max_missing:.0%}",
        got=told(problems),
        remedy=mend,
    )


def counted(count: int, thing: str) -> str:
    """ "1 video", "1,000 videos"."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
