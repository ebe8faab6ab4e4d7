"""What rules are judged by: a figure with its ends, of samples that were drawn in groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuescope_commands.comparing._runs import Row
from cuescope_sdk.statistics import Groups

SHOWN = 5  # samples that a verdict names


@dataclass(frozen=True)
class Bound:
    """A figure with its interval, in percent, and what it is of."""

    what: str
    value: float
    low: float
    high: float
    samples: tuple[str, ...] = ()


def one_sided(
    interval: Callable[[float], tuple[Any, Any]], low_error: float, high_error: float
) -> tuple[Any, Any]:
    """Ends that are missed with chances of their own; `interval` misses each with the one given."""
    low, high = interval(low_error)
    if high_error != low_error:
        _, high = interval(high_error)
    return low, high


def groups_of(rows: Sequence[Row]) -> Groups:
    """The groups that rows declare; a row without one is a group by itself."""
    numbers: dict[tuple[str, str], int] = {}
    codes = []
    for row in rows:
        own = (
            ("sample", row["sample"])
            if row["group"] is None
            else ("group", row["group"])
        )
        codes.append(numbers.setdefault(own, len(numbers)))
    declared = any(row["group"] is not None for row in rows)
    return Groups(np.array(codes, int), len(numbers), declared)
