"""What a cell of a manifest says: texts, lists of answers, answer sheets, timed actions."""

from collections.abc import Mapping
from contextlib import suppress
from math import inf, isfinite
from typing import Any

from cuescope_sdk import Detection, UserError
from cuescope_sdk.data import printable_name
from cuescope_sdk.logs import parse_json

MOST_DEPTH = 32  # lists and objects in each other
MOST_LETTERS = 2**20  # of a cell
MOST_PARTS = 200_000  # values of a cell
MOST_TEXT = 2**24  # bytes of a JSON text of as much: what is more would fill the memory


def parse_modest_json(text: str | bytes, place: str) -> Any:
    """The value of a JSON text; raises UserError for what is none, or is not modest."""
    value = None if len(text) > MOST_TEXT else parse_json(text, place)
    if len(text) > MOST_TEXT or not _is_modest(value):
        raise _too_large(place)
    return value


def require_modest(value: object, column: str, location: str) -> None:
    """Raise UserError for a cell of too many letters or values, or nested too deeply."""
    # numbers are small, and bytes have limits of their own
    if isinstance(value, bool | int | float | bytes | None):
        return
    if not _is_modest(value):
        raise _too_large(f"{location}: column '{column[:60]}'")


def _too_large(place: str) -> UserError:
    return UserError(
        f"{place} is too large",
        expected=f"at most {MOST_LETTERS:,} letters, {MOST_PARTS:,} values and {MOST_DEPTH} "
        "brackets in each other",
    )


def _is_modest(value: object) -> bool:
    """Whether a value is neither too deep, nor of too many letters and parts."""
    level: list[object] = [value]
    letters = parts = 0
    # level by level: a function that calls itself would fail on what it is to find
    for _ in range(MOST_DEPTH + 1):
        below: list[object] = []
        for part in level:
            if isinstance(part, str):
                letters += len(part)
            elif isinstance(part, Mapping):
                letters += sum(map(len, map(str, part)))
                below.extend(part.values())
            elif isinstance(part, list | tuple | set):
                below.extend(part)
        parts += len(below)
        if letters > MOST_LETTERS or parts > MOST_PARTS:
            return False
        if not below:
            return True
        level = below
    return False


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
            names = parse_modest_json(value, location)
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


def cues_of(value: object, location: str) -> dict[str, tuple[bool, ...]]:
    """`{cue: (present in frame 0, ...)}` from a mapping or its JSON text."""
    wrong = UserError(
        f"folder: {location}: column 'cues'",
        expected='JSON such as {"red background": [true, false]}',
        got=repr(value)[:60],
    )
    sheet = _value(value, wrong)
    if not isinstance(sheet, Mapping):
        raise wrong
    cues = {}
    for cue, present in sheet.items():
        if present is None:  # Parquet fills a cue of other rows with a null
            continue
        # 0 and 1 equal False and True, and pass
        if not isinstance(present, list) or any(
            flag not in (True, False) for flag in present
        ):
            raise wrong
        cues[str(cue)] = tuple(map(bool, present))
    return cues


def boxes_of(value: object, location: str) -> tuple[Detection, ...]:
    """What an image shows and where, from a list of [name, x0, y0, x1, y1] or its JSON."""
    wrong = UserError(
        f"folder: {location}: column 'boxes'",
        expected='name, left, top, right and bottom in pixels, such as [["tree", 0, 5, 40, 90]]',
        got=repr(value)[:60],
    )
    boxes = []
    try:
        for name, *corners in _value(value, wrong):
            x0, y0, x1, y1 = map(float, corners)
            # NaN fails every comparison
            if not (
                str(name).strip() and -inf < x0 < x1 < inf and -inf < y0 < y1 < inf
            ):
                raise wrong
            name = printable_name(str(name))
            # annotated, so certain
            boxes.append(Detection(name=name, score=1.0, box=(x0, y0, x1, y1)))
    except (ValueError, TypeError, OverflowError):
        raise wrong from None
    return tuple(boxes)


def actions_of(
    value: object,
    timed: bool,
    location: str,
) -> tuple[tuple[str, float, float], ...]:
    """(name, start, end) of each action, from a list or its JSON; only what is `timed` has any."""
    wrong = UserError(
        f"folder: {location}: column 'actions'",
        expected='actions of a video by seconds, such as [["waving", 1.5, 4]]',
        got=repr(value)[:60],
    )
    if not timed:
        raise wrong
    actions = []
    try:
        for name, start, end in _value(value, wrong):
            action = (str(name), float(start), float(end))
            # NaN fails every comparison
            if not (action[0].strip() and 0 <= action[1] < action[2] < inf):
                raise wrong
            actions.append(action)
    except (ValueError, TypeError, OverflowError):
        raise wrong from None
    return tuple(actions)


def _value(cell: object, wrong: UserError) -> Any:
    """What a cell holds, or its JSON text says; raises `wrong` for a text that is none."""
    if not isinstance(cell, str):
        return cell
    try:
        return parse_modest_json(cell, "the cell")
    except UserError:
        raise wrong from None
