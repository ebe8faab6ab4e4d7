"""What a cell of a manifest says: texts, lists of answers, answer sheets, timed actions."""

from collections.abc import Mapping
from contextlib import suppress
from math import inf, isfinite
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from cuescope_sdk import Detection, UserError
from cuescope_sdk.data import printable_name
from cuescope_sdk.logs import parse_json

T = TypeVar("T")
# a number is a name too
LAX = ConfigDict(coerce_numbers_to_str=True)


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


def text_of(value: object, what: str, location: str) -> str:
    """A text or number as text; raises UserError for anything else, where `what` was expected."""
    # a number is a name too: classes are often numbered
    if isinstance(value, str | int | float) and str(value).strip():
        return printable_name(str(value).strip())
    got = "an empty cell" if value is None else repr(value)[:60]
    raise UserError(f"folder: {location}", expected=f"a {what}", got=got)


def names_of(value: object, column: str, location: str) -> tuple[str, ...]:
    """The texts of a list, of its JSON, or of `a|b`; raises UserError for one that is empty."""
    # JSONL and Parquet hold lists, CSV their text; what is no JSON after all is one name.
    names = value
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(UserError):
            names = parse_json(value, location)
    if not isinstance(names, list):
        names = str(value).split("|")
    if not names:
        raise UserError(
            f"folder: {location}: column '{column}'",
            expected="a|b, or a list",
            got="an empty list",
        )
    return tuple(
        text_of(name, f"text for each of the {column}", location) for name in names
    )


def choices_of(value: object, label: str | None, location: str) -> tuple[str, ...]:
    """Two choices or more, the label among them; raises UserError where they are not."""
    choices = names_of(value, "choices", location)
    if len(set(choices)) < max(2, len(choices)):
        raise UserError(
            f"folder: {location}: column 'choices'",
            expected="two different choices or more, such as yes|no",
            got=repr(value)[:60],
        )
    # an answer that cannot be given is always wrong
    if label is not None and label not in choices:
        raise UserError(
            f"folder: {location}: answer '{label[:60]}' is none of the row's choices",
            expected=f"one of {', '.join(choices)[:200]}",
            remedy="Write it as it stands in 'choices'",
        )
    return choices


_CUES = TypeAdapter(dict[str, list[bool] | None])
_BOXES = TypeAdapter(list[tuple[str, float, float, float, float]], config=LAX)
_ACTIONS = TypeAdapter(list[tuple[str, float, float]], config=LAX)


def cues_of(value: object, location: str) -> dict[str, tuple[bool, ...]]:
    """`{cue: (present in frame 0, ...)}` from a mapping or its JSON text."""
    expected = 'JSON such as {"red background": [true, false]}'
    sheet = _parsed(_CUES, value, f"{location}: column 'cues'", expected)
    # Parquet fills a cue of other rows with a null
    return {cue: tuple(flags) for cue, flags in sheet.items() if flags is not None}


def boxes_of(value: object, location: str) -> tuple[Detection, ...]:
    """What an image shows and where, from a list of [name, x0, y0, x1, y1] or its JSON."""
    place = f"{location}: column 'boxes'"
    expected = (
        'name, left, top, right and bottom in pixels, such as [["tree", 0, 5, 40, 90]]'
    )
    boxes = []
    for name, *corners in _parsed(_BOXES, value, place, expected):
        x0, y0, x1, y1 = corners
        # NaN fails every comparison
        if not (name.strip() and -inf < x0 < x1 < inf and -inf < y0 < y1 < inf):
            raise _wrong(place, expected, value)
        # annotated, so certain
        box = (x0, y0, x1, y1)
        boxes.append(Detection(name=printable_name(name), score=1.0, box=box))
    return tuple(boxes)


def actions_of(
    value: object,
    timed: bool,
    location: str,
) -> tuple[tuple[str, float, float], ...]:
    """(name, start, end) of each action, from a list or its JSON; only what is `timed` has any."""
    place = f"{location}: column 'actions'"
    expected = 'actions of a video by seconds, such as [["waving", 1.5, 4]]'
    actions = _parsed(_ACTIONS, value, place, expected)
    for name, start, end in actions:
        # NaN fails every comparison
        if not (timed and name.strip() and 0 <= start < end < inf):
            raise _wrong(place, expected, value)
    return tuple(actions)


def _parsed(adapter: TypeAdapter[T], cell: object, place: str, expected: str) -> T:
    """What a cell holds, or its JSON text says; raises UserError for anything else."""
    try:
        if isinstance(cell, str):
            cell = parse_json(cell, place)
        return adapter.validate_python(cell)
    # a number that no float holds is an OverflowError
    except (ValidationError, UserError, OverflowError):
        raise _wrong(place, expected, cell) from None


def _wrong(place: str, expected: str, cell: object) -> UserError:
    return UserError(f"folder: {place}", expected=expected, got=repr(cell)[:60])
