"""NExT-QA (Xiao et al., 2021): five choices, questions of cause, time and description.

The authors' `train.csv`, `val.csv` and `test.csv`. ATP-hard is the part of `val.csv` that a model
of single frames cannot answer (Buch et al., 2022): `atp-hard-ct4.txt`, row numbers from 0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from cuescope_sdk import Names, UserError
from cuescope_sdk.data import (
    Question,
    TextFile,
    VideoQuestionOptions,
    VideoQuestions,
    require_inside,
)

ATP_HARD = "atp-hard"
MOST_DIGITS = 9
TYPES = {"C": "Causal", "T": "Temporal", "D": "Descriptive"}


class QuestionRow(BaseModel):
    """A row of `{split}.csv`; `qid` counts within the video, `answer` is the choice's number."""

    video: str
    question: str
    answer: Annotated[int, Field(ge=0, le=4)]
    qid: int
    type: Literal["CW", "CH", "TN", "TC", "TP", "DC", "DL", "DO"]
    a0: str
    a1: str
    a2: str
    a3: str
    a4: str


class NExTQAOptions(VideoQuestionOptions):
    """Those of every question data set, and the part to show."""

    split: Annotated[str, Names.part()] = Field(
        "val", description="which split to show: train, val or test"
    )
    subset: Literal["atp-hard"] | None = Field(
        None,
        description="atp-hard: the part of val that a single frame does not answer",
    )


class NExTQA(VideoQuestions):
    """A sample a question with five choices.

    "question_type" is Causal, Temporal or Descriptive, "type_code" the authors' finer one ("CW" is
    causal: why). The questions of the ATP-hard list, where it is there, have "subsets":
    ("atp-hard",). The group is the video, an upload of its own.
    """

    Options = NExTQAOptions
    options: NExTQAOptions
    title: ClassVar[str] = "next-qa"

    @property
    def benchmark(self) -> str | None:
        """Its name in papers, which report the subset as a benchmark of its own."""
        return "ATP-Hard" if self.options.subset == ATP_HARD else "NExT-QA"

    def read(self, split: str) -> Iterator[Question]:
        """The questions of a split, or of its subset."""
        file = self.file(f"{split}.csv")
        rows = file.csv_rows(QuestionRow)
        hard = self._hard(file.path, len(rows))
        for number, row in enumerate(rows):
            if self.options.subset is None or number in hard:
                yield _question(row, number in hard)

    def _hard(self, file: Path, rows: int) -> frozenset[int]:
        """The rows of the ATP-hard list; none where there is no list and none is asked for."""
        needed = self.options.subset == ATP_HARD  # without a list nothing can be shown
        if self.options.split != "val":
            if needed:
                raise UserError(
                    f"{self.title}: subset={ATP_HARD}",
                    expected="split=val",
                    got=f"split={self.options.split}",
                    remedy="The list is of rows of val.csv",
                )
            return frozenset()
        # Beside val.csv first: a folder may hold the lists of several releases.
        beside = file.with_name("atp-hard-ct4.txt")
        if not beside.is_file() and not needed:
            return frozenset()
        if not beside.is_file():
            beside = self.file(beside.name).path
        require_inside([self.root], [beside], self.title)
        return read_row_numbers(TextFile(beside, self.title), rows)


def read_row_numbers(file: TextFile, rows: int) -> frozenset[int]:
    """Row numbers from 0, a line or a comma apart; raises UserError for one outside the table."""
    numbers = set()
    for location, line in file.lines():
        for word in line.replace(",", " ").split():
            # isdecimal is False for '-1', too; Python counts no digits by the thousand
            is_number = word.isdecimal() and len(word) <= MOST_DIGITS
            if not is_number or int(word) >= rows:
                expected = f"row numbers of val.csv, 0 to {rows - 1}"
                raise UserError(location, expected=expected, got=f"'{word[:60]}'")
            numbers.add(int(word))
    return frozenset(numbers)


def _question(row: QuestionRow, hard: bool) -> Question:
    choices = (row.a0, row.a1, row.a2, row.a3, row.a4)
    known = {"question_type": TYPES[row.type[0]], "type_code": row.type}
    return Question(
        f"{row.video}_{row.qid}",  # a qid counts within its video
        row.video,
        row.question,
        choices=choices,
        label=choices[row.answer],
        annotations=known | {"subsets": (ATP_HARD,)} if hard else known,
    )
