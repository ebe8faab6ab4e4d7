"""A file of recorded traces, line by line."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuescope_sdk import UserError, nearest
from cuescope_sdk.logs import LogFile

FIELDS = ("sample", "trace", "answer")
# control characters, which a terminal would obey; half characters
REFUSED = {"Cc", "Cs"}
SHAPE = '{"sample": KEY, "trace": TEXT or [STEPS], "answer": TEXT}'


def read_recording(path: Path) -> dict[str, str]:
    """The trace of each sample, by key; steps as a numbered list, an answer at the end.

    Lines that are blank are passed over, and fields beside `FIELDS` are for whoever made the file.
    Raises UserError with the number of the first line that cannot be used.
    """
    traces: dict[str, str] = {}
    for place, row in LogFile(path.expanduser(), "traces").json_lines():
        sample, trace = read_line(row, place)
        if sample in traces:
            raise UserError(
                f"{place}: sample '{sample}' is there already",
                remedy="Keep one of them",
            )
        traces[sample] = trace
    if not traces:
        raise UserError(f"traces: {path} is empty", expected=f"lines as {SHAPE}")
    return traces


def read_line(row: Mapping[str, Any], place: str) -> tuple[str, str]:
    """The sample and its trace; raises UserError that begins with `place`."""
    for field in ("sample", "trace"):
        if field not in row:
            names = [name for name in row if name not in FIELDS]
            raise UserError(
                f"{place}: no '{field}'", expected=SHAPE, remedy=nearest(field, names)
            )
    sample, trace, answer = map(row.get, FIELDS)
    _require_text(sample, f"{place}: 'sample'")
    if not sample or not REFUSED.isdisjoint(map(unicodedata.category, sample)):
        raise UserError(
            f"{place}: 'sample'",
            expected="a key without control characters",
            got=ascii(sample),
        )
    if isinstance(trace, list):
        for step in trace:
            _require_text(step, f"{place}: 'trace'")
        numbered = enumerate(trace, start=1)
        trace = "\n".join(f"{n}. {' '.join(step.split())}" for n, step in numbered)
    trace = _require_text(trace, f"{place}: 'trace'")
    if answer is not None:
        _require_text(answer, f"{place}: 'answer'")
        words = _replace_half_characters(answer).split()
        trace = f"{trace}\nAnswer: {' '.join(words)}"
    return sample, _replace_half_characters(trace)


def _require_text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise UserError(place, expected="text", got=type(value).__name__)
    return value


def _replace_half_characters(text: str) -> str:
    """The text with a mark for each half of a character."""
    # Models that are cut in the middle of an emoji end so, and no file or terminal can hold it.
    encoded = text.encode("utf-16", "surrogatepass")
    return encoded.decode("utf-16", "replace")
