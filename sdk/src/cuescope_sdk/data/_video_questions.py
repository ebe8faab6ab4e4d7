"""Questions whose videos are found become samples; what is left out is said, or too much."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from cuescope_core.trust.risks import Names
from cuescope_sdk import Context, Options, Sample, UserError, digest, nearest
from cuescope_sdk.data._layouts import Layout
from cuescope_sdk.data._media.files import (
    count_in_words,
    describe_problems,
    kind_of,
    require_distinct,
    require_enough,
)
from cuescope_sdk.data._media.frames import Probe
from cuescope_sdk.data._media.survey import loss_facts, probe_all
from cuescope_sdk.data._own_files import require_inside


@dataclass(frozen=True, slots=True)
class Question:
    """A sample to be: what is asked of which video. `text` None shows the video alone.

    `group` is what the video was cut from, None where that is the video itself.
    """

    key: str
    video: str
    text: str | None = None
    choices: tuple[str, ...] = ()
    label: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    group: str | None = None


# ---------------------------------------------------------------------------------------- charades


Timed = tuple[str, float, float]
_ACTION = re.compile(r"(\S+)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)")


def parse_timed_actions(
    text: str,
    classes: Mapping[str, str],
    location: str,
) -> tuple[Timed, ...]:
    """(name, start, end) in seconds of each action in "c092 11.90 21.20;c147 0.00 12.60".

    Raises UserError at `location` for one that is no such triplet, or of no class.
    """
    return tuple(_parse_action(part, classes, location) for part in split_cell(text))


def split_cell(text: str) -> tuple[str, ...]:
    """The parts of a cell, which stand apart by semicolons."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _parse_action(text: str, classes: Mapping[str, str], location: str) -> Timed:
    match = _ACTION.fullmatch(text)
    if match is None:
        raise UserError(
            location,
            expected="actions 'c092 11.90 21.20'",
            got=f"'{text[:60]}'",
        )
    code, start, end = match.groups()
    if code not in classes:
        raise UserError(
            f"{location}: no action class '{code}'", remedy=nearest(code, classes)
        )
    # the length is not known before the video is opened
    return classes[code], float(start), float(end)


# ----------------------------------------------------------------------------------------- finding


@dataclass(frozen=True, slots=True)
class Videos:
    """The videos in a folder that can be decoded, and what is wrong with each of the others."""

    folder: Path
    good: Mapping[str, Probe]
    problems: Mapping[str, str]

    @classmethod
    def open(
        cls,
        folder: Path,
        names: Iterable[str],
        context: Context,
        title: str,
        file_names: Callable[[str], Sequence[str]] | None = None,
    ) -> Self:
        """The videos of these names, which their files bear without suffix.

        `file_names` says what else the file of a video may be called.
        """
        asked = {name: file_names(name) if file_names else (name,) for name in names}
        files = find_videos(folder, asked, title)
        # now, so that what is left out is known before the first question
        probes = probe_all(files.values(), context)
        good = {}
        problems = {}
        for video in asked:
            file = files.get(video)
            if file is None:
                problems[video] = "missing"
            elif problem := probes[file].problem:
                problems[video] = f"unreadable: {problem}"
            else:
                good[video] = probes[file]
        return cls(folder, good, problems)

    def describe_problems(self) -> str:
        """In words: "3 videos missing (a, b, c); 1 video with no frames (d)"."""
        return describe_problems(self.problems, "video")

    def require_enough(
        self,
        title: str,
        out: int,
        total: int,
        max_missing: float,
        thing: str = "question",
    ) -> dict[str, str]:
        """The fact of what is left out; raises BadDataError for more than `max_missing`, or all."""
        return require_enough(
            title,
            thing,
            out,
            total,
            max_missing,
            got=self.describe_problems(),
            remedy=f"Videos are looked for in {self.folder} and all folders below "
            "(-O data.videos=FOLDER)",
        )


