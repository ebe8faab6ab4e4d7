"""What is said of files that cannot be shown, and when they are too many."""

from collections.abc import Mapping, Sequence
from math import ceil

from cuescope_sdk import BadDataError

_NAMED = 3


def describe_problems(problems: Mapping[str, str], thing: str) -> str:
    """Things by problem, in words: "3 videos missing (a, b, c); 1 video with no frames (d)"."""
    by_problem: dict[str, list[str]] = {}
    for name, problem in problems.items():
        by_problem.setdefault(problem, []).append(name)
    return "; ".join(
        f"{count_in_words(len(names), thing)} {problem} ({_some(names)})"
        for problem, names in by_problem.items()
    )


def require_enough(
    problem: str, out: int, total: int, max_missing: float, *, got: str, remedy: str
) -> None:
    """Raise BadDataError where more than `max_missing` of `total` are left out, or all."""
    if out <= max_missing * total and out < total:
        return
    if out < total:
        remedy += f", or accept it with -D max_missing={ceil(100 * out / total) / 100}"
    raise BadDataError(problem, expected=f"at most {max_missing:.0%}", got=got, remedy=remedy)


def count_in_words(count: int, thing: str) -> str:
    """ "1 video", "1,000 videos"."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
