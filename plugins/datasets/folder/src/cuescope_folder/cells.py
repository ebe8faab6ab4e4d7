"""What a cell of a manifest says: texts, lists of answers, answer sheets, timed actions."""

import json
from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

from cuescope_sdk import Detection, UserError
from cuescope_sdk.data import printable_name

MOST_DEPTH = 32  # lists and objects in each other
MOST_LETTERS = 2**20  # of a cell
MOST_PARTS = 200_000  # values of a cell


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; raises ValueError for what is none, or is nested too deeply."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None
    if _depth_and_size(value) is None:
        raise ValueError(f"it has more than {MOST_DEPTH} brackets in each other, or is too large")
    return value


def require_modest(value: object, column: str, location: str) -> None:
    """Raise UserError for a cell of too many letters or values, or nested too deeply."""
    if isinstance(value, bool | int | float | bytes | None):
        return
    if _depth_and_size(value) is None:
        raise UserError(
            f"{location}: column '{column[:60]}' is too large",
            expected=f"at most {MOST_LETTERS:,} letters, {MOST_PARTS:,} values and {MOST_DEPTH} "
            "brackets in each other",
        )


def _depth_and_size(value: object) -> tuple[int, int] | None:
    """How deep a value is and how many letters it has; None where either is too much."""
    level: list[object] = [value]
    letters = parts = 0
    for depth in range(MOST_DEPTH + 1):
        below: list[object] = []
        for part in level:
            if isinstance(part, str):
                letters += len(part)
            elif isinstance(part, Mapping):
                letters += sum(len(str(key)) for key in part)
                below.extend(part.values())
            elif isinstance(part, list | tuple | set):
                below.extend(part)
        parts += len(below)
        if letters > MOST_LETTERS or parts > MOST_PARTS:
            return None
        if not below:
            return depth, letters
        level = below
    return None


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
            return tuple(plain(part) for part in value)
    return str(value)


def text_of(value: object, what: str, location: str) -> str:
    """A text or number as text; raises UserError for anything else, where `what` was expected."""
    if isinstance(value, str | int | float) and str(value).strip():
        return printable_name(str(value).strip())
    got = "an empty cell" if value is None else repr(value)[:60]
    raise UserError(f"folder: {location}", expected=f"a {what}", got=got)


def names_of(value: object, column: str, location: str) -> tuple[str, ...]:
    """The texts of a list, of its JSON, or of `a|b`; raises UserError for one that is empty."""
    # JSONL and Parquet hold lists, CSV their text; what is no JSON after all is one name.
    try:
        bracketed = isinstance(value, str) and value.lstrip().startswith("[")
        listed: Any = parse_json(str(value)) if bracketed else value
    except ValueError:
        listed = value
    if not isinstance(listed, list):
        listed = str(value).split("|")
    if not listed:
        raise UserError(
            f"folder: {location}: column '{column}'", expected="a|b, or a list", got="an empty list"
        )
    return tuple(text_of(name, f"text for each of the {column}", location) for name in listed)


def choices_of(value: object, label: str | None, location: str) -> tuple[str, ...]:
    """Two choices or more, the label among them; raises UserError where they are not."""
    choices = names_of(value, "choices", location)
    if len(set(choices)) < max(2, len(choices)):
        raise UserError(
            f"folder: {location}: column 'choices'",
            expected="two different choices or more, such as yes|no",
            got=repr(value)[:60],
        )
    if label is not None and label not in choices:  # an answer that cannot be given is always wrong
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
    try:
        sheet = parse_json(value) if isinstance(value, str) else value
    except ValueError:
        raise wrong from None
    if not isinstance(sheet, Mapping):
        raise wrong
    cues = {}
    for cue, present in sheet.items():
        if present is None:  # Parquet fills a cue of other rows with a null
            continue
        if not isinstance(present, list) or any(flag not in (True, False) for flag in present):
            raise wrong
        cues[str(cue)] = tuple(bool(flag) for flag in present)
    return cues


def boxes_of(value: object, location: str) -> tuple[Detection, ...]:
    """What an image shows and where, from a list of [name, x0, y0, x1, y1] or its JSON."""
    wrong = UserError(
        f"folder: {location}: column 'boxes'",
        expected='name, left, top, right and bottom in pixels, such as [["tree", 0, 5, 40, 90]]',
        got=repr(value)[:60],
    )
    try:
        listed: Any = parse_json(value) if isinstance(value, str) else value
        named = [(str(name), tuple(map(float, corners))) for name, *corners in listed]
    except (ValueError, TypeError):
        raise wrong from None
    boxes = []
    for name, corners in named:
        match corners:
            # NaN fails every comparison
            case (x0, y0, x1, y1) if name.strip() and -inf < x0 < x1 < inf and -inf < y0 < y1 < inf:
                boxes.append(Detection(name=printable_name(name), score=1.0, box=(x0, y0, x1, y1)))
            case _:
                raise wrong
    return tuple(boxes)


def actions_of(value: object, timed: bool, location: str) -> tuple[tuple[str, float, float], ...]:
    """(name, start, end) of each action, from a list or its JSON; only what is `timed` has any."""
    wrong = UserError(
        f"folder: {location}: column 'actions'",
        expected='actions of a video by seconds, such as [["waving", 1.5, 4]]',
        got=repr(value)[:60],
    )
    try:
        listed: Any = parse_json(value) if isinstance(value, str) else value
        actions = tuple((str(name), float(start), float(end)) for name, start, end in listed)
    except (ValueError, TypeError):
        raise wrong from None
    if not timed or not all(
        # NaN fails every comparison
        name.strip() and 0 <= start < end < inf
        for name, start, end in actions
    ):
        raise wrong
    return actions
