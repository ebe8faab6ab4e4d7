"""A file of multiple-choice questions as a data set, whatever its columns are called."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from cuescope_questions.answers import find_form, find_index, single_answer
from cuescope_questions.layouts import FORMS, AnswerForm, Layout
from cuescope_questions.pictures import content_of, find_in, name_of
from cuescope_questions.reading import Row, find_files
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
from cuescope_sdk.data import (
    Probe,
    Question,
    Videos,
    keep_content,
    probe_all,
    source_column,
)
from cuescope_sdk.logs import (
    LogFile,
    field_at,
    list_of_texts,
    plain_text,
    split_options,
    without_letters,
)
from cuescope_sdk.report import count_of

# share of the answers of a file that may name no option
SLIPS = 0.02
# an empty cell, as pandas writes it
EMPTY = "nan"


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


class _Usable(NamedTuple):
    """A row that has an answer and options, by its number and place in the file."""

    number: int
    place: str
    row: Row
    answer: str
    options: list[str]


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
        # the files of pictures that were kept, and the names of those of each question
        self._kept: dict[str, Path] = {}
        self._shown: dict[str, tuple[str, ...]] = {}
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
        keys = Counter(question.key for question in self.questions)
        [(key, count)] = keys.most_common(1)
        if count > 1:
            raise UserError(
                f"{self.title}: {count_of(count, 'questions', 'have')} the key '{key}'",
                expected="one",
            )
        groups = self._find_groups()
        drawn = context.draw(groups)
        self._groups = [groups[number] for number in drawn]
        self.questions = tuple(self.questions[number] for number in drawn)
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

    def _read(self, left_out: Counter[str]) -> Iterator[Question]:
        """The questions that can be used; counts the others by reason."""
        layouts = self.find_layouts()
        patterns = [pattern for layout in layouts for pattern in layout.patterns]
        files = find_files(self.options.path.expanduser(), patterns, self.title)
        for file in files:
            rows = list(self._read_rows(file, layouts))
            # AI2D has a file a picture, and pictures without a question
            if not rows and len(files) == 1:
                raise UserError(
                    f"{self.title}: {file.name}",
                    expected="a row or more",
                    got="none",
                )
            if rows:
                layout = self._choose_layout(file, layouts, rows[0][1])
                yield from self._questions(file, layout, rows, left_out)

    def _read_rows(
        self, file: Path, layouts: Sequence[Layout]
    ) -> Iterator[tuple[str, Row]]:
        """The rows of a file with names in place of pictures, each behind its place."""
        # a manifest of `cuescope blind --hardest` says the form of its answers in a column
        columns = {"answer_is"}
        for layout in layouts:
            columns.update(layout.columns)
        pictures = {column for layout in layouts for column in layout.pictures}
        if self.options.embedded:
            columns |= pictures
        nested = [column for column in columns if "." in column]
        whole = tuple(columns | {column.partition(".")[0] for column in nested})
        for place, row in LogFile(file, self.title).rows(whole, layouts[0].inside):
            for column in nested:
                row.setdefault(column, field_at(row, column))
            for column in pictures & row.keys():
                # by its name alone: all pictures of a file would fill memory
                cell = row[column]
                row[column] = name = name_of(cell)
                content = content_of(cell) if self.options.embedded else None
                if name is not None and content is not None:
                    folder = self.context.cache / "questions"
                    self._kept[name] = keep_content(content, folder)
            yield place, row

    def _choose_layout(self, file: Path, layouts: Sequence[Layout], row: Row) -> Layout:
        """The layout whose columns a row has; raises UserError where none fits."""
        for layout in layouts:
            if all(column in row for column in layout.required):
                return layout
        required = layouts[0].required
        missing = next(column for column in required if column not in row)
        raise UserError(
            f"{self.title}: {file.name} has no column '{missing}'",
            expected=", ".join(required),
            got=", ".join(map(str, row))[:200],
            remedy=nearest(missing, list(row))
            or "Name it: -O data.question=..., -O data.options=...",
        )

    def _questions(
        self,
        file: Path,
        layout: Layout,
        rows: Sequence[tuple[str, Row]],
        left_out: Counter[str],
    ) -> Iterator[Question]:
        usable = list(_usable_rows(layout, rows, left_out))
        stated = usable[0].row.get("answer_is") if usable else None
        form = layout.answer_is or next(
            (form for form in FORMS if form == stated), None
        )
        if form is None:
            # by all rows: a single answer "1" may be a text and a number
            form = find_form(
                [row.answer for row in usable],
                [row.options for row in usable],
                [row.place for row in usable],
            )
        pictures = _pictures(layout, rows)
        if layout.video is not None and not any(layout.video in row for _, row in rows):
            shared = source_column([row for _, row in rows])
            layout = replace(layout, video=shared or layout.video)
        misfits = 0
        for given in usable:
            index = find_index(given.answer, given.options, form)
            texts = tuple(without_letters(given.options))
            if index is None:
                misfits += 1
                # a slip of the authors; with many, the columns are others than we think
                if misfits > SLIPS * len(usable):
                    raise UserError(
                        f"{given.place} '{layout.answer}'",
                        expected=f"the {form} of one of {len(texts)} options",
                        got=f"'{given.answer[:60]}'",
                    )
                left_out["whose answer is none of the options"] += 1
            # a sample's answers are told apart by their texts
            elif texts.count(texts[index]) > 1:
                left_out["whose right answer stands there twice"] += 1
            else:
                row = given.row
                question = _question(
                    layout, file, given.number, row, texts, texts[index]
                )
                names = [_cell_of(row, column) for column in layout.pictures]
                shown = [pictures.get(name, name) for name in names if name]
                self._shown[question.key] = tuple(shown)
                video = pictures.get(question.video, question.video)
                yield replace(question, video=video)

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

    def _find_groups(self) -> Sequence[str | None]:
        """The source video of each sample; None where the file names none, and no picture twice."""
        if any(asked.group or asked.video != asked.key for asked in self.questions):
            return [asked.group or asked.video for asked in self.questions]
        # without videos, questions that show one picture belong together
        shown = [", ".join(self._shown[asked.key]) for asked in self.questions]
        named = list(filter(None, shown))
        if not 1 < len(set(named)) < len(named):
            return [None] * len(self.questions)
        return [
            names or asked.key
            for names, asked in zip(shown, self.questions, strict=True)
        ]

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


def _usable_rows(
    layout: Layout, rows: Sequence[tuple[str, Row]], left_out: Counter[str]
) -> Iterator[_Usable]:
    """The rows with an answer and options; counts the others by reason."""
    for number, (place, row) in enumerate(rows):
        question = row.get(layout.question)
        if isinstance(question, dict | list):
            raise UserError(
                f"{place} '{layout.question}'",
                expected="a text",
                got=f"{question!r:.60}",
            )
        answer = single_answer(row.get(layout.answer), f"{place} '{layout.answer}'")
        options = _options_of(layout, row, place)
        # VSI-Bench's questions with numbers for answers have no options
        if len(options) < 2:
            left_out["with fewer than two options"] += 1
        elif "" in options:
            left_out["with an empty option"] += 1
        elif answer is None or answer == layout.unknown:
            left_out["without an answer"] += 1
        else:
            yield _Usable(number, place, row, answer, options)


def _question(
    layout: Layout,
    file: Path,
    number: int,
    row: Row,
    options: tuple[str, ...],
    label: str,
) -> Question:
    # the file's name enters: MVBench has twenty files, and their rows no key
    key = _cell_of(row, layout.key) or f"{file.stem}-{number:05d}"
    # without a video the question stands by its own name, and no group is known
    video = _cell_of(row, layout.video) or key
    annotations = {"video_id": video}
    # MVBench and TVBench have a file for each kind of question
    kind = file.stem if layout.kind == "" else _cell_of(row, layout.kind)
    if kind is not None:
        annotations["question_type"] = kind
    text = plain_text(row.get(layout.question))
    if not layout.options and not layout.fixed:
        text, _ = split_options(text)
    source = _cell_of(row, layout.source)
    return Question(key, video, text, options, label, annotations, source)


def _cell_of(row: Row, column: str | None) -> str | None:
    return name_of(row.get(column)) if column else None


def _pictures(layout: Layout, rows: Sequence[tuple[str, Row]]) -> dict[str, str]:
    """By key, the picture of each row that others may name."""
    if not layout.picture_of:
        return {}
    pictures = {}
    for _, row in rows:
        key = _cell_of(row, layout.key)
        picture = _cell_of(row, layout.video)
        if key and picture:
            pictures[key] = picture
    return pictures


def _options_of(layout: Layout, row: Row, place: str) -> list[str]:
    columns = layout.options
    if layout.fixed:
        return list(layout.fixed)
    if not columns:
        return split_options(str(row.get(layout.question) or ""))[1]
    if len(columns) == 1:
        texts = list_of_texts(row.get(columns[0]), f"{place} '{columns[0]}'")
    else:
        cells = [row.get(column) for column in columns]
        # a table with a column an option leaves those of shorter questions empty
        texts = [plain_text(cell) for cell in cells]
    texts = ["" if text == EMPTY else text for text in texts]
    # at the end alone: the answer may be a number or a letter, which counts all before it
    while texts and not texts[-1]:
        texts.pop()
    return texts


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
