"""Any table of answers: CSV, TSV, JSONL, Parquet or a workbook, its columns named by options."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any

from pydantic import Field

from cuescope_logs.values import as_index, as_list, as_text, finite_number, text_at
from cuescope_logs.workbook import workbook_rows
from cuescope_sdk import Options, UserError, Words, nearest
from cuescope_sdk.data import shorten_names
from cuescope_sdk.logs import (
    OPTION_COLUMNS,
    Choices,
    Log,
    LogFile,
    LogReader,
    Record,
    field_at,
    figures_of,
    list_of_texts,
    options_in_columns,
    parse_json,
    score_of,
    without_letters,
)

OPTIONS = "options"
# share of the ids that may stand there twice and are ids all the same: rows were doubled
MOST_REPEATED = 0.1
KEY = "key"
# where no column has these names, and none was named
KEYS = ("id", "question_id", "index", "path", "sample")
# these name samples, and do not count them: rows in another order are not taken for each other
NAMES = ("path", "sample")


class TableOptions(Options):
    """Which column is what; of these only the prediction must be there."""

    prediction: Annotated[str, Words()] = Field(
        "prediction", description="column of what the model said or chose"
    )
    answer: Annotated[str, Words()] = Field(
        "answer", description="column of the right answer"
    )
    question: Annotated[str, Words()] = Field(
        "question", description="column of the question"
    )
    options: Annotated[str, Words()] = Field(
        OPTIONS,
        description="column with the list of choices, or a column a choice: 'A,B,C,D', which are "
        "found where there is no other",
    )
    key: Annotated[str, Words()] = Field(
        KEY,
        description="column of the key; without one id, question_id, index, path or sample, "
        "where hardly two rows have the same, else the number of the row",
    )
    group: Annotated[str, Words()] = Field(
        "group", description="column of what was drawn together: a video, a patient"
    )
    image: Annotated[str, Words()] = Field(
        "image", description="column of the picture's file, in the table's folder"
    )
    right: Annotated[str, Words()] = Field(
        "right",
        description="column of the judgement: 1 or 0, correct or incorrect, a score up to 1",
    )
    log_probs: Annotated[str, Words()] = Field(
        "log_probs", description="column with a list of log-likelihoods, one a choice"
    )


class TableLog(LogReader):
    """A row an answer; columns that no option names are annotations."""

    Options = TableOptions
    options: TableOptions
    title = "table"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """A table of text with a column `prediction`; others are named by `format=table`."""
        named = path.suffix.lower() in (".csv", ".tsv", ".jsonl")
        return named and b"prediction" in LogFile(path).first_bytes()

    def read(self, path: Path) -> Log:
        """The rows."""
        rows: list[tuple[str, Mapping[str, Any]]] = []
        nested = [name for name in vars(self.options).values() if "." in name]
        for place, given in self._rows(path):
            row = {**given}
            for name in nested:
                row.setdefault(name, field_at(given, name))
            if (
                not rows
                and row.get(self.options.prediction) is None
                and (self.options.prediction not in given)
            ):
                raise UserError(
                    f"{self.title}: {path.name} has no column '{self.options.prediction}'",
                    expected="a column of what the model said",
                    got=", ".join(map(str, row))[:200],
                    remedy=nearest(self.options.prediction, list(map(str, row)))
                    or "Name the columns: reader={prediction: COLUMN, answer: COLUMN, "
                    "question: COLUMN, options: 'A,B,C,D'}, a field of a field as a.b.c, as "
                    "-O 'model.reader=...' and -O 'data.reader=...', or as -O "
                    "'log.reader=...' beside --log",
                )
            rows.append((place, row))
        key = self._key_column([row for _, row in rows])
        records = []
        for number, (place, cells) in enumerate(rows):
            records.append(self._record(cells, number, place, key))
        return Log(
            title=path.stem,
            records=tuple(records),
            notes=_notes_of_keys([row for _, row in rows], key)
            | self._notes_of_verdicts([row for _, row in rows]),
            higher_is_better={self.options.right: True},
        )

    def _key_column(self, rows: Sequence[Mapping[str, Any]]) -> str:
        """The column of the keys: the one that is named, or one that tells all rows apart."""
        named = self.options.key
        if named != KEY or any(KEY in row for row in rows):
            return named
        for column in KEYS:
            keys = {text_at(row, column) for row in rows}
            repeated = len(rows) - len(keys)
            if "" not in keys and repeated <= MOST_REPEATED * len(rows):
                return column
        return named

    def _notes_of_verdicts(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Columns of ones and zeros, or their words, that nobody named the judgement."""
        read = set(vars(self.options).values())
        if any(self.options.right in row for row in rows):
            return {}
        unread = []
        for column in dict.fromkeys(name for row in rows for name in row):
            scores = {score_of(row.get(column)) for row in rows}
            if column not in read and scores == {0.0, 1.0}:
                unread.append(column)
        if not unread:
            return {}
        return {
            "judgements": f"not read: {shorten_names(unread)} may say what is correct: "
            f"reader={{right: {unread[0]}}} takes it"
        }

    def _option_columns(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """The column with the list of choices, or the columns with a choice each."""
        named = self.options.options
        if named != OPTIONS or OPTIONS in row:
            return tuple(name.strip() for name in named.split(","))
        if {*ascii_uppercase[:2]} <= row.keys():
            return tuple(letter for letter in ascii_uppercase if letter in row)
        lists = [column for column in OPTION_COLUMNS if column in row]
        return (*lists[:1],) or (named,)

    def _rows(self, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if path.suffix.lower() == ".xlsx":
            return workbook_rows(path, self.title, (self.options.prediction,))
        return LogFile(path, self.title).rows()

    def _record(
        self,
        row: Mapping[str, Any],
        number: int,
        place: str,
        key: str,
    ) -> Record:
        named = self.options
        columns = self._option_columns(row)
        choices = _choices(row, columns, place, text_at(row, named.answer))
        said = text_at(row, named.prediction)
        cell = f"{place} '{named.log_probs}'"
        listed = as_list(parse_list(row.get(named.log_probs), cell))
        log_probs = tuple(finite_number(value, cell) for value in listed)
        if log_probs and len(log_probs) != len(choices):
            raise UserError(
                cell,
                expected=f"{len(choices)} numbers, one a choice",
                got=str(len(log_probs)),
            )
        used = {*vars(named).values(), *columns, key}
        return Record(
            key=text_at(row, key) or f"row-{number + 1}",
            position=None if key in NAMES else number,
            said=said,
            question=text_at(row, named.question) or None,
            choices=choices,
            label=_right_choice(
                row.get(named.answer), choices, f"{place} '{named.answer}'"
            ),
            # without choices the words are in `said`
            answer=_choice(row.get(named.prediction), choices) if choices else None,
            log_probs=log_probs,
            figures=figures_of(row, (named.right,)),
            group=text_at(row, named.group) or None,
            images=tuple(filter(None, [text_at(row, named.image)])),
            annotations={
                name: value for name, value in row.items() if name not in used
            },
        )


def _notes_of_keys(rows: Sequence[Mapping[str, Any]], key: str) -> dict[str, str]:
    """That rows are known by their numbers, where a column looked like one of keys."""
    if key in KEYS or any(key in row for row in rows):
        return {}
    for column in KEYS:
        found = [text for row in rows if (text := text_at(row, column))]
        if found:
            again = len(rows) - len(set(found))
            return {
                "keys": f"the column '{column}' does not tell rows apart ({again:,} of "
                f"{len(rows):,} have none of their own), so rows are known by their numbers, and "
                "two logs are compared row by row. reader={key: COLUMN} names another column; "
                f"reader={{group: {column}}} says that rows of one {column} belong together"
            }
    return {}


def parse_list(value: Any, place: str) -> Any:
    """A list, or the list that a text writes as JSON; None for an empty cell."""
    if not isinstance(value, str):
        return value
    return parse_json(value, place) if value.strip() else None


def _choices(
    row: Mapping[str, Any],
    columns: Sequence[str],
    place: str,
    right: str,
) -> tuple[str, ...]:
    if len(columns) > 1:
        by_letter = {
            letter: row.get(column)
            for letter, column in zip(ascii_uppercase, columns, strict=False)
        }
        return options_in_columns(by_letter, right.strip())
    listed = list_of_texts(row.get(columns[0]), f"{place} '{columns[0]}'")
    return tuple(without_letters(listed))


def _right_choice(value: Any, choices: tuple[str, ...], place: str) -> int | str | None:
    """The same of the right answer; raises UserError for a number that no choice has."""
    choice = _choice(value, choices)
    # numbers from 1 would else be read as those from 0, and each be another choice than is meant
    if choices and isinstance(choice, str) and choice.isdecimal():
        raise UserError(
            place,
            expected=f"a choice by its text, its letter or its number from 0 to {len(choices) - 1}",
            got=f"'{choice:.60}'",
            remedy="Write letters where numbers begin at 1",
        )
    return choice


def _choice(value: Any, choices: tuple[str, ...]) -> int | str | None:
    """The number of a choice that a cell names by its text, letter or number."""
    text = as_text(value).strip()
    if not text:
        return None
    if not choices:
        return text
    index = Choices(choices).index(text)
    if index is None:
        index = as_index(text, len(choices))
    return text if index is None else index
