"""Any table of answers: CSV, TSV, JSONL, Parquet or a workbook, its columns named by options."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cuescope_logs.values import as_index, as_list, as_text, finite_number, text_at
from cuescope_logs.workbook import workbook_rows
from cuescope_sdk import Options, UserError, Words, nearest
from cuescope_sdk.data import TextFile
from cuescope_sdk.logs import Choices, Log, LogFile, LogReader, Record, parse_json

RIGHT = {"1": True, "true": True, "0": False, "false": False}


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
        "options",
        description="column with the list of choices, or a column a choice: A,B,C,D",
    )
    key: Annotated[str, Words()] = Field("key", description="column of the key")
    group: Annotated[str, Words()] = Field(
        "group", description="column of what was drawn together: a video, a patient"
    )
    image: Annotated[str, Words()] = Field(
        "image", description="column of the picture's file, in the table's folder"
    )
    right: Annotated[str, Words()] = Field(
        "right",
        description="column of whether the answer counted: 1 or 0, true or false",
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
        rows = self._rows(path)
        records = []
        for number, (place, row) in enumerate(rows):
            if number == 0 and self.options.prediction not in row:
                raise UserError(
                    f"{self.title}: {path.name} has no column '{self.options.prediction}'",
                    expected="a column of what the model said",
                    got=", ".join(map(str, row))[:200],
                    remedy=nearest(self.options.prediction, list(map(str, row)))
                    or "Name it: -L 'reader={prediction: COLUMN}' beside --log, else -M",
                )
            records.append(self._record(row, number, place))
        return Log(title=path.stem, records=tuple(records))

    def _rows(self, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
        suffix = path.suffix.lower()
        if suffix == ".xlsx":
            yield from workbook_rows(path, self.title, (self.options.prediction,))
        elif suffix == ".jsonl":
            yield from LogFile(path, self.title).json_lines()
        elif suffix == ".parquet":
            yield from LogFile(path, self.title).parquet_rows()
        else:
            file = TextFile(path, self.title)
            separator = "\t" if suffix == ".tsv" else ","
            for line, row in file.table(separator):
                yield f"{file.name} line {line}", row

    def _record(self, row: Mapping[str, Any], number: int, place: str) -> Record:
        named = self.options
        choices = self._choices(row, place)
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
        used = {*vars(named).values(), *named.options.split(",")}
        return Record(
            key=text_at(row, named.key) or f"row-{number + 1}",
            position=number,
            said=said,
            question=text_at(row, named.question) or None,
            choices=choices,
            label=_choice(row.get(named.answer), choices),
            # without choices the words are in `said`
            answer=_choice(row.get(named.prediction), choices) if choices else None,
            log_probs=log_probs,
            right=RIGHT.get(text_at(row, named.right).strip().lower()),
            group=text_at(row, named.group) or None,
            images=tuple(filter(None, [text_at(row, named.image)])),
            annotations={
                name: value for name, value in row.items() if name not in used
            },
        )

    def _choices(self, row: Mapping[str, Any], place: str) -> tuple[str, ...]:
        columns = [name.strip() for name in self.options.options.split(",")]
        if len(columns) > 1:
            cells = [text_at(row, column).strip() for column in columns]
            return tuple(filter(None, cells))
        value = parse_list(row.get(columns[0]), f"{place} '{columns[0]}'")
        return tuple(as_text(option).strip() for option in as_list(value))


def parse_list(value: Any, place: str) -> Any:
    """A list, or the list that a text writes as JSON; None for an empty cell."""
    if not isinstance(value, str):
        return value
    return parse_json(value, place) if value.strip() else None


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
