"""What a remedy did to each cue, beside its placebos, and the verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cuescope_mitigation.scores import (
    NO_CELL,
    BoolPerSample,
    CellMeans,
    Change,
    PerSample,
    Precision,
)
from cuescope_mitigation.trials import Comparison, Cue
from cuescope_sdk.report import signed

Verdict = Literal[
    "helps",
    "no gain shown",
    "harms",
    "no better than a shift",
    "no better than random cues",
    "no better than a refit",
    "not tried",
    "too few",
]


@dataclass(frozen=True, eq=False)
class Control:
    """What something else gains, and what the remedy gains beyond it.

    `gain` is of the hurt label where the cue is, `groups_beyond` of all groups of label, with and
    without the cue.
    """

    gain: Change
    beyond: Change
    groups_beyond: Change | None = None

    @property
    def is_beaten(self) -> bool:
        """Whether the remedy gains more, in either."""
        groups = self.groups_beyond
        return self.beyond.low > 0 or (groups is not None and groups.low > 0)


@dataclass(frozen=True, eq=False)
class Row:
    """One cue: what was measured of it, and the verdict; None where too few samples of a side.

    `n` measured samples show the cue and `others` do not.
    `groups` is of all groups of label, with and without the cue, each of which counts the same;
    `random`, `shifted` and `refit` are the controls.
    """

    cue: Cue
    verdict: Verdict
    n: int
    others: int
    present: Change | None = None
    absent: Change | None = None
    gap: Change | None = None
    worst: Change | None = None
    groups: Change | None = None
    random: Control | None = None
    shifted: Control | None = None
    refit: Control | None = None


@dataclass(frozen=True, eq=False)
class Results:
    """All that was measured."""

    comparison: Comparison
    rows: Sequence[Row]
    overall: Change


def measure(comparison: Comparison) -> Results:
    """Every cue, at a confidence that holds for all of them together (Bonferroni)."""
    parts = comparison.parts
    cues = len(parts.cues)
    confidence = 1 - (1 - parts.options.confidence) / cues
    precision = Precision(comparison.groups, confidence)
    rows = [measure_cue(comparison, precision, number) for number in range(cues)]
    before = comparison.before
    everything = np.ones(len(before), dtype=bool)
    # one figure of all samples, so nothing is corrected
    alone = replace(precision, confidence=parts.options.confidence)
    overall = alone.change(before, comparison.after, everything)
    return Results(comparison, rows, overall)


def measure_cue(comparison: Comparison, precision: Precision, number: int) -> Row:
    """What the remedy does to one cue; only what changed is held against the placebos."""
    options = comparison.parts.options
    cue = comparison.parts.cues[number]
    shown = comparison.shows[:, number]
    judged = comparison.judged[:, number]
    present, without = sides_of(comparison, number)
    count = int(present.sum())
    # a gap needs both sides
    others = int(without.sum())
    if min(count, others) < options.least:
        return Row(cue, "too few", count, others)
    before = comparison.before
    after = comparison.after
    # two cells a label: without the cue and with it
    cells = np.where(judged, 2 * comparison.targets + shown, NO_CELL)

    def means(values: PerSample) -> CellMeans | None:
        return CellMeans.of(values, cells, options.least)

    cells_before = means(before)
    cells_after = means(after)

    def control(other: PerSample | None) -> Control | None:
        if other is None:
            return None
        cells_other = means(other)
        # intervals of the differences: two that overlap may still differ
        return Control(
            gain=precision.change(before, other, present),
            beyond=precision.change(other, after, present),
            groups_beyond=_if_both(precision.groups_change, cells_other, cells_after),
        )

    # weights for a training move no answers that a shift could explain
    moves = comparison.mitigator.changes_answers
    row = Row(
        cue,
        "not tried",
        count,
        others,
        present=precision.change(before, after, present),
        absent=precision.change(before, after, without),
        gap=precision.gap_change(before, after, without, present),
        worst=_if_both(precision.worst_change, cells_before, cells_after),
        groups=_if_both(precision.groups_change, cells_before, cells_after),
        random=control(comparison.random),
        shifted=control(comparison.shifted if moves else None),
        refit=control(comparison.refit),
    )
    return replace(row, verdict=verdict_of(row))


def _if_both(
    figure: Callable[[CellMeans, CellMeans], Change],
    before: CellMeans | None,
    after: CellMeans | None,
) -> Change | None:
    # too few samples of all groups but one
    if before is None or after is None:
        return None
    return figure(before, after)


def sides_of(
    comparison: Comparison, number: int
) -> tuple[BoolPerSample, BoolPerSample]:
    """The measured samples of a cue's label that show it, and those that do not."""
    shown = comparison.shows[:, number]
    known = (
        of_label(comparison, comparison.parts.cues[number])
        & comparison.judged[:, number]
    )
    return known & shown, known & ~shown


def of_label(comparison: Comparison, cue: Cue) -> BoolPerSample:
    """The measured samples of the label that a cue hurts, all of them where it hurts any."""
    if cue.label is None:
        return np.full(len(comparison.targets), True)
    number = comparison.parts.labels.index(cue.label)
    return np.asarray(comparison.targets == number)


def verdict_of(row: Row) -> Verdict:
    """The rule: a gain beyond chance, and beyond what each control gains."""
    gain = row.present
    if gain is None:
        return "too few"
    if gain.high < 0:
        return "harms"
    if gain.low <= 0:
        return "no gain shown"
    # a shift needs no cue at all: it is asked about first
    if row.shifted is not None and only_moves(row, row.shifted):
        return "no better than a shift"
    if row.random is None:  # --placebos 0: nobody knows why it gains
        return "not tried"
    # where the cue is: both answer there and nowhere else
    if row.random.beyond.low <= 0:
        return "no better than random cues"
    if row.refit is not None and not row.refit.is_beaten:
        return "no better than a refit"
    return "helps"


def only_moves(row: Row, shifted: Control) -> bool:
    """Whether what one label wins another loses: a shift wins as much, and all groups win nothing.

    Where the cue pulls to one answer, pushing back is the repair, and a shift of all answers may
    win as much where the cue is. So unseen accuracy decides: that of all groups of label, with the
    cue and without, each of which counts the same.
    """
    is_repair = row.groups is not None and row.groups.low > 0
    return shifted.beyond.low <= 0 and not is_repair


def points(value: float) -> str:
    """A change of a share in points, with its sign."""
    return signed(100 * value, 0)


def between(figure: Change) -> str:
    """The ends of an interval, in points."""
    return f"between {points(figure.low)} and {points(figure.high)}"
