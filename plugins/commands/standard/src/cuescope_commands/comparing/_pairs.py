"""The same questions, answered in two runs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import UserError, generator, read_answers
from cuescope_sdk.statistics import Groups, change_interval, change_p_value, holm

Row = dict[str, Any]
BASELINE = "baseline"
TRIAL = ("sample", "question", "condition", "feature", "edit")


@dataclass(frozen=True)
class Change:
    """How right answers changed from one run to another, over pairs of one kind.

    `low` and `high` bound the change of accuracy; `p_value` is corrected for all kinds. `few`
    says that there are too few groups for the interval to keep its promise.
    """

    kind: str
    n: int
    groups: int
    first: float
    second: float
    lost: int
    won: int
    low: float
    high: float
    p_value: float
    few: bool

    @property
    def change(self) -> float:
        """Accuracy of the second run minus that of the first."""
        return self.second - self.first


class Pairs:
    """Answers of two runs to the same trials, those whose label is known."""

    def __init__(self, first: list[Row], second: list[Row]) -> None:
        seconds = {_trial(row): row for row in second}
        both = 0
        self.rows: list[tuple[Row, Row]] = []
        for row in first:
            other = seconds.get(_trial(row))
            both += other is not None
            if other and row["correct"] is not None and other["correct"] is not None:
                self.rows.append((row, other))
        self.counts = (len(first), len(second), both)
        self.alike = all(a["label"] == b["label"] for a, b in self.rows)
        self._groups = _group([a for a, _ in self.rows])

    def changes(self) -> list[Change]:
        """For each condition, and for each label of plain answers, in that order."""
        changes = [self._change(kind, part) for kind, part in self._parts() if part.any()]
        corrected = holm([change.p_value for change in changes])
        return list(map(_with_p_value, changes, corrected))

    def flips(self, condition: str) -> tuple[list[tuple[Row, Row]], list[tuple[Row, Row]]]:
        """What was right and is wrong, and what was wrong and is right, of one condition."""
        lost, won = [], []
        for first, second in self.rows:
            if first["condition"] == condition and first["correct"] != second["correct"]:
                flips = lost if first["correct"] else won
                flips.append((first, second))
        return lost, won

    @property
    def conditions(self) -> list[str]:
        """The conditions of the pairs, the plain one first, then by their number."""
        counts = Counter(first["condition"] for first, _ in self.rows)
        return sorted(counts, key=lambda name: (name != BASELINE, -counts[name]))

    def _parts(self) -> Iterator[tuple[str, Bool[np.ndarray, " pair"]]]:
        conditions = np.array([first["condition"] for first, _ in self.rows])
        labels = np.array([first["label"] for first, _ in self.rows])
        for condition in self.conditions:
            yield condition, conditions == condition
        plain = self.conditions[0]
        for label in dict.fromkeys(labels.tolist()):
            yield f"{plain}: {label}", (conditions == plain) & (labels == label)

    def _change(self, kind: str, part: Bool[np.ndarray, " pair"]) -> Change:
        correct = np.array([(a["correct"], b["correct"]) for a, b in self.rows], float)[part]
        first, second = correct.T
        change = second - first
        groups = self._groups.take(part)
        low, high = change_interval(change, groups)
        return Change(
            kind=kind,
            n=len(change),
            groups=groups.count,
            first=float(first.mean()),
            second=float(second.mean()),
            lost=int((change < 0).sum()),
            won=int((change > 0).sum()),
            low=low or 0.0,
            high=high or 0.0,
            p_value=change_p_value(change, groups, generator(0, "compare", kind)),
            few=groups.few,
        )


def pair_answers(first: Path, second: Path) -> Pairs:
    """The pairs of two run folders; raises UserError where one kept no answers."""
    return Pairs(_answers(first), _answers(second))


def plain_accuracy(run: Path) -> str:
    """How many plain answers of a run are right, in words: `65.0% of 120`."""
    try:
        rows = read_answers(run).to_pylist()
    except UserError:
        return "not known"
    plain = [row["correct"] for row in rows if row["condition"] == BASELINE]
    right = [correct for correct in plain if correct is not None]
    return f"{np.mean(right):.1%} of {len(right):,}" if right else "not known"


def _answers(run: Path) -> list[Row]:
    rows: list[Row] = read_answers(run).to_pylist()
    # what was measured of a sample is no answer
    return [row for row in rows if row.get("figure") is None]


def _trial(row: Row) -> tuple[Any, ...]:
    return tuple(map(row.get, TRIAL))


def _with_p_value(change: Change, p_value: float) -> Change:
    return replace(change, p_value=p_value)


def _group(rows: list[Row]) -> Groups:
    """Those that rows declare; else samples made from one, whose keys continue its after a /."""
    keys = {row["sample"] for row in rows}
    numbers: dict[str, int] = {}
    codes = []
    for row in rows:
        starts = accumulate(row["sample"].split("/"), "{}/{}".format)
        root = next(start for start in starts if start in keys)
        codes.append(numbers.setdefault(row["group"] or root, len(numbers)))
    return Groups(np.array(codes, int), len(numbers), declared=True)
