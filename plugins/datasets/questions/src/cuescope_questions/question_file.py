"""A file of multiple-choice questions as a data set, whatever its columns are called."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from cuescope_questions.layouts import AnswerForm, Layout
from cuescope_questions.pictures import content_of, find_in
from cuescope_questions.question_rows import Asked, QuestionRows, find_files
from cuescope_sdk import (
    BadDataError,
    Context,
    Options,
    Plugin,
    Sample,
    UserError,
    Words,
    digest,
)
from cuescope_sdk.data import Probe, Question, Videos, keep_content, probe_all
from cuescope_sdk.report import count_of


class QuestionFileOptions(Options):
    """Where the questions are, and the videos where there are any."""

    argument = "path"

    path: Path = Field(description="the question file, or a folder that it lies in")
    videos: Path | None = Field(
        None, description="the folder of the videos; without it samples have no frames"
    )
    frames: int = Field(8, ge=1, description="frames sampled uniformly from each video")
    images: Path | None = Field(
        None, description="the folder of the pictures that the file names"
    )
    embedded: bool = Field(
        False, description="show the pictures that the file itself holds"
    )


class QuestionTableOptions(QuestionFileOptions):
    """The columns of a table of one's own."""

    # marked as words: an option without a mark is refused from elsewhere (docs/adr/0021)
    question: Annotated[str, Words()] = Field(
        "question", description="column of the question"
    )
    options: Annotated[str, Words()] = Field(
        "options",
        description="column with the list of options, or a column an option: a0,a1,a2",
    )
    answer: Annotated[str, Words()] = Field(
        "answer", description="column of the right answer"
    )
    answer_is: AnswerForm | None = Field(
        None,
        description="what that column holds: index (from 0), number (from 1), letter or text; "
        "default: as the file shows",
    )
    video: Annotated[str, Words()] = Field(
        "video", description="column of the video, what samples are grouped by"
    )
    picture: Annotated[str, Words()] = Field(
        "image", description="column of the picture, or several: image_1,image_2"
    )
    kind: Annotated[str, Words()] = Field(
        "kind", description="column of the kind of question"
    )
    key: Annotated[str, Words()] = Field(
        "key", description="column of the sample's key"
    )


