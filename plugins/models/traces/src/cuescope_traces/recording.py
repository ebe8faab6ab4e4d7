"""A file of recorded traces, line by line."""

import json
import unicodedata
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import TextFile

FIELDS = ("sample", "trace", "answer")
# control characters, which a terminal would obey; half characters
REFUSED = {"Cc", "Cs"}
MOST_BYTES = 2**30  # of a file
MOST_LETTERS = 2**26  # of a line: a trace of 8 MiB, each letter of it escaped
MOST_NAMES = 100  # fields that may be a misspelt one
SHAPE = '{"sample": KEY, "trace": TEXT or [STEPS], "answer": TEXT}'


def read_recording(path: Path) -> dict[str, str]:
    """The trace of each sample, by key; steps as a numbered list, an answer at the end.

    Lines that are blank are passed over, and fields beside `FIELDS` are for whoever made the file.
    Raises UserError with the number of the first line that cannot be used.
    """
    traces: dict[str, str] = {}
    lines: dict[str, int] = {}  # where each sample stands
    text = TextFile(path.expanduser(), "traces").text(MOST_BYTES)
    # Not splitlines: JSON may hold U+2028 in a text, and that ends no line of JSONL.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"traces: {path.name}, line {number}"
        if len(line) > MOST_LETTERS:
            raise UserError(
                where,
                expected=f"at most {MOST_LETTERS:,} letters",
                got=f"{len(line):,}",
            )
        sample, trace = read_line(line, where)
        if sample in traces:
            raise UserError(
                f"{where}: sample '{sample}' is there already, in line {lines[sample]}",
                remedy="Keep one of them",
            )
        traces[sample] = trace
        lines[sample] = number
    if not traces:
        raise UserError(f"traces: {path} is empty", expected=f"lines as {SHAPE}")
    return traces


def read_line(line: str, where: str) -> tuple[str, str]:
    """The sample and its trace; raises UserError that begins with `where`."""
    try:
        row = json.loads(line)
    # A line of brackets alone exhausts the parser's stack before it is an error of JSON.
    except (ValueError, RecursionError) as error:
        got = "too deep a nesting"
        if isinstance(error, ValueError):
            got = str(error)
        if isinstance(error, json.JSONDecodeError):
            got = f"{error.msg} at character {error.colno}"
        raise UserError(f"{where}: no JSON", expected=SHAPE, got=got) from None
    if not isinstance(row, dict):
        raise UserError(where, expected=SHAPE, got=_kind(row))
    for field in ("sample", "trace"):
        if field not in row:
            others = [name for name in row if name not in FIELDS][:MOST_NAMES]
            meant = next((name for name in others if nearest(name, [field])), None)
            raise UserError(
                f"{where}: no '{field}'",
                expected=SHAPE,
                remedy=f"Is '{meant}' meant?" if meant else None,
            )
    sample = row["sample"]
    if not isinstance(sample, str) or not sample:
        raise UserError(
            f"{where}: 'sample'",
            expected="the key of a sample",
            got=_kind(sample),
        )
    if not REFUSED.isdisjoint(map(unicodedata.category, sample)):
        raise UserError(
            f"{where}: 'sample'",
            expected="a key without control characters",
            got=ascii(sample),
        )
    trace = _replace_half_characters(_trace_text(row["trace"], where))
    answer = row.get("answer")
    if answer is None:
        return sample, trace
    if not isinstance(answer, str):
        raise UserError(f"{where}: 'answer'", expected="text", got=_kind(answer))
    words = _replace_half_characters(answer).split()
    return sample, f"{trace}\nAnswer: {' '.join(words)}"


def _trace_text(trace: Any, where: str) -> str:
    """A text as it is; steps as a numbered list."""
    if isinstance(trace, str):
        return trace
    steps = trace if isinstance(trace, list) else [trace]
    lines = []
    for number, step in enumerate(steps, start=1):
        if not isinstance(step, str):
            expected = "text, or a list of texts"
            raise UserError(f"{where}: 'trace'", expected=expected, got=_kind(step))
        words = " ".join(step.split())
        lines.append(f"{number}. {words}")
    return "\n".join(lines)


def _replace_half_characters(text: str) -> str:
    """The text with a mark for each half of a character."""
    # Models that are cut in the middle of an emoji end so, and no file or terminal can hold it.
    encoded = text.encode("utf-16", "surrogatepass")
    return encoded.decode("utf-16", "replace")


def _kind(value: Any) -> str:
    """What a value is, in JSON's words."""
    kinds = {
        dict: "an object",
        list: "a list",
        str: "an empty text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        type(None): "null",
    }
    kind = type(value)
    return kinds.get(kind, kind.__name__)
