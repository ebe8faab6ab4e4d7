"""Multiple-choice questions of video benchmarks, with their videos or without.

A format is a table of columns (`layouts.py`); all else is the same for every benchmark.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from cuescope_questions.answers import (
    find_form,
    find_index,
    single_answer,
    without_letters,
)
from cuescope_questions.layouts import (
    EGOSCHEMA,
    FORMS,
    LONGVIDEOBENCH,
    MVBENCH,
    TVBENCH,
    VIDEO_MME,
    VSI_BENCH,
    AnswerForm,
    Layout,
)
from cuescope_questions.reading import Row, find_files, list_of_texts, read_rows
from cuescope_sdk import (
    BadDataError,
    Context,
    Options,
    Plugin,
    Sample,
    UserError,
    Words,
    digest,
    nearest,
)
from cuescope_sdk.data import Probe, Question, Videos


class QuestionFileOptions(Options):
    """Where the questions are, and the videos where there are any."""

    argument: ClassVar[str | None] = "path"

    path: Path = Field(description="the question file, or a folder that it lies in")
    videos: Path | None = Field(
        None, description="the folder of the videos; without it samples have no frames"
    )
    frames: int = Field(8, ge=1, description="frames sampled uniformly from each video")


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
        description="what that column holds: index (from 0), letter or text; default: as the "
        "file shows",
    )
    video: Annotated[str, Words()] = Field(
        "video", description="column of the video, what samples are grouped by"
    )
    kind: Annotated[str, Words()] = Field(
        "kind", description="column of the kind of question"
    )
    key: Annotated[str, Words()] = Field(
        "key", description="column of the sample's key"
    )


class QuestionFile(Plugin):
    """A sample a question that has two options or more and one right answer.

    The group is the video. Other questions are left out and counted in `facts`. Raises UserError
    for a file that has none, or whose rows do not fit the layout.
    """

    Options = QuestionFileOptions
    options: QuestionFileOptions
    # none in common: each question has options of its own
    labels: tuple[str, ...] = ()
    title: ClassVar[str]
    benchmark: ClassVar[str | None] = None
    columns: ClassVar[Layout]

    def __init__(self, options: QuestionFileOptions, context: Context) -> None:
        super().__init__(options, context)
        self.layout = self.find_layout()
        left_out: Counter[str] = Counter()
        self.questions = tuple(self._read(left_out))
        total = len(self.questions) + left_out.total()
        reasons = ", ".join(
            f"{count:,} {reason}" for reason, count in sorted(left_out.items())
        )
        if not self.questions:
            raise UserError(
                f"{self.title}: no question of '{options.path.name}' can be used",
                expected="questions with two options or more and one right answer",
                got=reasons or "an empty file",
            )
        self._require_distinct_keys()
        videos = {question.video for question in self.questions}
        self.facts = {
            "questions": f"{len(self.questions):,} about {len(videos):,} videos"
        }
        if left_out:
            self.facts["left out"] = (
                f"{left_out.total():,} of {total:,} questions: {reasons}"
            )
        self.clips: Mapping[str, Probe] = {}
        if options.videos is None:
            self.facts["videos"] = "none given: samples have no frames"
        else:
            # the shell leaves `~` as it is behind `-D videos=`
            folder = options.videos.expanduser()
            # some authors write the suffix too
            found = Videos.open(
                folder,
                sorted(videos),
                context,
                self.title,
                lambda video: (Path(video).stem,),
            )
            self.clips = found.good
            if not self.clips:
                raise BadDataError(
                    f"{self.title}: no video of '{folder}' can be shown",
                    expected="a video of one question or more",
                    got=found.describe_problems(),
                    remedy="Leave `videos` out to audit the questions alone",
                )
            if found.problems:
                self.facts["without frames"] = found.describe_problems()

    def find_layout(self) -> Layout:
        """Which column is what."""
        return self.columns

    def _read(self, left_out: Counter[str]) -> Iterator[Question]:
        """The questions that can be used; counts the others by reason."""
        path = self.options.path.expanduser()
        for file in find_files(path, self.layout.patterns, self.title):
            rows = list(read_rows(file, self.title))
            if not rows:
                raise UserError(
                    f"{self.title}: {file.name}",
                    expected="a row or more",
                    got="none",
                )
            self._require_columns(file, rows[0][1])
            yield from self._questions(file, rows, left_out)

    def _questions(
        self,
        file: Path,
        rows: Sequence[tuple[str, Row]],
        left_out: Counter[str],
    ) -> Iterator[Question]:
        layout = self.layout
        kept: list[tuple[int, Row]] = []
        answers: list[str] = []
        options: list[list[str]] = []
        places: list[str] = []
        for number, (place, row) in enumerate(rows):
            answer = single_answer(row.get(layout.answer), f"{place} '{layout.answer}'")
            texts = self._options_of(row, place)
            # VSI-Bench's questions with numbers for answers have no options
            if len(texts) < 2:
                left_out["with fewer than two options"] += 1
            elif answer is None:
                left_out["without an answer"] += 1
            else:
                kept.append((number, row))
                answers.append(answer)
                options.append(texts)
                places.append(place)
        # a manifest of `cuescope blind --hardest` says its form in a column
        form = layout.answer_is or self._form_in_file(kept)
        if form is None:
            # by all rows: a single answer "1" may be a text and a number
            form = find_form(answers, options, places)
        for (number, row), answer, texts, place in zip(
            kept,
            answers,
            options,
            places,
            strict=True,
        ):
            index = find_index(answer, texts, form)
            if index is None:
                raise UserError(
                    f"{place} '{layout.answer}'",
                    expected=f"the {form} of one of {len(texts)} options",
                    got=f"'{answer[:60]}'",
                )
            # a sample's answers are told apart by their texts
            if texts.count(texts[index]) > 1:
                left_out["whose right answer stands there twice"] += 1
                continue
            yield self._question(file, number, row, tuple(texts), texts[index])

    def _form_in_file(self, rows: Sequence[tuple[int, Row]]) -> AnswerForm | None:
        """What the column `answer_is` of the first row says; None where there is no such column."""
        stated = rows[0][1].get("answer_is") if rows else None
        for form in FORMS:
            if stated == form:
                return form
        return None

    def _question(
        self,
        file: Path,
        number: int,
        row: Row,
        options: tuple[str, ...],
        label: str,
    ) -> Question:
        layout = self.layout
        # the file's name enters: MVBench has twenty files, and their rows no key
        key = f"{file.stem}-{number:05d}"
        if layout.key and row.get(layout.key) is not None:
            key = str(row[layout.key])
        # without a video each question is a group of its own
        video = key
        if layout.video and row.get(layout.video) is not None:
            video = str(row[layout.video])
        annotations = {"video_id": video}
        # MVBench and TVBench have a file for each kind of question
        kind = file.stem if layout.kind == "" else row.get(layout.kind or "")
        if kind is not None:
            annotations["question_type"] = str(kind)
        text = str(row.get(layout.question) or "").strip()
        return Question(key, video, text, options, label, annotations)

    def _options_of(self, row: Row, place: str) -> list[str]:
        columns = self.layout.options
        if len(columns) == 1:
            texts = list_of_texts(row.get(columns[0]), f"{place} '{columns[0]}'")
        else:
            cells = [row.get(column) for column in columns]
            # a table with a column an option leaves those of shorter questions empty
            texts = [str(cell).strip() for cell in cells if cell is not None]
        return without_letters([text for text in texts if text])

    def _require_columns(self, file: Path, row: Row) -> None:
        layout = self.layout
        for column in (layout.question, *layout.options, layout.answer):
            if column not in row:
                raise UserError(
                    f"{self.title}: {file.name} has no column '{column}'",
                    expected=f"{layout.question}, {', '.join(layout.options)}, {layout.answer}",
                    got=", ".join(map(str, row))[:200],
                    remedy=nearest(column, list(row))
                    or "Name it: -D question=..., -D options=...",
                )

    def _require_distinct_keys(self) -> None:
        keys = Counter(question.key for question in self.questions)
        [(key, count)] = keys.most_common(1)
        if count > 1:
            raise UserError(
                f"{self.title}: {count} questions have the key '{key}'", expected="one"
            )

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that a sample shows."""
        shown = []
        for question in self.questions:
            clip = self.clips.get(question.video)
            # content, no paths: the same data set elsewhere is the same
            video = clip.digest if clip else None
            known = (question.key, question.text, question.choices, question.label)
            shown.append((*known, question.annotations, video))
        # of other frames of the same videos the answers are other ones
        return digest(self.title, self.options.frames, shown)

    def __len__(self) -> int:
        return len(self.questions)

    def group_of(self, index: int) -> str | None:
        """The source video of a sample."""
        # known without a look at the video, so groups are counted before frames are read
        return self.questions[index].video

    def __getitem__(self, index: int) -> Sample:
        question = self.questions[index]
        clip = self.clips.get(question.video)
        return Sample(
            key=question.key,
            # a question whose video is broken stays, and `facts` say that it has no frames
            frames=clip.clip(self.options.frames) if clip else (),
            question=question.text,
            choices=question.choices,
            label=question.label,
            group=question.video,
            annotations=question.annotations,
        )


