"""The same questions, answered in two runs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import UserError, generator, read_answers
from cuescope_sdk.statistics import Groups, change_interval, change_p_value, holm

Row = dict[str, Any]


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
        others = {_trial(row): row for row in second}
        both = [(row, others[_trial(row)]) for row in first if _trial(row) in others]
        self.rows = [
            (a, b) for a, b in both if a["correct"] is not None and b["correct"] is not None
        ]
        self.alike = sum(a["label"] == b["label"] for a, b in self.rows) == len(self.rows)
        self.counts = len(first), len(second), len(both)
        roots = _roots([a["sample"] for a, _ in self.rows])
        names = [a["group"] or root for (a, _), root in zip(self.rows, roots, strict=True)]
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        self._groups = Groups(np.array([codes[name] for name in names], int), len(codes), True)

    def changes(self) -> list[Change]:
        """For each condition, and for each label of plain answers, in that order."""
        parts = [(name, part) for name, part in self._parts() if part.any()]
        rows = [self._change(name, part) for name, part in parts]
        corrected = holm([row.p_value for row in rows])
        return [
            Change(**{**vars(row), "p_value": p}) for row, p in zip(rows, corrected, strict=True)
        ]

    def flips(self, condition: str) -> tuple[list[tuple[Row, Row]], list[tuple[Row, Row]]]:
        """What was right and is wrong, and what was wrong and is right, of one condition."""
        pairs = [(a, b) for a, b in self.rows if a["condition"] == condition]
        lost = [(a, b) for a, b in pairs if a["correct"] and not b["correct"]]
        return lost, [(a, b) for a, b in pairs if b["correct"] and not a["correct"]]

    @property
    def conditions(self) -> list[str]:
        """The conditions of the pairs, the plain one first, then by their number."""
        counts = Counter(a["condition"] for a, _ in self.rows)
        return sorted(counts, key=lambda name: (name != "baseline", -counts[name]))

    def _parts(self) -> Iterator[tuple[str, Bool[np.ndarray, " pair"]]]:
        conditions = np.array([a["condition"] for a, _ in self.rows])
        labels = np.array([a["label"] for a, _ in self.rows])
        for condition in self.conditions:
            yield condition, conditions == condition
        for label in dict.fromkeys(labels.tolist()):
            yield (
                f"{self.conditions[0]}: {label}",
                (conditions == self.conditions[0]) & (labels == label),
            )

    def _change(self, kind: str, part: Bool[np.ndarray, " pair"]) -> Change:
        first, second = (
            np.array([pair[run]["correct"] for pair in self.rows], float)[part] for run in (0, 1)
        )
        change, groups = second - first, self._groups.take(part)
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
    tables = [read_answers(run).to_pylist() for run in (first, second)]
    # what was measured of a sample is no answer
    return Pairs(*([row for row in rows if row.get("figure") is None] for rows in tables))


def plain_accuracy(run: Path) -> str:
    """How many plain answers of a run are right, in words: `65.0% of 120`."""
    try:
        rows = read_answers(run).to_pylist()
    except UserError:
        return "not known"
    right = [
        row["correct"]
        for row in rows
        if row["condition"] == "baseline" and row["correct"] is not None
    ]
    return f"{np.mean(right):.1%} of {len(right):,}" if right else "not known"


def _trial(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("sample", "question", "condition", "feature", "edit"))


def _roots(keys: list[str]) -> list[str]:
    """The sample that each was made from: a derived key continues its own after a slash."""
    known, roots = set(keys), []
    for key in keys:
        parts = key.split("/")
        starts = ("/".join(parts[:count]) for count in range(1, len(parts)))
        roots.append(next((start for start in starts if start in known), key))
    return roots
