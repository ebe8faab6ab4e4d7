"""What a remedy did to each cue, beside its placebos, and the verdict."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from cuescope_mitigation.options import MitigationOptions
from cuescope_mitigation.scores import Change, change, gap_change, worst_change
from cuescope_mitigation.trials import Comparison, Cue
from cuescope_sdk import Audit
from cuescope_sdk.statistics import bootstrap_weights

Verdict = Literal[
    "helps", "no gain shown", "harms", "only moves answers", "not the cue", "not tried", "too few"
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

    rows: tuple[Row, ...]
    overall: Change
    weights: Float[np.ndarray, "draw sample"]
    confidence: float


def measure(audit: Audit, options: MitigationOptions, comparison: Comparison) -> Results:
    """Every cue, at a confidence that holds for all of them together (Bonferroni)."""
    weights = bootstrap_weights(comparison.groups, audit.rng("bootstrap"))
    confidence = 1 - (1 - options.confidence) / len(comparison.parts.cues)
    rows = tuple(
        measure_cue(comparison, options, number, weights, confidence)
        for number in range(len(comparison.parts.cues))
    )
    everything = np.ones(len(comparison.before), dtype=bool)
    overall = change(comparison.before, comparison.after, everything, weights, options.confidence)
    return Results(rows, overall, weights, confidence)


def measure_cue(
    comparison: Comparison,
    options: MitigationOptions,
    number: int,
    weights: Float[np.ndarray, "draw sample"],
    confidence: float,
) -> Row:
    """What the remedy does to one cue; only what changed is held against the placebos."""
    cue = comparison.parts.cues[number]
    shown = comparison.shows[:, number]
    labelled = of_label(comparison, cue)
    present, without = labelled & shown, labelled & ~shown
    if min(present.sum(), without.sum()) < options.least:
        return Row(cue, "too few", int(present.sum()))
    before, after = comparison.before, comparison.after
    cells = 2 * comparison.targets + shown
    gain = change(before, after, present, weights, confidence)
    placebos: dict[str, Change] = {}
    if comparison.random is not None:
        placebos["random"] = change(before, comparison.random, present, weights, confidence)
        placebos["beyond_random"] = change(comparison.random, after, present, weights, confidence)
    if comparison.mitigator.changes_answers:
        placebos["shifted"] = change(before, comparison.shifted, present, weights, confidence)
        placebos["beyond_shift"] = change(comparison.shifted, after, present, weights, confidence)
    return Row(
        cue,
        verdict_of(gain, placebos.get("beyond_random"), placebos.get("beyond_shift")),
        int(present.sum()),
        present=gain,
        absent=change(before, after, without, weights, confidence),
        gap=gap_change(before, after, without, present, weights, confidence),
        worst=worst_change(before, after, cells, options.least, weights, confidence),
        **placebos,
    )


def of_label(comparison: Comparison, cue: Cue) -> Bool[np.ndarray, " sample"]:
    """The measured samples of the label that a cue hurts, all of them where it hurts any."""
    if cue.label is None:
        return np.full(len(comparison.targets), True)
    return np.asarray(comparison.targets == comparison.parts.labels.index(cue.label))


def verdict_of(gain: Change, random: Change | None, shifted: Change | None) -> Verdict:
    """The rule: a gain beyond chance, and beyond what either placebo gains."""
    if gain.high < 0:
        return "harms"
    if gain.low <= 0:
        return "no gain shown"
    if shifted is not None and shifted.low <= 0:
        return "only moves answers"
    if random is None:  # --placebos 0: nobody knows why it gains
        return "not tried"
    return "helps" if random.low > 0 else "not the cue"


def other_gaps(
    comparison: Comparison, options: MitigationOptions, results: Results
) -> list[tuple[str, str, Change]]:
    """The gap of each other feature of the run on each label, where both sides have samples."""
    parts = comparison.parts
    cues = {(cue.feature.key, cue.label) for cue in parts.cues}
    features = [each for each in parts.report.features if each.occurrences]
    gaps = []
    for cluster, feature in enumerate(features):
        shown = comparison.clusters[:, cluster]
        for number, label in enumerate(parts.labels):
            present = (comparison.targets == number) & shown
            without = (comparison.targets == number) & ~shown
            if min(present.sum(), without.sum()) < options.least:
                continue
            if (feature.key, label) in cues or (feature.key, None) in cues:
                continue
            gap = gap_change(
                comparison.before,
                comparison.after,
                without,
                present,
                results.weights,
                options.confidence,
            )
            gaps.append((parts.report.names[feature.key], label, gap))
    return sorted(gaps, key=lambda each: each[2].before - each[2].after)


def points(value: float) -> str:
    """A change of a share in points, with its sign."""
    return f"{100 * value:+.0f}"