# the public subset alone: answers to all other questions are kept by the authors
class EgoSchema(QuestionFile):
    """EgoSchema (Mangalam et al., 2023): 500 public questions with answers; a video is a group."""

    title = "egoschema"
    benchmark = "EgoSchema"
    columns = EGOSCHEMA


class LongVideoBench(QuestionFile):
    """LongVideoBench (Wu et al., 2024): the validation set; the group is the video."""

    title = "longvideobench"
    benchmark = "LongVideoBench"
    columns = LONGVIDEOBENCH


class MVBench(QuestionFile):
    """MVBench (Li et al., 2024): twenty tasks, a file each; the group is the video."""

    title = "mvbench"
    benchmark = "MVBench"
    columns = MVBENCH


class TVBench(QuestionFile):
    """TVBench (Cores et al., 2024): ten tasks, a file each; the group is the video."""

    title = "tvbench"
    benchmark = "TVBench"
    columns = TVBENCH


class VideoMME(QuestionFile):
    """Video-MME (Fu et al., 2025): 900 videos, three questions each; the group is the video."""

    title = "video-mme"
    benchmark = "Video-MME"
    columns = VIDEO_MME


# folds of single questions would remember a scene from its other questions (docs/blind.md)
class VSIBench(QuestionFile):
    """VSI-Bench (Yang et al., 2025): the questions with options, no numbers; a scene is a group."""

    title = "vsi-bench"
    benchmark = "VSI-Bench"
    columns = VSI_BENCH


class QuestionTable(QuestionFile):
    """Any table of questions; its columns are options, and the column `video` is the group."""

    Options = QuestionTableOptions
    options: QuestionTableOptions
    title = "questions"

    def find_layout(self) -> Layout:
        """The columns as typed."""
        named = self.options
        return Layout(
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
        )


__all__ = [
    "EgoSchema",
    "LongVideoBench",
    "MVBench",
    "QuestionFile",
    "QuestionTable",
    "TVBench",
    "VSIBench",
    "VideoMME",
]
