"""A sheet that is filled in: checked line by line, compared with the run, written as labels."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, PositiveInt, TypeAdapter

from cuescope.application import safe_text, write_csv
from cuescope_sdk import UserError, read_sealed
from cuescope_sdk.data import TextFile
from cuescope_sdk.logs import parse_json
from cuescope_sdk.report import count_of, interval
from cuescope_sdk.statistics import Groups, cohen_kappa, mean_interval

if TYPE_CHECKING:
    from cuescope_sdk import Report

Item = dict[str, Any]
REMEDY = "`cuescope label RUN` writes the sheet and its key; --out names their folder"


class KeptItem(BaseModel):
    """A question as the key has it; see `LabelItem`."""

    number: Annotated[int, Field(ge=1, lt=2**31)]
    row: dict[str, str]
    column: str
    answers: tuple[str, ...]
    abstains: str | None
    expected: str | None
    kind: str
    group: str


class SheetRow(BaseModel):
    """A line of the sheet; what stands in its other columns is not read."""

    number: PositiveInt
    answer: str = ""


def read_sheet(path: Path, folder: Path, report: "Report") -> list[Item]:
    """The questions of a sheet, with the `answer` of those that have one.

    Raises UserError where an answer is none of those that are allowed, the sheet is of another
    report than the run's, or it names a question twice.
    """
    items = _items(folder, report)
    for row in TextFile(path.expanduser(), "label").csv_rows(SheetRow):
        item = items.get(row.number)
        if item is None:
            raise UserError(
                f"label: {path.name} has a question {row.number}",
                expected=f"1 to {len(items)}, as in {folder / 'key.json'}",
                remedy="Is it the sheet of another run?",
            )
        if "answer" in item:
            raise UserError(f"label: {path.name} has question {row.number} twice")
        said = row.answer.strip()
        # people write Yes and YES
        by_word = {answer.casefold(): answer for answer in item["answers"]}
        if said and said.casefold() not in by_word:
            raise UserError(
                f"label: {path.name}, question {row.number}",
                expected=f"{' or '.join(item['answers'])}, or nothing",
                got=f"'{said[:40]}'",
            )
        item["answer"] = by_word.get(said.casefold())
    if not select_answered(items.values()):
        raise UserError(
            f"label: {path.name} has no answer",
            expected="the column 'answer' filled in",
        )
    return list(items.values())


def select_answered(items: Iterable[Item]) -> list[Item]:
    """The questions that have an answer."""
    return [item for item in items if item.get("answer")]


def _items(folder: Path, report: "Report") -> dict[int, Item]:
    try:
        # sealed: a changed key would change what answers are compared with
        key = parse_json(read_sealed(folder / "key.json", remedy=REMEDY), "key.json")
        kept = TypeAdapter(list[KeptItem]).validate_python(key["items"])
        items = {item.number: item.model_dump() for item in kept}
        of_report = key["report"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"label: cannot read {folder / 'key.json'}",
            expected="the key that was written with the sheet",
            got=str(error),
            remedy=REMEDY,
        ) from error
    # questions are numbered, so the sheet of another report would fit too
    if of_report != report.hash:
        raise UserError(
            f"label: the sheet in {folder} is of another report",
            expected=report.hash,
            got=str(of_report),
            remedy="Name the run that it was written for",
        )
    return items


def compare(items: Sequence[Item]) -> Iterator[str]:
    """How often people say what the run says, in all and of each kind, with 95% intervals."""
    answered = select_answered(items)
    yield f"{len(answered):,} of {len(items):,} questions are answered"
    # there are questions on which the run takes no side
    decided = []
    left_out = 0
    for item in answered:
        if item["expected"] is not None:
            if item["answer"] == item.get("abstains"):
                left_out += 1
            else:
                decided.append(item)
    if left_out:
        yield f"{count_of(left_out, 'answers', 'decide')} nothing: left out of what follows"
    if not decided:
        return
    yield _agreement("people and the run agree", decided)
    kinds = defaultdict[str, list[Item]](list)
    for item in decided:
        kinds[item["kind"]].append(item)
    # one kind alone would be the same line again
    if len(kinds) > 1:
        for kind, of_kind in kinds.items():
            yield _agreement(f"  {kind}", of_kind)
    answers = set[str]()
    for item in decided:
        answers |= {*item["answers"]} - {item.get("abstains")}
    if len(answers) == 2:
        said = np.array([(item["expected"], item["answer"]) for item in decided])
        # which of the two counts as yes does not change kappa
        kappa = cohen_kappa(*(said == min(answers)).T)
        if kappa is not None:
            yield f"Cohen's kappa {kappa:.2f}: agreement beyond chance, 1 at most"


def _agreement(words: str, items: Sequence[Item]) -> str:
    alike = []
    pictures = []
    for item in items:
        alike.append(item["expected"] == item["answer"])
        # A picture may be asked about several times, and counts once.
        pictures.append(str(item["group"]))
    agree = np.array(alike, dtype=float)
    names, codes = np.unique(pictures, return_inverse=True)
    groups = Groups(codes, len(names), declared=True)
    ends = interval(*mean_interval(agree, groups), "{:.0%}".format)
    few = f"; few: below {Groups.FEW}" if groups.few else ""
    return (
        f"{words} in {agree.mean():.0%}{ends} of {len(agree):,} "
        f"({count_of(groups.count, 'pictures')}{few})"
    )


def write_labels(items: Sequence[Item], folder: Path) -> Path:
    """The answers as the method's own file of labels."""
    path = folder / "labels.csv"
    rows = []
    for item in select_answered(items):
        answer = {item["column"]: item["answer"]}
        row = item["row"] | answer
        # a spreadsheet would run a text that begins as a formula does: the key may be a stranger's
        rows.append({safe_text(name): safe_text(cell) for name, cell in row.items()})
    write_csv(path, rows)
    return path