def find_videos(
    root: Path,
    names: Mapping[str, Sequence[str]],
    title: str,
) -> dict[str, Path]:
    """The file of each video that is there: one whose name without suffix is among its `names`.

    Raises UserError where there is no such folder, for a link that leads out of it, and where two
    files bear such a name: which one is meant cannot be known.
    """
    if not root.is_dir():
        beside = (
            [path.name for path in root.parent.iterdir()]
            if root.parent.is_dir()
            else []
        )
        raise UserError(
            f"{title}: no such folder",
            expected="a folder of videos",
            got=f"'{root}'",
            remedy=nearest(root.name, beside),
        )
    videos: dict[str, str] = {}
    for name, stems in names.items():
        videos |= dict.fromkeys(stems, name)
    files: dict[str, Path] = {}
    for path in _files(root, title):
        video = videos.get(path.stem)
        if video is None:
            continue
        # the same video twice, perhaps in two sizes: frames would differ
        if video in files:
            raise UserError(
                f"{title}: two files of video '{video}'",
                expected="one",
                got=f"{files[video].relative_to(root)} and {path.relative_to(root)}",
                remedy="Choose a folder with -O data.videos=FOLDER",
            )
        files[video] = path
    require_inside([root], files.values(), title)
    return files


def _files(root: Path, title: str) -> Iterator[Path]:
    """Videos and animations under `root`, links followed, hidden ones passed over, in order."""
    visited: set[str] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)  # a link may lead back up
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        # in place: os.walk goes on by this very list
        folders[:] = _visible_names(folders)
        # before it is entered: a link to the root of this machine would be walked for hours
        require_inside([root], [Path(folder, name) for name in folders], title)
        for name in _visible_names(files):
            path = Path(folder, name)
            if kind_of(path) in ("video", "animation"):
                yield path


def _visible_names(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith("."))


# ----------------------------------------------------------------------------------------- dataset


class VideoQuestionOptions(Options):
    """Where the questions and videos are, and how much of each is shown."""

    argument = "path"

    path: Path = Field(description="the folder of the authors' annotation files")
    videos: Path | None = Field(
        None,
        description="the folder of the videos, also in folders below; default PATH",
    )
    frames: int = Field(8, ge=1, description="frames sampled uniformly from each video")
    split: Annotated[str, Names.part()] = Field(
        "test", description="which split to show"
    )
    max_missing: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of questions whose video may be missing or unreadable",
    )


class VideoQuestions(Layout):
    """One sample a question whose video is there and can be decoded; its group is the video.

    A subclass names itself (`title`) and its splits, and reads its question files; `thing` is what
    its samples are called. The others are left out and counted in `facts`. Raises UserError for a
    file that is not there or not in the authors' layout, and BadDataError where more than
    `max_missing` of the questions are left out.
    """

    Options = VideoQuestionOptions
    options: VideoQuestionOptions
    thing: ClassVar[str] = "question"
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test")

    def __init__(self, options: VideoQuestionOptions, context: Context) -> None:
        super().__init__(options, context)
        questions = list(self.read(options.split))
        keys = [question.key for question in questions]
        require_distinct(self.title, self.thing, keys, options.split)
        names = [question.video for question in questions]
        folder = options.videos.expanduser() if options.videos else self.root
        videos = Videos.open(folder, names, context, self.title, self.file_names)
        self.clips = videos.good
        self.questions = tuple(
            question for question in questions if question.video in self.clips
        )
        total = len(questions)
        out = total - len(self.questions)
        left_out = videos.require_enough(
            self.title, out, total, options.max_missing, self.thing
        )
        shown = {question.video for question in self.questions}
        about = count_in_words(len(shown), "video")
        self.facts[f"{self.thing}s"] = (
            f"{len(self.questions):,} about {about}, split {options.split}"
        )
        self.facts |= left_out | loss_facts(self.clips.values())

    def read(self, split: str) -> Iterable[Question]:
        """The questions of a split; may add to `facts`."""
        raise NotImplementedError

    def file_names(self, video: str) -> tuple[str, ...]:
        """How the file of a video may be called, without suffix."""
        return (video,)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything that a sample shows."""
        shown = []
        for q in self.questions:
            # content, no paths: the same data set elsewhere is the same
            video = self.clips[q.video].digest
            group = [] if q.group is None else [q.group]
            shown.append(
                (q.key, q.text, q.choices, q.label, q.annotations, video, *group)
            )
        return digest(self.title, self.options.split, self.options.frames, shown)

    def __len__(self) -> int:
        return len(self.questions)

    def group_of(self, index: int) -> str | None:
        """The source video of a sample."""
        question = self.questions[index]
        # questions about one video count together (docs/statistics.md)
        return question.group or question.video

    def __getitem__(self, index: int) -> Sample:
        question = self.questions[index]
        base = {"video_id": question.video, "split": self.options.split}
        return Sample(
            key=question.key,
            frames=self.clips[question.video].clip(self.options.frames),
            question=question.text,
            choices=question.choices,
            label=question.label,
            group=self.group_of(index),
            annotations={**base, **question.annotations},
        )
