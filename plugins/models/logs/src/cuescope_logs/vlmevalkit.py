"""VLMEvalKit: `{model}_{dataset}.xlsx`, `.tsv` or `.json`, a row an answer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from cuescope_logs.values import text_at
from cuescope_logs.workbook import workbook_rows
from cuescope_sdk import UserError
from cuescope_sdk.logs import (
    OPTION_COLUMNS,
    Choices,
    Log,
    LogFile,
    LogReader,
    Record,
    figures_of,
    list_of_texts,
    options_in_columns,
    split_options,
    without_letters,
)

# added to the index of a question with its options turned: VLMEvalKit (Duan et al., 2024)
CIRCULAR = 1_000_000
FAILED = "Failed to obtain answer"  # written where the API gave nothing
COLUMNS = (b"index", b"prediction", b"answer")
LONGEST_CELL = (
    32_767  # characters: Excel cuts what is longer (its limits, since Excel 2007)
)
# read elsewhere, or much too long for an annotation
PASSED_OVER = {
    "index",
    "question",
    "answer",
    "prediction",
    "image",
    "thinking",
    "log",
    "hint",
    "hit",
    *ascii_uppercase,
    *OPTION_COLUMNS,
}


class VLMEvalKitLog(LogReader):
    """A row an answer; rows of one question whose options were turned are one group."""

    title = "vlmevalkit"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """A table with the columns index and prediction, a workbook among them."""
        start = LogFile(path).first_bytes()
        if path.suffix == ".xlsx":
            return start.startswith(b"PK")
        if path.suffix == ".tsv":
            start, _, _ = start.partition(b"\n")
        elif path.suffix != ".json":
            return False
        return all(column in start for column in COLUMNS)

    def read(self, path: Path) -> Log:
        """The rows; what failed is left out."""
        records = []
        failed = 0
        cut = 0
        rows: Iterator[tuple[str, Mapping[str, Any]]] = LogFile(path, self.title).rows()
        if path.suffix == ".xlsx":
            rows = workbook_rows(path, self.title, ("index", "prediction"))
        for place, row in rows:
            said = text_at(row, "prediction")
            if FAILED in said:
                failed += 1
                continue
            cut += len(said) >= LONGEST_CELL
            records.append(read_row(row, said, place))
        turned = {record.group for record in records if record.group is not None}
        if turned:
            records = [
                replace(record, group=record.group or record.key)
                if record.key in turned or record.group
                else record
                for record in records
            ]
        left_out = {"without an answer ('Failed to obtain answer')": failed}
        left_out["cut at 32,767 characters, and kept so"] = cut
        return Log(
            title=path.stem,
            records=tuple(records),
            left_out={reason: count for reason, count in left_out.items() if count},
            errors=failed,
            higher_is_better={"hit": True},
        )


def read_row(row: Mapping[str, Any], said: str, place: str) -> Record:
    """One row; raises UserError that begins with `place`."""
    # pandas writes whole numbers as 3.0 in a column with gaps
    index = text_at(row, "index").removesuffix(".0").strip()
    if not index:
        raise UserError(
            f"{place} 'index'", expected="a number or a name", got="nothing"
        )
    question = text_at(row, "question")
    answer = text_at(row, "answer").strip()
    choices = options_in_columns(row, answer)
    for column in OPTION_COLUMNS:
        # Video-MME's candidates are a list as Python writes it, letters and all
        if not choices and text_at(row, column).strip():
            listed = list_of_texts(row[column], f"{place} '{column}'")
            choices = tuple(without_letters(listed))
    if not choices:
        # some benchmarks write them into the question
        question, in_question = split_options(question)
        choices = tuple(in_question)
    label: int | str | None = Choices.letter_index(answer, len(choices))
    if label is None:
        label = answer or None
    number = int(index) if index.isdecimal() and len(index) < 16 else None
    return Record(
        key=index,
        said=said,
        question=question,
        choices=choices,
        label=label,
        figures=figures_of(row, ("hit",)),
        position=number,
        group=_turned(number),
        images=tuple(filter(None, [text_at(row, "image_path")])),
        annotations={
            name: value for name, value in row.items() if name not in PASSED_OVER
        },
    )


def _turned(number: int | None) -> str | None:
    """The question whose options were turned in a row; None for a row as it was written."""
    # the first of them has its own number: `read` gives it the group of its copies
    return None if number is None or number < CIRCULAR else str(number % CIRCULAR)
