"""What the columns of a manifest hold: a model of a row, and what is said of other cells."""

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

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


def _text(cell: object) -> object:
    # a number is a name too: classes are often numbered
    if isinstance(cell, str | int | float):
        return printable_name(str(cell).strip())
    return cell


def _listed(cell: object) -> object:
    # JSONL and Parquet hold lists, CSV their text; what is no JSON after all is one name
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        with suppress(UserError):
            cell = parse_json(cell, "a list")
    return cell if isinstance(cell, list) else str(cell).split("|")


def _parsed(cell: object) -> object:
    try:
        return parse_json(cell, "a cell") if isinstance(cell, str) else cell
    except UserError as error:
        raise ValueError(str(error)) from None


def _several(choices: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(choices)) < max(2, len(choices)):
        raise ValueError("two choices are one")
    return choices


def _ordered(box: "Box") -> "Box":
    _, x0, y0, x1, y1 = box
    if not (x0 < x1 and y0 < y1):
        raise ValueError("a box of no size")
    return box


def _later(action: "Action") -> "Action":
    if action[1] >= action[2]:
        raise ValueError("an action that ends before it begins")
    return action


Text = Annotated[str, BeforeValidator(_text), Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed), Field(min_length=1)]
Pixels = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(allow_inf_nan=False, ge=0)]
Box = tuple[Text, Pixels, Pixels, Pixels, Pixels]
Action = tuple[Text, Seconds, Seconds]


class ManifestRow(BaseModel):
    """A row by the columns that are known; the description of each says what was expected."""

    model_config = ConfigDict(frozen=True)

    path: Text = Field(description="a path")
    label: Text | None = Field(None, description="a label")
    answer: Text | None = Field(None, description="a label")
    answers: Texts | None = Field(None, description="a|b, or a list")
    split: Text | None = Field(None, description="a split")
    group: Text | None = Field(None, description="a group")
    question: Text | None = Field(None, description="a question")
    choices: Annotated[Texts, AfterValidator(_several)] | None = Field(
        None, description="two different choices or more, such as yes|no"
    )
    mask: Text | None = Field(None, description="a mask")
    cues: Annotated[dict[str, list[bool] | None] | None, BeforeValidator(_parsed)] = (
        Field(None, description='JSON such as {"red background": [true, false]}')
    )
    boxes: Annotated[
        list[Annotated[Box, AfterValidator(_ordered)]] | None, BeforeValidator(_parsed)
    ] = Field(
        None,
        description="name, left, top, right and bottom in pixels, such as "
        '[["tree", 0, 5, 40, 90]]',
    )
    actions: Annotated[
        list[Annotated[Action, AfterValidator(_later)]] | None, BeforeValidator(_parsed)
    ] = Field(
        None,
        description='actions of a video by seconds, such as [["waving", 1.5, 4]]',
    )

    @classmethod
    def read(cls, cells: Mapping[str, Any], location: str) -> Self:
        """A row of cells; raises UserError for one that is not what its column holds."""
        known = {name: cells[name] for name in cls.model_fields if name in cells}
        try:
            row = cls.model_validate(known)
        except ValidationError as error:
            column, *rest = error.errors(include_url=False)[0]["loc"]
            in_list = rest and column in ("choices", "answers")
            of_each = f"a text for each of the {column}" if in_list else None
            raise wrong_cell(str(column), known, location, of_each) from None
        # a number that no float holds
        except OverflowError:
            column = next(name for name in ("boxes", "actions") if name in known)
            raise wrong_cell(column, known, location) from None
        if row.right is None and row.actions is None:
            raise UserError(
                f"folder: {location}", expected="a label", got="an empty cell"
            )
        # an answer that cannot be given is always wrong
        if row.choices and row.right is not None and row.right not in row.choices:
            raise UserError(
                f"folder: {location}: answer '{row.right[:60]}' is none of the row's choices",
                expected=f"one of {', '.join(row.choices)[:200]}",
                remedy="Write it as it stands in 'choices'",
            )
        return row

    @property
    def right(self) -> str | None:
        """The label, else the answer, else the first of several."""
        return self.label or self.answer or (self.answers[0] if self.answers else None)


def wrong_cell(
    column: str, cells: Mapping[str, Any], location: str, expected: str | None = None
) -> UserError:
    """The error of a cell that is not what its column holds."""
    field = ManifestRow.model_fields[column]
    place = f"folder: {location}"
    if column in ("answers", "choices", "cues", "boxes", "actions") and not expected:
        place += f": column '{column}'"
    got = repr(cells[column])[:60] if column in cells else "an empty cell"
    return UserError(place, expected=expected or field.description, got=got)
