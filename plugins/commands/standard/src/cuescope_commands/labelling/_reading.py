"""A sheet that is filled in: checked line by line, compared with the run, written as labels."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, PositiveInt

from cuescope.application import write_atomically
from cuescope_sdk import UserError, read_sealed
from cuescope_sdk.data import read_csv
from cuescope_sdk.statistics import FEW, Groups, cohen_kappa, mean_interval

if TYPE_CHECKING:
    from cuescope_sdk import Report

REMEDY = "`cuescope label RUN` writes the sheet and its key; --out names their folder"


class SheetRow(BaseModel):
    """A line of the sheet; what stands in its other columns is not read."""

    number: PositiveInt
    answer: str = ""


@dataclass(frozen=True)
class Labelled:
    """The questions of a sheet by number, and the answers to those that have one."""

    items: Mapping[int, Mapping[str, Any]]
    answers: Mapping[int, str]


def read_sheet(path: Path, folder: Path, report: "Report") -> Labelled:
    """The answers of a sheet; raises UserError where one is none of those that are allowed.

    And where the sheet is of another report than the run's, or names a question twice.
    """
    items = _items(folder, report)
    answers: dict[int, str] = {}
    seen: set[int] = set()
    for row in read_csv(path.expanduser(), SheetRow, "label"):
        if row.number not in items:
            raise UserError(
                f"label: {path.name} has a question {row.number}",
                expected=f"1 to {len(items)}, as in {folder / 'key.json'}",
                remedy="Is it the sheet of another run?",
            )
        if row.number in seen:
            raise UserError(f"label: {path.name} has question {row.number} twice")
        seen.add(row.number)
        said, allowed = row.answer.strip(), items[row.number]["answers"]
        if not said:
            continue
        fitting = [answer for answer in allowed if answer.casefold() == said.casefold()]
        if not fitting:
            raise UserError(
                f"label: {path.name}, question {row.number}",
                expected=f"{' or '.join(allowed)}, or nothing",
                got=f"'{said[:40]}'",
            )
        answers[row.number] = fitting[0]
    if not answers:
        raise UserError(
            f"label: {path.name} has no answer", expected="the column 'answer' filled in"
        )
    return Labelled(items, answers)


def _items(folder: Path, report: "Report") -> dict[int, Mapping[str, Any]]:
    try:
        key = json.loads(read_sealed(folder / "key.json", remedy=REMEDY))
        items = {int(item["number"]): item for item in key["items"]}
        of_report = key["report"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"label: cannot read {folder / 'key.json'}",
            expected="the key that was written with the sheet",
            got=str(error),
            remedy=REMEDY,
        ) from error
    if of_report != report.hash:
        raise UserError(
            f"label: the sheet in {folder} is of another report",
            expected=report.hash,
            got=str(of_report),
            remedy="Name the run that it was written for",
        )
    return items


def compare(labelled: Labelled) -> Iterator[str]:
    """How often people say what the run says, in all and of each kind, with 95% intervals."""
    yield f"{len(labelled.answers):,} of {len(labelled.items):,} questions are answered"
    judged = [
        (labelled.items[number], answer)
        for number, answer in labelled.answers.items()
        if labelled.items[number]["expected"] is not None
    ]
    decided = [(item, answer) for item, answer in judged if answer != item.get("abstains")]
    if left_out := len(judged) - len(decided):
        yield f"{left_out:,} answers decide nothing and are left out of what follows"
    judged = decided
    if not judged:
        return
    kinds = dict.fromkeys(str(item["kind"]) for item, _ in judged)
    yield _agreement("people and the run agree", judged)
    if len(kinds) > 1:
        for kind in kinds:
            yield _agreement(f"  {kind}", [pair for pair in judged if pair[0]["kind"] == kind])
    answers = {
        answer for item, _ in judged for answer in item["answers"] if answer != item.get("abstains")
    }
    if len(answers) == 2:
        first = min(answers)
        kappa = cohen_kappa(
            np.array([item["expected"] == first for item, _ in judged]),
            np.array([answer == first for _, answer in judged]),
        )
        if kappa is not None:
            yield f"Cohen's kappa {kappa:.2f}: agreement beyond chance, 1 at most"


def _agreement(words: str, judged: Sequence[tuple[Mapping[str, Any], str]]) -> str:
    agree = np.array([item["expected"] == answer for item, answer in judged], dtype=float)
    # A picture may be asked about several times, and counts once.
    names, codes = np.unique([str(item["group"]) for item, _ in judged], return_inverse=True)
    low, high = mean_interval(agree, Groups(codes, len(names), declared=True))
    ends = "" if low is None or high is None else f" [{low:.0%}, {high:.0%}]"
    few = f"; few: below {FEW}" if len(names) < FEW else ""
    return f"{words} in {agree.mean():.0%}{ends} of {len(agree):,} ({len(names):,} pictures{few})"


def write_labels(labelled: Labelled, folder: Path) -> Path:
    """The answers as the method's own file of labels."""
    rows = []
    for number, answer in sorted(labelled.answers.items()):
        item = labelled.items[number]
        rows.append({**item["row"], item["column"]: answer})
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(c for row in rows for c in row)))
    writer.writeheader()
    writer.writerows(rows)
    path = folder / "labels.csv"
    write_atomically(path, text.getvalue())
    return path
