"""Questions whose videos are found become samples; what is left out is said, or too much."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field

from cuescope_sdk import Context, Options, Plugin, Sample, UserError, digest
from cuescope_sdk.data._annotation_files import find_file
from cuescope_sdk.data._media import clip_frames
from cuescope_sdk.data._media.left_out import count_in_words
from cuescope_sdk.data._video_questions.finding import open_videos
from cuescope_sdk.data._video_questions.questions import (
    Question,
    describe_video_problems,
    require_enough_questions,
)
from cuescope_sdk.models._refusals import refuse_unknown


class VideoQuestionOptions(Options):
    """Where the questions and videos are, and how much of each is shown."""

    argument: ClassVar[str | None] = "path"

    path: Path = Field(description="the folder of the authors' annotation files")
    videos: Path | None = Field(
        None, description="the folder of the videos, also in folders below; default PATH"
    )
    frames: int = Field(8, ge=1, description="frames sampled uniformly from each video")
    split: str = Field("test", description="which split to show")
    max_missing: float = Field(
        0.5, ge=0, le=1, description="share of questions whose video may be missing or unreadable"
    )


class VideoQuestions(Plugin):
    """One sample a question whose video is there and can be decoded.

    A subclass names itself (`title`) and its splits, and reads its question files. The others are
    left out and counted in `facts`. Raises UserError for a file that is not there or not in the
    authors' layout, and BadDataError where more than `max_missing` of the questions are left out.
    """

    Options = VideoQuestionOptions
    options: VideoQuestionOptions
    labels: tuple[str, ...] = ()
    title: ClassVar[str]
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test")

    def __init__(self, options: VideoQuestionOptions, context: Context) -> None:
        super().__init__(options, context)
        refuse_unknown(self.title, "split", options.split, self.split_names)
        self.facts: dict[str, str] = {}
        questions = self._whole(self.read(options.split))
        names = {question.video: self.file_names(question.video) for question in questions}
        place = (options.videos or options.path).expanduser()
        self.clips, problems = open_videos(place, names, context, self.title)
        self.questions = tuple(question for question in questions if question.video in self.clips)
        out = len(questions) - len(self.questions)
        require_enough_questions(
            self.title, out, len(questions), options.max_missing, problems, str(place)
        )
        self.facts |= self._facts(out, problems)

    def read(self, split: str) -> Iterable[Question]:
        """The questions of a split; may add to `facts`."""
        raise NotImplementedError

    def file_names(self, video: str) -> tuple[str, ...]:
        """How the file of a video may be called, without suffix."""
        return (video,)

    def file(self, name: str) -> Path:
        """A question file of the authors; raises UserError where it is not there."""
        return find_file(self.options.path.expanduser(), name, self.title)

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that a sample shows."""
        shown = [
            (q.key, q.text, q.choices, q.label, q.annotations, self.clips[q.video][1].digest)
            for q in self.questions
        ]
        return digest(self.title, self.options.split, self.options.frames, shown)

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, index: int) -> Sample:
        question = self.questions[index]
        file, probe = self.clips[question.video]
        known: Mapping[str, Any] = {"video_id": question.video, "split": self.options.split}
        return Sample(
            key=question.key,
            frames=clip_frames(file, probe, self.options.frames),
            question=question.text,
            choices=question.choices,
            label=question.label,
            annotations={**known, **question.annotations},
        )

    def split(self, name: str) -> Self:
        """The same questions' other split; raises UserError where there is no such split."""
        return type(self)(self.options.model_copy(update={"split": name}), self.context)

    def _whole(self, questions: Iterable[Question]) -> list[Question]:
        """The questions; raises UserError where there is none, or one twice."""
        kept = list(questions)
        if not kept:
            raise UserError(f"{self.title}: no questions in split {self.options.split}")
        for key, count in Counter(question.key for question in kept).items():
            if count > 1:
                raise UserError(
                    f"{self.title}: question '{key}'", expected="it once", got=f"it {count} times"
                )
        return kept

    def _facts(self, out: int, problems: Mapping[str, str]) -> dict[str, str]:
        total = len(self.questions)
        videos = count_in_words(len({question.video for question in self.questions}), "video")
        facts = {"questions": f"{total:,} about {videos}, split {self.options.split}"}
        if out:
            share = f"at most {self.options.max_missing:.0%} may be"
            why = describe_video_problems(problems)
            facts["left out"] = f"{out:,} of {out + total:,} questions ({share}): {why}"
        return facts
