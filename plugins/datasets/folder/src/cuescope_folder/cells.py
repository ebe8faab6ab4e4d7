"""What the columns of a manifest hold: how each is read, and what is said of other cells."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from cuescope_sdk import UserError
from cuescope_sdk.data import printable_name
from cuescope_sdk.logs import parse_json


def plain(value: object) -> Any:
    """As JSON would have it: what is not a plain value becomes text, what is not a number None."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return printable_name(value)
        case float():
            # JSON knows no NaN, and a digest needs one form
            return value if isfinite(value) else None
        case Mapping():
            return {str(key): plain(part) for key, part in value.items()}
        case list() | tuple() | set():
            return tuple(map(plain, value))
    return str(value)


def _text(cell: object) -> str:
    # a number is a name too: classes are often numbered
    if isinstance(cell, str | int | float) and (text := str(cell).strip()):
        return printable_name(text)
    raise ValueError


def _texts(name: str, cell: object) -> tuple[str, ...]:
    # JSONL and Parquet hold lists, CSV their text; what is no JSON after all is one name
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        with suppress(UserError):
            cell = parse_json(cell, "a list")
    parts = cell if isinstance(cell, list) else str(cell).split("|")
    try:
        texts = tuple(map(_text, parts))
    except ValueError:
        raise ValueError(f"a text for each of the {name}") from None
    # two choices that are one cannot be told apart
    if not texts or (name == "choices" and len(set(texts)) < max(2, len(texts))):
        raise ValueError
    return texts


def _ordered(box: "Box") -> "Box":
    _, x0, y0, x1, y1 = box
    if not (x0 < x1 and y0 < y1):
        raise ValueError("a box of no size")
    return box


def _later(action: "Action") -> "Action":
    if action[1] >= action[2]:
        raise ValueError("an action that ends before it begins")
    return action


Text = Annotated[str, Field(min_length=1)]
Pixels = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(allow_inf_nan=False, ge=0)]
Box = tuple[Text, Pixels, Pixels, Pixels, Pixels]
Action = tuple[Text, Seconds, Seconds]
_CUES: TypeAdapter[Any] = TypeAdapter(dict[str, list[bool] | None])
_BOXES: TypeAdapter[Any] = TypeAdapter(list[Annotated[Box, AfterValidator(_ordered)]])
_ACTIONS: TypeAdapter[Any] = TypeAdapter(
    list[Annotated[Action, AfterValidator(_later)]]
)


def _parsed(layout: TypeAdapter[Any], cell: object) -> Any:
    try:
        value = parse_json(cell, "a cell") if isinstance(cell, str) else cell
    except UserError:
        raise ValueError from None
    if layout is not _CUES and isinstance(value, list):
        # the name may be a number, as that of a class
        value = [
            [_text(entry[0]), *entry[1:]]
            if isinstance(entry, list) and entry
            else entry
            for entry in value
        ]
    return layout.validate_python(value)


@dataclass(frozen=True)
class Column:
    """A column that is known: how its cells are read, and what was expected of another one."""

    expected: str
    read: Callable[[Any], Any] = _text


COLUMNS = {
    "path": Column("a path"),
    "label": Column("a label"),
    "answer": Column("a label"),
    "answers": Column("a|b, or a list", partial(_texts, "answers")),
    "split": Column("a split"),
    "group": Column("a group"),
    "question": Column("a question"),
    "choices": Column(
        "two different choices or more, such as yes|no", partial(_texts, "choices")
    ),
    "mask": Column("a mask"),
    "cues": Column(
        'JSON such as {"red background": [true, false]}', partial(_parsed, _CUES)
    ),
    "boxes": Column(
        'name, left, top, right and bottom in pixels, such as [["tree", 0, 5, 40, 90]]',
        partial(_parsed, _BOXES),
    ),
    "actions": Column(
        'actions of a video by seconds, such as [["waving", 1.5, 4]]',
        partial(_parsed, _ACTIONS),
    ),
}


class Known(NamedTuple):
    """What the known columns of a row say."""

    path: str
    label: str | None = None
    answer: str | None = None
    answers: tuple[str, ...] | None = None
    split: str | None = None
    group: str | None = None
    question: str | None = None
    choices: tuple[str, ...] | None = None
    mask: str | None = None
    cues: dict[str, list[bool] | None] | None = None
    boxes: list[Box] | None = None
    actions: list[Action] | None = None

    @property
    def right(self) -> str | None:
        """The label, else the answer, else the first of several."""
        return self.label or self.answer or (self.answers[0] if self.answers else None)


def read_cells(cells: Mapping[str, Any], location: str) -> Known:
    """What a row says; raises UserError for a cell that is not what its column holds."""
    known = {}
    for name, column in COLUMNS.items():
        if name in cells:
            try:
                known[name] = column.read(cells[name])
            except ValidationError:
                raise wrong_cell(name, cells, location) from None
            # the second: a number that no float holds
            except (ValueError, OverflowError, TypeError) as error:
                raise wrong_cell(name, cells, location, str(error)) from None
    if "path" not in known:
        raise wrong_cell("path", cells, location)
    row = Known(**known)
    if row.right is None and row.actions is None:
        raise UserError(f"folder: {location}", expected="a label", got="an empty cell")
    # an answer that cannot be given is always wrong
    if row.choices and row.right is not None and row.right not in row.choices:
        raise UserError(
            f"folder: {location}: answer '{row.right[:60]}' is none of the row's choices",
            expected=f"one of {', '.join(row.choices)[:200]}",
            remedy="Write it as it stands in 'choices'",
        )
    return row


def wrong_cell(
    column: str, cells: Mapping[str, Any], location: str, expected: str = ""
) -> UserError:
    """The error of a cell that is not what its column holds."""
    in_list = expected.startswith("a text for each")
    place = f"folder: {location}"
    if column in ("answers", "choices", "cues", "boxes", "actions") and not in_list:
        place += f": column '{column}'"
    got = repr(cells[column])[:60] if column in cells else "an empty cell"
    words = expected if in_list else COLUMNS[column].expected
    return UserError(place, expected=words, got=got)
