"""Checks of the remedy: beyond each placebo, at no cost elsewhere, no other cue in its place."""

from collections.abc import Iterator

from cuescope_mitigation.measuring import Results, Row, measure, other_gaps, points
from cuescope_mitigation.options import MitigationOptions
from cuescope_mitigation.scores import Change
from cuescope_mitigation.trials import Comparison
from cuescope_sdk import Audit, Evidence, Verdict

COST = 0.02  # overall accuracy that a remedy may cost
LEFT = 0.05  # gap that counts as gone
GREW = 0.1  # growth of another gap that is worth a look


def evidence(
    audit: Audit, options: MitigationOptions, comparison: Comparison
) -> Iterator[Evidence]:
    """A check of each placebo for each cue, then two of the whole model."""
    results = audit.once(measure, audit, options, comparison)
    if comparison.mitigator.changes_answers:
        for row in results.rows:
            if row.present is not None and row.verdict != "harms":
                yield from placebo_checks(row)
        yield overall_check(results)
        yield moved_check(options, comparison, results)


def placebo_checks(row: Row) -> Iterator[Evidence]:
    """Whether the gain is larger than what each placebo gains."""
    assert row.present is not None
    pairs = (
        ("random cues", row.random, row.beyond_random),
        ("shift of answers", row.shifted, row.beyond_shift),
    )
    for name, placebo, beyond in pairs:
        if placebo is None or beyond is None:
            continue
        verdict: Verdict = "supported" if beyond.low > 0 else "refuted"
        yield Evidence(
            check=f"placebo: {name}",
            verdict="inconclusive" if row.present.low <= 0 else verdict,
            detail=f"the remedy gains {points(row.present.gain)} points, the placebo "
            f"{points(placebo.gain)} (between {points(placebo.low)} and {points(placebo.high)}); "
            f"the difference lies between {points(beyond.low)} and {points(beyond.high)}",
            value=beyond.gain,
            threshold=0.0,
            n=row.n,
            feature=row.cue.feature.key,
            label=row.cue.label,
        )


def overall_check(results: Results) -> Evidence:
    """What the remedy costs over all samples."""
    overall: Change = results.overall
    verdict = "supported" if overall.low > -COST else "refuted" if overall.high < -COST else None
    return Evidence(
        check="cost over all samples",
        verdict=verdict or "inconclusive",
        detail=f"{overall.before:.1%} right before, {overall.after:.1%} after "
        f"({points(overall.gain)} points, between {points(overall.low)} and "
        f"{points(overall.high)}); up to {COST:.0%} may be lost",
        value=overall.gain,
        threshold=-COST,
        n=overall.n,
    )


def moved_check(options: MitigationOptions, comparison: Comparison, results: Results) -> Evidence:
    """Whether another feature now costs what the cue cost before."""
    gaps = other_gaps(comparison, options, results)
    grew = [
        (name, label, gap)
        for name, label, gap in gaps
        if gap.after - gap.before > GREW and gap.low > 0 and gap.low > gap.before
    ]
    words = "no gap grew beyond chance"
    if grew:
        name, label, gap = grew[0]
        words = (
            f"{len(grew)} have a gap that grew, most of all {name} on '{label}': from "
            f"{points(gap.before)} to {points(gap.after)} points"
        )
    return Evidence(
        check="other cues in its place",
        verdict="refuted" if grew else "supported" if gaps else "inconclusive",
        detail=f"of {len(gaps)} other pairs of feature and label {words}",
        value=float(len(grew)),
        threshold=0.0,
        n=len(gaps),
    )
