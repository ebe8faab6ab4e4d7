"""Values of JSON that may be anything, as what they should be."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cuescope_sdk import UserError

# a likelihood of 0 is a legal answer, and its logarithm no number
LEAST_LOG_PROB = -1e4


def as_mapping(value: Any) -> dict[str, Any]:
    """An object; {} for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A list; [] for anything else."""
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """A text, or a number or word in letters; "" for nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)


def mapping_at(value: Any, name: str) -> dict[str, Any]:
    """A field of an object, which is an object; {} for anything else."""
    return as_mapping(as_mapping(value).get(name))


def list_at(value: Any, name: str) -> list[Any]:
    """A field of an object, which is a list; [] for anything else."""
    return as_list(as_mapping(value).get(name))


def text_at(value: Any, name: str) -> str:
    """A field of an object as a text; "" for nothing."""
    return as_text(as_mapping(value).get(name))


def as_number(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # JSON has whole numbers of any length, and a float ends near 2 to the 1024
    if isinstance(value, int) and value.bit_length() >= 1000:
        return None
    return float(value) if math.isfinite(value) else None


def finite_number(value: Any, place: str) -> float:
    """A number of a log, or a text that is one; raises UserError for what is none, and for NaN.

    Minus infinity, the logarithm of a likelihood of 0, becomes a small number.
    """
    fault = UserError(place, expected="a finite number", got=f"{value!r:.60}")
    # a harness may write its numbers as texts
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise fault
    try:
        number = float(value)
    except (OverflowError, ValueError):
        raise fault from None
    if math.isnan(number) or number == math.inf:
        raise fault
    return max(number, LEAST_LOG_PROB)


def row_number(line: Mapping[str, Any], place: str) -> int:
    """The `doc_id` of a line; raises UserError that begins with `place` where it is no number."""
    number = line.get("doc_id")
    if isinstance(number, bool) or not isinstance(number, int):
        raise UserError(f"{place} 'doc_id'", expected="a number", got=f"{number!r:.60}")
    return number


def as_index(text: str, count: int) -> int | None:
    """The number of one of `count` things that a text writes; None for anything else."""
    # int() refuses thousands of digits, which a stranger may write
    is_short_number = text.isdecimal() and len(text) < 9
    if is_short_number and int(text) < count:
        return int(text)
    return None


def first_text(values: Sequence[Any]) -> str:
    """The first of a list as a text; "" where there is none."""
    return as_text(values[0]) if values else ""


def own_scores(results: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a task's results, as the harness names them; errors of means left out."""
    scores = {}
    for name, value in results.items():
        number = as_number(value)
        # a count of samples stands among the figures
        if number is not None and "stderr" not in name and name != "sample_len":
            scores[name] = number
    return scores


def directions(results: Mapping[str, Any], task: str) -> dict[str, bool]:
    """Which figures of a task are better when higher, as a results file of lm-eval's form says."""
    stated = mapping_at(mapping_at(results, "higher_is_better"), task)
    return {name: value for name, value in stated.items() if isinstance(value, bool)}


def count_of_questions(results: Mapping[str, Any], task: str) -> int | None:
    """How many questions of a task were asked, as such a file says."""
    samples = mapping_at(mapping_at(results, "n-samples"), task)
    count = as_number(samples.get("effective"))
    return None if count is None else int(count)
