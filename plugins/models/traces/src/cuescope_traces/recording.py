"""A file of recorded traces, line by line."""

import json
import unicodedata
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest

FIELDS = ("sample", "trace", "answer")
UNSHOWN = ("Cc", "Cs")  # what a terminal would obey, and what no text can hold
SHAPE = '{"sample": KEY, "trace": TEXT or [STEPS], "answer": TEXT}'


def read_recording(path: Path) -> dict[str, str]:
    """The trace of each sample, by key; steps as a numbered list, an answer at the end.

    Lines that are blank are passed over, and fields beside `FIELDS` are for whoever made the file.
    Raises UserError with the number of the first line that cannot be used.
    """
    found: dict[str, tuple[int, str]] = {}
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"traces: {path}", expected="text in UTF-8", got=str(error)) from None
    except OSError as error:
        raise UserError(f"traces: cannot read {path}", got=error.strerror) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"traces: {path.name}, line {number}"
        sample, trace = read_line(line, place)
        if sample in found:
            raise UserError(
                f"{place}: sample '{sample}' is there already, in line {found[sample][0]}",
                remedy="Keep one of them",
            )
        found[sample] = number, trace
    if not found:
        raise UserError(f"traces: {path} is empty", expected=f"lines as {SHAPE}")
    return {sample: trace for sample, (_, trace) in found.items()}


def read_line(line: str, place: str) -> tuple[str, str]:
    """The sample and its trace; raises UserError that begins with `place`."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: no JSON", expected=SHAPE, got=_fault(error)) from None
    if not isinstance(row, dict):
        raise UserError(place, expected=SHAPE, got=_kind(row))
    for field in ("sample", "trace"):
        if field not in row:
            others = [name for name in row if name not in FIELDS]
            meant = next((name for name in others if nearest(name, [field])), None)
            raise UserError(
                f"{place}: no '{field}'", expected=SHAPE,
                remedy=f"Is '{meant}' meant?" if meant else None,
            )  # fmt: skip
    sample = row["sample"]
    if not isinstance(sample, str) or not sample:
        raise UserError(f"{place}: 'sample'", expected="the key of a sample", got=_kind(sample))
    if any(unicodedata.category(letter) in UNSHOWN for letter in sample):
        raise UserError(
            f"{place}: 'sample'", expected="a key without control characters", got=ascii(sample)
        )
    trace = _sound(_written(row["trace"], place))
    answer = row.get("answer")
    if answer is None:
        return sample, trace
    if not isinstance(answer, str):
        raise UserError(f"{place}: 'answer'", expected="text", got=_kind(answer))
    return sample, f"{trace}\nAnswer: {' '.join(_sound(answer).split())}"


def _written(trace: Any, place: str) -> str:
    """A text as it is; steps as a numbered list."""
    if isinstance(trace, str):
        return trace
    if isinstance(trace, list) and all(isinstance(step, str) for step in trace):
        steps = (" ".join(step.split()) for step in trace)
        return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    wrong = next((s for s in trace if not isinstance(s, str)), None) if _is_list(trace) else trace
    raise UserError(f"{place}: 'trace'", expected="text, or a list of texts", got=_kind(wrong))


def _sound(text: str) -> str:
    """With a mark for half of a character: what was cut in the middle of an emoji ends so."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _fault(error: Exception) -> str:
    return f"{error.msg} at character {error.colno}" if isinstance(
        error, json.JSONDecodeError
    ) else "too deep a nesting"  # fmt: skip


def _kind(value: Any) -> str:
    """What a value is, in JSON's words."""
    kinds = {dict: "an object", list: "a list", str: "an empty text", bool: "true or false"}
    numbers = {int: "a number", float: "a number", type(None): "null"}
    return (kinds | numbers).get(type(value), type(value).__name__)
