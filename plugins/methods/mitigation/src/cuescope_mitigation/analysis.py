"""What a remedy did to each cue, beside its placebos, and the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cuescope_mitigation.scores import (
    BoolPerSample,
    Change,
    PerSample,
    change,
    gap_change,
    worst_change,
)
from cuescope_mitigation.trials import Comparison, Cue
from cuescope_sdk.statistics import Bootstrap

Verdict = Literal[
    "helps",
    "no gain shown",
    "harms",
    "only moves answers",
    "not the cue",
    "not tried",
    "too few",
]


@dataclass(frozen=True, eq=False)
class Row:
    """One cue: what was measured of it, and the verdict; None where too few samples show it.

    `random` and `shifted` are what the placebos gain, the others what the remedy gains beyond them.
    """

    cue: Cue
    verdict: Verdict
    n: int
    present: Change | None = None
    absent: Change | None = None
    gap: Change | None = None
    worst: Change | None = None
    random: Change | None = None
    shifted: Change | None = None
    beyond_random: Change | None = None
    beyond_shift: Change | None = None


@dataclass(frozen=True, eq=False)
class Results:
    """All that was measured."""

    comparison: Comparison
    rows: Sequence[Row]
    overall: Change
    bootstrap: Bootstrap


def measure(comparison: Comparison) -> Results:
    """Every cue, at a confidence that holds for all of them together (Bonferroni)."""
    parts = comparison.parts
    cues = len(parts.cues)
    confidence = 1 - (1 - parts.options.confidence) / cues
    # the same draws for every figure, so that all are of the same samples
    draws = Bootstrap.of(comparison.groups, parts.audit.rng("bootstrap"), confidence)
    rows = [measure_cue(comparison, draws, number) for number in range(cues)]
    before = comparison.before
    everything = np.ones(len(before), dtype=bool)
    # one figure of all samples, so nothing is corrected
    alone = replace(draws, confidence=parts.options.confidence)
    overall = change(before, comparison.after, everything, alone)
    return Results(comparison, rows, overall, draws)


def measure_cue(comparison: Comparison, bootstrap: Bootstrap, number: int) -> Row:
    """What the remedy does to one cue; only what changed is held against the placebos."""
    options = comparison.parts.options
    cue = comparison.parts.cues[number]
    shown = comparison.shows[:, number]
    labelled = of_label(comparison, cue)
    present = labelled & shown
    without = labelled & ~shown
    count = int(present.sum())
    # a gap needs both sides
    if min(count, without.sum()) < options.least:
        return Row(cue, "too few", count)
    before = comparison.before
    after = comparison.after

    def gain(before: PerSample | None, after: PerSample | None) -> Change | None:
        if before is None or after is None:
            return None
        return change(before, after, present, bootstrap)

    random = comparison.random
    # weights for a training move no answers that a shift could explain
    shifted = comparison.shifted if comparison.mitigator.changes_answers else None
    gained = change(before, after, present, bootstrap)
    # intervals of the differences: two that overlap may still differ
    beyond_random = gain(random, after)
    beyond_shift = gain(shifted, after)
    # two cells a label: without the cue and with it
    cells = 2 * comparison.targets + shown
    return Row(
        cue,
        verdict_of(gained, beyond_random, beyond_shift),
        count,
        present=gained,
        absent=change(before, after, without, bootstrap),
        gap=gap_change(before, after, without, present, bootstrap),
        worst=worst_change(before, after, cells, options.least, bootstrap),
        random=gain(before, random),
        shifted=gain(before, shifted),
        beyond_random=beyond_random,
        beyond_shift=beyond_shift,
    )


def of_label(comparison: Comparison, cue: Cue) -> BoolPerSample:
    """The measured samples of the label that a cue hurts, all of them where it hurts any."""
    if cue.label is None:
        return np.full(len(comparison.targets), True)
    number = comparison.parts.labels.index(cue.label)
    return np.asarray(comparison.targets == number)


def verdict_of(gain: Change, random: Change | None, shifted: Change | None) -> Verdict:
    """The rule: a gain beyond chance, and beyond what either placebo gains."""
    if gain.high < 0:
        return "harms"
    if gain.low <= 0:
        return "no gain shown"
    # a shift needs no cue at all: it is asked about first
    if shifted is not None and shifted.low <= 0:
        return "only moves answers"
    if random is None:  # --placebos 0: nobody knows why it gains
        return "not tried"
    return "helps" if random.low > 0 else "not the cue"


def other_gaps(results: Results) -> list[tuple[str, str, Change]]:
    """The gap of each other feature of the run on each label, where both sides have samples."""
    comparison = results.comparison
    parts = comparison.parts
    # of many pairs, none of which is a finding: nothing is corrected
    alone = replace(results.bootstrap, confidence=parts.options.confidence)
    cues = {(cue.feature.key, cue.label) for cue in parts.cues}
    gaps = []
    for cluster, feature in enumerate(parts.features):
        shown = comparison.clusters[:, cluster]
        name = parts.report.names[feature.key]
        for number, label in enumerate(parts.labels):
            labelled = comparison.targets == number
            present = labelled & shown
            without = labelled & ~shown
            if min(present.sum(), without.sum()) < parts.options.least:
                continue
            # the cues themselves stand in the first table
            if (feature.key, label) in cues or (feature.key, None) in cues:
                continue
            gap = gap_change(
                comparison.before, comparison.after, without, present, alone
            )
            gaps.append((name, label, gap))
    return sorted(gaps, key=lambda gap: gap[2].before - gap[2].after)


def points(value: float) -> str:
    """A change of a share in points, with its sign."""
    return f"{100 * value:+.0f}"


def between(figure: Change) -> str:
    """The ends of an interval, in points."""
    return f"between {points(figure.low)} and {points(figure.high)}"
