"""The questions of one file: which can be used, then all of those that are drawn."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

from cuescope_questions.answers import AnswerForms, find_index, single_answer
from cuescope_questions.layouts import FORMS, Layout
from cuescope_questions.pictures import name_of
from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import Question, require_inside
from cuescope_sdk.logs import (
    Manifest,
    Row,
    list_of_texts,
    plain_text,
    split_options,
    without_letters,
)

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
# share of the answers of a file that may name no option
SLIPS = 0.02
# an empty cell, as pandas writes it
EMPTY = "nan"


def find_files(path: Path, patterns: Sequence[str], title: str) -> list[Path]:
    """The file itself, or the files of a folder that a pattern finds, up to two folders below.

    Raises UserError where there is none.
    """
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise UserError(
                f"{title}: {path.name}",
                expected=f"a file {', '.join(SUFFIXES)}",
                got=f"'{path.suffix}'",
            )
        return [path]
    if not path.is_dir():
        raise UserError(
            f"{title}: no such file or folder",
            expected="the question file, or its folder",
            got=f"'{path}'",
        )
    for pattern in patterns:
        files = set(path.glob(pattern))
        # authors' archives unpack into a folder, and some into one more
        files.update(path.glob(f"*/{pattern}"), path.glob(f"*/*/{pattern}"))
        if files:
            # a link in the folder may lead out of it (docs/adr/0021)
            require_inside([path], files, title)
            # file systems list a folder in orders of their own, and keys count on
            return sorted(files)
    raise UserError(
        f"{title}: no question file in '{path}'",
        expected=" or ".join(patterns),
        remedy="Give the file itself",
    )


class Asked(NamedTuple):
    """A question that can be used: the number of its row, and what decides who is drawn.

    `pictures` are the names of those that it shows, `source` what its video was cut from.
    """

    number: int
    key: str
    video: str
    source: str | None
    pictures: tuple[str, ...]


class QuestionRows:
    """The rows of a file that are questions; `is_empty` where it has no row.

    Raises UserError for columns that fit none of the layouts, and for answers that fit no option.
    """

    def __init__(
        self, file: Path, title: str, layouts: Sequence[Layout], *, pictures: bool
    ) -> None:
        self._file = file
        self._title = title
        # a manifest of `cuescope blind --hardest` says the form of its answers in a column
        columns = {"answer_is"}
        for layout in layouts:
            columns.update(layout.columns, layout.pictures if pictures else ())
        nested = {column: column for column in columns if "." in column}
        manifest = Manifest.of_file(file, title, columns, layouts[0].inside)
        self._manifest = manifest.with_fields(nested)
        self.is_empty = not self._manifest.header
        # the names of pictures that other rows show by the key of a row, and where they are
        self._named: dict[str, tuple[str, int]] = {}
        if not self.is_empty:
            self._layout = self._choose_layout(layouts)

    def _choose_layout(self, layouts: Sequence[Layout]) -> Layout:
        """The layout whose columns are there; raises UserError where none fits."""
        columns = {*self._manifest.header, *self._manifest.columns}
        for layout in layouts:
            if all(column in columns for column in layout.required):
                if layout.video is not None and layout.video not in columns:
                    shared = self._manifest.source()
                    return replace(layout, video=shared[0] if shared else layout.video)
                return layout
        required = layouts[0].required
        missing = next(column for column in required if column not in columns)
        raise UserError(
            f"{self._title}: {self._file.name} has no column '{missing}'",
            expected=", ".join(required),
            got=", ".join(self._manifest.header)[:200],
            remedy=nearest(missing, self._manifest.header)
            or "Name it: -O data.question=..., -O data.options=...",
        )

    def usable(self, left_out: Counter[str]) -> Iterator[Asked]:
        """The questions that can be used; counts the others by reason."""
        layout = self._layout
        forms: AnswerForms | None = None
        asked = []
        for number, row in enumerate(self._manifest):
            if layout.picture_of:
                key = _name_in(row.cells, layout.key)
                picture = _name_in(row.cells, layout.video)
                if key and picture:
                    self._named[key] = picture, number
            read = self._answered(row)
            if isinstance(read, str):
                left_out[read] += 1
                continue
            answer, options = read
            if forms is None:
                forms = AnswerForms(self._forms(row))
            place = f"{self._title}: {row.location} '{layout.answer}'"
            forms.add(answer, options, place)
            asked.append(self._asked(number, row))
        if forms is None:
            return
        self._form = forms.choose()
        forms.require_few_misfits(self._form, SLIPS)
        indices = forms.indices[self._form]
        for order, (each, index) in enumerate(zip(asked, indices, strict=True)):
            if index < 0:
                left_out["whose answer is none of the options"] += 1
            # a sample's answers are told apart by their texts
            elif order in forms.twice[self._form]:
                left_out["whose right answer stands there twice"] += 1
            else:
                yield self._with_named_pictures(each)

    def _forms(self, row: Row) -> Sequence[Any]:
        if self._layout.answer_is:
            return (self._layout.answer_is,)
        stated = row.cells.get("answer_is")
        return (stated,) if stated in FORMS else FORMS

    def _answered(self, row: Row) -> tuple[str, list[str]] | str:
        """The answer and the options of a row, or why it cannot be used."""
        layout, cells = self._layout, row.cells
        place = f"{self._title}: {row.location}"
        question = cells.get(layout.question)
        if isinstance(question, dict | list):
            raise UserError(
                f"{place} '{layout.question}'",
                expected="a text",
                got=f"{question!r:.60}",
            )
        answer = single_answer(cells.get(layout.answer), f"{place} '{layout.answer}'")
        options = _options_of(layout, cells, place)
        # VSI-Bench's questions with numbers for answers have no options
        if len(options) < 2:
            return "with fewer than two options"
        if "" in options:
            return "with an empty option"
        if answer is None or answer == layout.unknown:
            return "without an answer"
        return answer, options

    def _asked(self, number: int, row: Row) -> Asked:
        layout, cells = self._layout, row.cells
        # the file's name enters: MVBench has twenty files, and their rows no key
        key = _name_in(cells, layout.key) or f"{self._file.stem}-{number:05d}"
        # without a video the question stands by its own name, and no group is known
        video = _name_in(cells, layout.video) or key
        names = [_name_in(cells, column) for column in layout.pictures]
        shown = tuple(name for name in names if name)
        return Asked(number, key, intern(video), _name_in(cells, layout.source), shown)

    def _with_named_pictures(self, asked: Asked) -> Asked:
        if not self._named:
            return asked
        pictures = [self._named.get(name, (name,))[0] for name in asked.pictures]
        video = self._named.get(asked.video, (asked.video,))[0]
        return asked._replace(video=video, pictures=tuple(pictures))

    def take(
        self, asked: Sequence[Asked]
    ) -> tuple[list[Question], Iterable[tuple[str, Any]]]:
        """The questions whole, and each picture in a cell of theirs, behind its name."""
        named = dict(self._named.values())
        shown = {
            named[name] for each in asked for name in each.pictures if name in named
        }
        rows = self._manifest.take({each.number for each in asked} | shown)
        questions = [self._question(each, rows[each.number]) for each in asked]
        return questions, self._picture_cells(rows)

    def _picture_cells(self, rows: Mapping[int, Row]) -> Iterator[tuple[str, Any]]:
        for row in rows.values():
            for column in self._layout.pictures:
                name = _name_in(row.cells, column)
                if name is not None:
                    yield name, row.cells[column]

    def _question(self, asked: Asked, row: Row) -> Question:
        layout = self._layout
        read = self._answered(row)
        assert not isinstance(read, str)
        answer, options = read
        index = find_index(answer, options, self._form)
        assert index is not None
        texts = tuple(without_letters(options))
        annotations = {"video_id": _name_in(row.cells, layout.video) or asked.key}
        # MVBench and TVBench have a file for each kind of question
        kind = (
            self._file.stem if layout.kind == "" else _name_in(row.cells, layout.kind)
        )
        if kind is not None:
            annotations["question_type"] = kind
        text = plain_text(row.cells.get(layout.question))
        if not layout.options and not layout.fixed:
            text, _ = split_options(text)
        return Question(
            asked.key,
            asked.video,
            text,
            texts,
            texts[index],
            annotations,
            asked.source,
        )


def _name_in(cells: Mapping[str, Any], column: str | None) -> str | None:
    return name_of(cells.get(column)) if column else None


def _options_of(layout: Layout, cells: Mapping[str, Any], place: str) -> list[str]:
    columns = layout.options
    if layout.fixed:
        return list(layout.fixed)
    if not columns:
        return split_options(str(cells.get(layout.question) or ""))[1]
    if len(columns) == 1:
        texts = list_of_texts(cells.get(columns[0]), f"{place} '{columns[0]}'")
    else:
        # a table with a column an option leaves those of shorter questions empty
        texts = [plain_text(cells.get(column)) for column in columns]
    texts = ["" if text == EMPTY else text for text in texts]
    # at the end alone: the answer may be a number or a letter, which counts all before it
    while texts and not texts[-1]:
        texts.pop()
    return texts
