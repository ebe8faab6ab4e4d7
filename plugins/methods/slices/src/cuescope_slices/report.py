"""The rows of the report, its sentences and its notes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cuescope_sdk import Audit, Feature, Finding, Impact, Score
from cuescope_sdk.report import percent, shares_row
from cuescope_sdk.statistics import Estimate
from cuescope_slices.analysis import (
    SHARE,
    Pair,
    compare,
    inside,
    is_finding,
    smallest_findable,
)
from cuescope_slices.trials import Ranked, rank

NEEDS = {
    "george": "three sequences that can be grouped",
    "distilling-failures": "both right and wrong answers",
}


def scores(
    audit: Audit,
    name: str,
    options: Any,
    features: Sequence[Feature],
) -> Iterator[Score]:
    """Two figures a pair, the ranking's own first; findings first."""
    ranked = audit.once(rank, audit, name, options)
    note(audit, name, options, ranked)
    # slices made of the same errors have more of them by construction: no test then
    tested = not ranked.points.fitted.all() or name not in (
        "domino",
        "distilling-failures",
    )
    pairs = compare(
        ranked,
        ranked.slices,
        options,
        audit.rng("permutation"),
        tested=tested,
    )
    pairs.sort(key=lambda pair: (not is_finding(pair, options), -pair.value))
    # a limit is told only where nothing was found: sorted, the first is a finding or none is
    if pairs and tested and not is_finding(pairs[0], options):
        limit = smallest_findable(ranked, options, len(pairs))
        least = f"; a slice counts from {100 * options.min_loss:g} points"
        audit.note("power", words_for_missed(limit) + least)
    for found in _findings(audit, features, pairs, ranked, options):
        audit.attach(found)
    for pair in pairs:
        finding = is_finding(pair, options)
        label = audit.labels[pair.label]
        about: dict[str, Any] = {
            "feature": features[pair.number].key,
            "label": label,
            "n": pair.n,
            "p_value": pair.p_value,
            "q_value": pair.q_value,
        }
        yield Score(
            **about,
            metric="slice_value",
            value=pair.value,
            finding=finding,
            statement=statement(pair, label, options),
        )
        yield Score(
            **about,
            metric="accuracy_lost",
            value=pair.lost,
            low=pair.low,
            high=pair.high,
        )


def _findings(
    audit: Audit,
    features: Sequence[Feature],
    pairs: Sequence[Pair],
    ranked: Ranked,
    options: Any,
) -> Iterator[Finding]:
    """The slices with a finding, each with the labels that it costs accuracy."""
    label_of = ranked.points.label[ranked.first]
    is_wrong = ~ranked.points.correct[ranked.first]
    by_slice: dict[int, list[Pair]] = {}
    for pair in pairs:
        if is_finding(pair, options):
            by_slice.setdefault(pair.number, []).append(pair)
    for number, some in by_slice.items():
        rows = []
        for pair in some:
            label = audit.labels[pair.label]
            change = None
            if pair.lost is not None and pair.low is not None and pair.high is not None:
                change = Estimate(-pair.lost, -pair.high, -pair.low)
            rows.append(
                shares_row(
                    label, pair.inside, pair.outside, change, label=label, n=pair.n
                )
            )
        # a feature's places are all that is ranked, not the slice alone
        explained = is_wrong & inside(ranked, ranked.slices[number])
        explained &= np.isin(label_of, [pair.label for pair in some])
        yield Finding(
            feature=features[number].key,
            claim="{feature} costs accuracy",
            columns=("inside", "outside"),
            rows=tuple(rows),
            impact=Impact(
                count=int(explained.sum()), total=int(is_wrong.sum()), detail="inside"
            ),
        )


def statement(pair: Pair, label: str, options: Any) -> str | None:
    """The finding as a sentence; None for a pair that is none."""
    if not is_finding(pair, options):
        return None
    ends = ""
    if pair.low is not None and pair.high is not None:
        ends = f"; {percent(pair.low, unit='')} to {percent(pair.high, unit='')} points"
    return (
        f"In {{feature}}, '{label}' is right {100 * (pair.lost or 0):.0f} points less often "
        f"({pair.inside:.0%} instead of {pair.outside:.0%}{ends}). "
        "This correlates with the slice; it does not say what causes it."
    )


def note(audit: Audit, name: str, options: Any, ranked: Ranked) -> None:
    """What is ranked, in which part it was looked for, and which labels were left out."""
    points = ranked.points
    first = ranked.first
    if points.correct.all():
        audit.note(
            "errors",
            "none: the model is always right here, so nothing is to be explained",
        )
        return
    unit = "frames held still"
    if ranked.frame.max() < 0:
        unit = "sequences; their frames follow in temporal order"
    audit.note("ranked", unit)
    if getattr(options, "discover", None) is not None:
        fitted = int(points.fitted[first].sum())
        words = f"looked for in {fitted} sequences, measured in the other {len(first) - fitted}"
        if fitted == len(first):
            words = (
                "looked for and measured in the same sequences, so nothing is tested"
            )
        audit.note("two parts", words)
    # a small `discover` of few groups may leave too little to make slices of
    if points.fitted.sum() < 2:
        audit.note(
            "slices",
            "none: expected two samples or more in the part where they are made",
        )
        return
    if name in NEEDS:
        _note_labels_left_out(audit, name, ranked)


def _note_labels_left_out(audit: Audit, name: str, ranked: Ranked) -> None:
    made = {label for part in ranked.slices for label in part.value}
    missing = [label for number, label in enumerate(audit.labels) if number not in made]
    if missing:
        names = ", ".join(f"'{label}'" for label in missing)
        expected = f"expected {NEEDS[name]} in the part where slices are looked for"
        audit.note("labels left out", f"{names}: {expected}")


def words_for_missed(limit: float | None) -> str:
    """The smallest loss that would have been found, in a slice of a quarter of a label."""
    if limit is None:
        return f"none for a slice of {SHARE:.0%} of a label: too few sequences"
    return (
        f"80% for a slice of {SHARE:.0%} of a label that costs {100 * limit:.0f} points"
    )
