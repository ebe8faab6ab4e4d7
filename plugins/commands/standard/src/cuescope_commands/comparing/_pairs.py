"""The same questions, answered in two runs."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from jaxtyping import Bool

from cuescope_commands.comparing._runs import BASELINE, Row
from cuescope_sdk import generator
from cuescope_sdk.statistics import Groups, change_interval, change_p_value, holm

Pair = tuple[Row, Row]
FEWEST_OF_LABEL = 2  # pairs of a label, on average
TRIAL = ("sample", "question", "condition", "feature", "edit")


@dataclass(frozen=True)
class Change:
    """How right answers changed from one run to another, over pairs of one kind.

    `low` and `high` bound the change of accuracy; `p_value` is that of plain answers, and of other
    kinds corrected for all of these, and never below it (a gate: Westfall and Krishen, 2001). `few`
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
    """Answers of two runs to the same trials, those whose label is known.

    A trial is the same where the sample's name and its frames are; `by_name` asks for the name
    alone. `unlike` are the samples of the same name with other frames, which are left out.
    """

    def __init__(
        self,
        first: list[Row],
        second: list[Row],
        *,
        by_name: bool = False,
    ) -> None:
        # by trial: two runs need not have answered in one order
        seconds = {_trial(row): row for row in second}
        both = 0
        answers: list[Row] = []
        others: list[Row] = []
        unlike: dict[str, None] = {}
        for row in first:
            other = seconds.get(_trial(row))
            both += other is not None
            if other and not by_name and _show_others(row, other):
                unlike[row["sample"]] = None
                continue
            # without a known label nobody can say what changed
            if other and row["correct"] is not None and other["correct"] is not None:
                answers.append(row)
                others.append(other)
        self.rows: list[Pair] = list(zip(answers, others, strict=True))
        self.counts = (len(first), len(second), both)
        self.unlike = tuple(unlike)
        self._groups = group_rows(answers)
        self._conditions = _column(answers, "condition")
        self._labels = _column(answers, "label")
        self.alike = bool((self._labels == _column(others, "label")).all())
        correct = _column(answers, "correct"), _column(others, "correct")
        self._correct = np.stack(correct).astype(float)

    def changes(self) -> list[Change]:
        """For each condition, and for each label of plain answers, in that order."""
        changes = [self._change(kind, part) for kind, part in self._parts()]
        if not changes:
            return []
        # the first row is of all answers, and the gate to the others: so it needs no correction
        first = changes[0].p_value
        others = holm([change.p_value for change in changes[1:]])
        corrected = []
        for change, p_value in zip(changes, [first, *others], strict=True):
            corrected.append(replace(change, p_value=max(first, p_value)))
        return corrected

    def flips(self, condition: str) -> tuple[list[Pair], list[Pair]]:
        """What was right and is wrong, and what was wrong and is right, of one condition."""
        lost: list[Pair] = []
        won: list[Pair] = []
        for first, second in self.rows:
            is_flip = first["correct"] != second["correct"]
            if is_flip and first["condition"] == condition:
                flips = lost if first["correct"] else won
                flips.append((first, second))
        return lost, won

    @property
    def conditions(self) -> list[str]:
        """The conditions of the pairs, the plain one first, then by their number."""
        counts = Counter(self._conditions.tolist())
        return sorted(counts, key=lambda name: (name != BASELINE, -counts[name]))

    def _parts(self) -> Iterator[tuple[str, Bool[np.ndarray, " pair"]]]:
        for condition in self.conditions:
            yield condition, self._conditions == condition
        plain = self.conditions[0]
        is_plain = self._conditions == plain
        labels = dict.fromkeys(self._labels.tolist())
        # right answers that hardly come twice are no classes: questions with options of their own
        if len(labels) * FEWEST_OF_LABEL > is_plain.sum():
            return
        for label in labels:
            part = is_plain & (self._labels == label)
            if part.any():
                yield f"{plain}: {label}", part

    def _change(self, kind: str, part: Bool[np.ndarray, " pair"]) -> Change:
        first, second = self._correct[:, part]
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
            # by kind: no row's p-value depends on which others there are
            p_value=change_p_value(change, groups, generator(0, "compare", kind)),
            few=groups.few,
        )


def _column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows])


def _trial(row: Row) -> Hashable:
    return tuple(map(row.get, TRIAL))


def _show_others(first: Row, second: Row) -> bool:
    """Whether two answers are known to be about other frames; older runs do not tell."""
    contents = first.get("content"), second.get("content")
    return None not in contents and contents[0] != contents[1]


def group_rows(rows: Sequence[Row]) -> Groups:
    """Those that rows declare; else samples made from one, whose keys continue its after a /."""
    keys = {row["sample"] for row in rows}
    numbers: dict[str, int] = {}
    codes = []
    for row in rows:
        starts = accumulate(row["sample"].split("/"), "{}/{}".format)
        # the whole key is among the keys, so there always is one
        root = next(start for start in starts if start in keys)
        # a declared group goes before what keys suggest
        codes.append(numbers.setdefault(row["group"] or root, len(numbers)))
    return Groups(np.array(codes, int), len(numbers), declared=True)
