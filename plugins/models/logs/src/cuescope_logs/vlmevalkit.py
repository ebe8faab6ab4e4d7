"""VLMEvalKit: `{model}_{dataset}.xlsx`, `.tsv` or `.json`, a row an answer."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cuescope_logs.prompts import split_options
from cuescope_logs.values import text_at
from cuescope_logs.workbook import workbook_rows
from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile
from cuescope_sdk.logs import Choices, Log, LogFile, LogReader, Record

CIRCULAR = 1_000_000  # rows of one question with its options turned have this added to their index
FAILED = "Failed to obtain answer"  # written where the API gave nothing
LETTERS = tuple("ABCDEFGH")  # columns of options
COLUMNS = (b"index", b"prediction", b"answer")
HITS = {"1": True, "0": False}
LONGEST_CELL = 32_767  # characters: Excel cuts what is longer
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
        for place, row in read_rows(path, self.title):
            said = text_at(row, "prediction")
            if FAILED in said:
                failed += 1
                continue
            cut += len(said) >= LONGEST_CELL
            records.append(read_row(row, said, place))
        left_out = {"without an answer ('Failed to obtain answer')": failed}
        left_out["cut at 32,767 characters, and kept so"] = cut
        return Log(
            title=path.stem,
            records=tuple(records),
            left_out={reason: count for reason, count in left_out.items() if count},
        )


def read_rows(path: Path, title: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each row behind its place."""
    if path.suffix == ".xlsx":
        yield from workbook_rows(path, title, ("index", "prediction"))
        return
    file = TextFile(path, title)
    if path.suffix == ".tsv":
        for line, row in file.table("\t"):
            yield f"{file.name} line {line}", row
        return
    rows = LogFile(path, title).json_document()
    if not isinstance(rows, list):
        raise UserError(file.name, expected="a JSON list of rows", got=f"{rows!r:.60}")
    for number, entry in enumerate(rows, start=1):
        place = f"{file.name} row {number}"
        if not isinstance(entry, dict):
            raise UserError(place, expected="a JSON object", got=f"{entry!r:.60}")
        yield place, entry


def read_row(row: Mapping[str, Any], said: str, place: str) -> Record:
    """One row; raises UserError that begins with `place`."""
    # pandas writes whole numbers as 3.0 in a column with gaps
    index = text_at(row, "index").removesuffix(".0").strip()
    if not index:
        raise UserError(
            f"{place} 'index'", expected="a number or a name", got="nothing"
        )
    question = text_at(row, "question")
    choices = []
    for letter in LETTERS:
        option = text_at(row, letter).strip()
        # "nan" is what pandas writes for an empty cell
        if not option or option.lower() == "nan":
            break
        choices.append(option)
    if not choices:
        # some benchmarks write them into the question
        question, choices = split_options(question)
    answer = text_at(row, "answer").strip()
    label: int | str | None = Choices.letter_index(answer, len(choices))
    if label is None:
        label = answer or None
    hit = text_at(row, "hit").removesuffix(".0")
    number = int(index) if index.isdecimal() and len(index) < 16 else None
    return Record(
        key=index,
        said=said,
        question=question,
        choices=tuple(choices),
        label=label,
        right=HITS.get(hit),
        position=number,
        group=index if number is None else str(number % CIRCULAR),
        images=tuple(filter(None, [text_at(row, "image_path")])),
        annotations={
            name: value
            for name, value in row.items()
            if name not in PASSED_OVER and name not in LETTERS
        },
    )