class QuestionFile(Plugin):
    """A sample a question that has two options or more and one right answer.

    The group is the video, where the file names one. Other questions are left out and counted in
    `facts`. Raises UserError for a file that has none, or whose rows do not fit the layout.
    """

    Options = QuestionFileOptions
    options: QuestionFileOptions
    # none in common: each question has options of its own
    labels: tuple[str, ...] = ()
    title: ClassVar[str]
    benchmark: ClassVar[str | None] = None
    # the authors' own files, then the forms in which others hand them on
    tables: ClassVar[tuple[Layout, ...]]

    def __init__(self, options: QuestionFileOptions, context: Context) -> None:
        super().__init__(options, context)
        layouts = self.find_layouts()
        patterns = [pattern for layout in layouts for pattern in layout.patterns]
        files = find_files(options.path.expanduser(), patterns, self.title)
        left_out: Counter[str] = Counter()
        asked: list[tuple[QuestionRows, Asked]] = []
        for file in files:
            rows = QuestionRows(file, self.title, layouts, pictures=options.embedded)
            # AI2D has a file a picture, and pictures without a question
            if rows.is_empty and len(files) == 1:
                raise UserError(
                    f"{self.title}: {file.name}", expected="a row or more", got="none"
                )
            if not rows.is_empty:
                asked += [(rows, each) for each in rows.usable(left_out)]
        total = len(asked) + left_out.total()
        reasons = ", ".join(
            f"{count:,} {reason}" for reason, count in sorted(left_out.items())
        )
        if not asked:
            raise UserError(
                f"{self.title}: no question of '{options.path.name}' can be used",
                expected="questions with two options or more and one right answer",
                got=reasons or "an empty file",
            )
        [(key, count)] = Counter(each.key for _, each in asked).most_common(1)
        if count > 1:
            raise UserError(
                f"{self.title}: {count_of(count, 'questions', 'have')} the key '{key}'",
                expected="one",
            )
        groups = _find_groups([each for _, each in asked])
        drawn = context.draw(groups)
        self._groups = [groups[number] for number in drawn]
        chosen = [asked[number] for number in drawn]
        self._shown = {each.key: each.pictures for _, each in chosen}
        # the files of pictures that stood in cells
        self._kept: dict[str, Path] = {}
        self.questions = self._take(chosen)
        videos = {question.video for question in self.questions}
        self.facts = {
            "questions": f"{len(self.questions):,} about {len(videos):,} videos"
        }
        if len(drawn) < len(groups):
            self.facts["drawn"] = (
                f"{len(drawn):,} of {len(groups):,}; no file of the others is opened"
            )
        if left_out:
            self.facts["left out"] = (
                f"{left_out.total():,} of {total:,} questions: {reasons}"
            )
        self.pictures = self._open_pictures()
        self.clips = self._open_videos(sorted(videos))

    def _take(
        self, chosen: Sequence[tuple[QuestionRows, Asked]]
    ) -> tuple[Question, ...]:
        """The questions that were drawn, in their order; keeps the pictures in their cells."""
        by_file: dict[QuestionRows, list[Asked]] = {}
        for rows, asked in chosen:
            by_file.setdefault(rows, []).append(asked)
        questions: dict[str, Question] = {}
        for rows, several in by_file.items():
            taken, pictures = rows.take(several)
            questions |= {question.key: question for question in taken}
            for name, cell in pictures if self.options.embedded else ():
                content = content_of(cell)
                if content is not None:
                    folder = self.context.cache / "questions"
                    self._kept[name] = keep_content(content, folder)
        return tuple(questions[asked.key] for _, asked in chosen)

    def _open_pictures(self) -> Mapping[str, Probe]:
        """Those that can be shown, by name; raises BadDataError where there is none of them."""
        files = dict(self._kept)
        names = {name for asked in self.questions for name in self._shown[asked.key]}
        if self.options.images is not None:
            folder = self.options.images.expanduser()
            files |= find_in(folder, sorted(names - files.keys()), self.title)
        elif not self.options.embedded:
            return {}
        probes = probe_all(files.values(), self.context)
        good = {
            name: probes[file]
            for name, file in files.items()
            if probes[file].problem is None
        }
        if not good:
            raise BadDataError(
                f"{self.title}: no picture of '{self.options.path.name}' can be shown",
                expected="pictures in its cells (-O data.embedded=true) or in a folder "
                "that it names "
                "them of (-O data.images=FOLDER)",
                got=f"{count_of(len(names), 'names')} and {count_of(len(files), 'files')}",
            )
        shown = sum(
            good.keys() >= set(self._shown[asked.key]) for asked in self.questions
        )
        self.facts["pictures"] = (
            f"{len(good):,}; {shown:,} of {len(self.questions):,} questions have all of theirs"
        )
        return good

    def _open_videos(self, names: Sequence[str]) -> Mapping[str, Probe]:
        """Those that can be shown, by name; raises BadDataError where there is none of them."""
        if self.options.videos is None:
            if not self.pictures:
                self.facts["videos"] = "none given: samples have no frames"
            return {}
        # the shell leaves `~` as it is behind `-O data.videos=`
        folder = self.options.videos.expanduser()
        # some authors write the suffix too
        found = Videos.open(
            folder, names, self.context, self.title, lambda video: (Path(video).stem,)
        )
        if not found.good:
            raise BadDataError(
                f"{self.title}: no video of '{folder}' can be shown",
                expected="a video of one question or more",
                got=found.describe_problems(),
                remedy="Leave `videos` out to audit the questions alone",
            )
        if found.problems:
            self.facts["without frames"] = found.describe_problems()
        return found.good

    def find_layouts(self) -> tuple[Layout, ...]:
        """Which column is what, in the forms that a file may have."""
        return self.tables

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that a sample shows."""
        shown = []
        for question in self.questions:
            clip = self.clips.get(question.video)
            # content, no paths: the same data set elsewhere is the same
            video = clip.digest if clip else None
            pictures = [probe.digest for probe in self._pictures_of(question)]
            if pictures:
                video = digest(video, pictures)
            known = (question.key, question.text, question.choices, question.label)
            shown.append((*known, question.annotations, video))
        # of other frames of the same videos the answers are other ones
        return digest(self.title, self.options.frames, shown)

    def __len__(self) -> int:
        return len(self.questions)

    def group_of(self, index: int) -> str | None:
        """The source video of a sample, known without a look at the video."""
        return self._groups[index]

    def _pictures_of(self, question: Question) -> list[Probe]:
        names = self._shown[question.key]
        # one of several alone would be another question
        shown = all(name in self.pictures for name in names)
        return [self.pictures[name] for name in names] if shown else []

    def __getitem__(self, index: int) -> Sample:
        question = self.questions[index]
        clip = self.clips.get(question.video)
        # a question whose video is broken stays, and `facts` say that it has no frames
        frames = clip.clip(self.options.frames) if clip else ()
        return Sample(
            key=question.key,
            frames=frames
            or tuple(probe.image() for probe in self._pictures_of(question)),
            question=question.text,
            choices=question.choices,
            label=question.label,
            group=self.group_of(index),
            annotations=question.annotations,
        )


def _find_groups(asked: Sequence[Asked]) -> Sequence[str | None]:
    """The source video of each question; None where the file names none, and no picture twice."""
    if any(each.source or each.video != each.key for each in asked):
        return [each.source or each.video for each in asked]
    # without videos, questions that show one picture belong together
    shown = [", ".join(each.pictures) for each in asked]
    named = list(filter(None, shown))
    if not 1 < len(set(named)) < len(named):
        return [None] * len(asked)
    return [names or each.key for names, each in zip(shown, asked, strict=True)]


class QuestionTable(QuestionFile):
    """Any table of questions; its columns are options, and the column `video` is the group."""

    Options = QuestionTableOptions
    options: QuestionTableOptions
    title = "questions"

    def find_layouts(self) -> tuple[Layout, ...]:
        """The columns as typed."""
        named = self.options
        layout = Layout(
            patterns=tuple(
                f"*.{suffix}" for suffix in ("csv", "jsonl", "json", "parquet")
            ),
            question=named.question,
            options=tuple(name.strip() for name in named.options.split(",")),
            answer=named.answer,
            answer_is=named.answer_is,
            video=named.video,
            kind=named.kind,
            key=named.key,
            pictures=tuple(name.strip() for name in named.picture.split(",")),
        )
        return (layout,)


__all__ = ["QuestionFile", "QuestionTable"]
