"""The sheet of `cuescope label`, filled in on the page: what `cuescope label --read` reads."""

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from cuescope.application import locked, read_whole, write_csv
from cuescope_sdk import UserError, inside, read_sealed
from cuescope_sdk.logs import parse_json

# bytes that are read of a sheet and of a picture: a stranger may have mailed them
MOST_BYTES = 2**26
MOST_PICTURE = 2**24
MOST_DIGITS = 9  # of the number of a question


@dataclass(frozen=True)
class Sheet:
    """`sheet.csv` with its key, in the folder `labels` of a run."""

    folder: Path

    @property
    def file(self) -> Path:
        """The table that a person fills in."""
        return self.folder / "sheet.csv"

    @property
    def exists(self) -> bool:
        """Whether `cuescope label` has written one."""
        return self.file.is_file()

    def questions(self) -> list[dict[str, Any]]:
        """The questions with their answers so far; raises UserError where they cannot be read.

        What the run says of them stays in the key: who judges must not know it.
        """
        choices = self._choices()
        questions = []
        for row in self._rows():
            words = choices.get(row["number"], [])
            # people write Yes and YES into the file
            by_word = {word.casefold(): word for word in words}
            question = {
                "number": int(row["number"]),
                "question": _plain(row["question"]),
                "text": _plain(row["text"]),
                "answer": by_word.get(row["answer"].strip().casefold(), ""),
                "choices": words,
            }
            questions.append(question)
        return questions

    def answer(self, number: int, answer: str) -> None:
        """Write an answer into its line, "" to take it back; raises UserError for no such one."""
        choices = self._choices().get(str(number))
        if choices is None:
            raise UserError(f"the sheet has no question {number}")
        if answer and answer not in choices:
            raise UserError(f"question {number}", expected=" or ".join(choices))
        # read again: a person may fill in the file by hand as well
        with locked(self.file):
            rows = self._rows()
            for row in rows:
                if row["number"] == str(number):
                    row["answer"] = answer
            write_csv(self.file, rows)

    def picture(self, number: int) -> bytes:
        """The JPEG of a question; raises UserError where there is none."""
        for row in self._rows():
            if row["number"] == str(number):
                # a sheet that was mailed names what it likes
                file = inside(self.folder, row["picture"])
                return self._read(file, MOST_PICTURE)
        raise UserError(f"the sheet has no question {number}")

    def _rows(self) -> list[dict[str, str]]:
        file = inside(self.folder, self.file.name)
        try:
            # Excel puts a mark in front
            text = self._read(file, MOST_BYTES).decode("utf-8-sig")
            # the csv module reads line ends itself, also those within a cell
            rows = list(csv.DictReader(StringIO(text, newline=""), strict=True))
            columns = ("number", "picture", "question", "text", "answer")
            # DictReader keeps surplus cells under None, and fills missing ones with None
            if any(None in row or None in map(row.get, columns) for row in rows):
                raise ValueError("a line has more or fewer cells than columns")
            if not all(_is_number(row["number"]) for row in rows):
                raise ValueError("the number of a question is none")
        except (ValueError, csv.Error) as error:
            raise UserError(f"{file} cannot be read", got=str(error)) from error
        return rows

    def _choices(self) -> dict[str, list[str]]:
        try:
            sealed = read_sealed(inside(self.folder, "key.json"))
            key = parse_json(sealed, "key.json")
            choices = {}
            for item in key["items"]:
                choices[str(item["number"])] = [str(word) for word in item["answers"]]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise UserError(
                f"{self.folder / 'key.json'} cannot be read",
                remedy="`cuescope label RUN` writes the sheet and its key",
            ) from error
        return choices

    def _read(self, file: Path, most: int) -> bytes:
        try:
            return read_whole(file, most=most)
        except OSError as error:
            raise UserError(f"{file} cannot be read", got=error.strerror) from error


def _is_number(cell: str) -> bool:
    # Python reads no number of thousands of digits
    return cell.isdecimal() and len(cell) <= MOST_DIGITS


def _plain(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from running it."""
    return cell.removeprefix("'")
